/** Routes and events as they are declared: what the refusals judge, and what the table is made of. Pure. */
import type { Method } from '../runtime/table.ts'
import {
  type ClassDeclaration,
  type Decorator,
  decoratorOf,
  type Member,
  methods,
  type StaticValue,
  text,
} from './declaration.ts'

/** A route as it is declared: its decorator, and the path of controller and route together. */
export interface DeclaredRoute {
  controller: ClassDeclaration
  member: Member
  decorator: Decorator
  method: Method
  /** `undefined` where a part of it is not known, or malformed. */
  path: string | undefined
  /** The controller's part of it. */
  prefix: string
}

const known = new WeakMap<ClassDeclaration, DeclaredRoute[]>()

/** One for each route decorator: a method may carry several. Computed once: a declaration never changes. */
export function routesOf(controller: ClassDeclaration): DeclaredRoute[] {
  const before = known.get(controller)
  if (before) return before
  const routes = declaredRoutes(controller)
  known.set(controller, routes)
  return routes
}

function declaredRoutes(controller: ClassDeclaration): DeclaredRoute[] {
  const base = pathOf(decoratorOf(controller, 'Controller'))
  return controller.members.flatMap((member) =>
    member.decorators.flatMap((decorator) => {
      const method = Object.hasOwn(methods, decorator.name) && decorator.isCalled ? methods[decorator.name] : undefined
      if (!method) return []
      const own = pathOf(decorator)
      const isKnown = base !== undefined && own !== undefined && !malformation(base) && !malformation(own)
      const path = isKnown ? joinPath(base, own) : undefined
      return [{ controller, member, decorator, method, path, prefix: isKnown ? joinPath(base, '') : '/' }]
    }),
  )
}

/** The path argument of a decorator; absent is empty. */
export function pathOf(decorator: Decorator | undefined): string | undefined {
  const fact = decorator?.arguments[0]
  return fact === undefined || (fact.kind === 'literal' && fact.value === undefined) ? '' : text(fact)
}

/** What a path may be made of; `undefined` for one that is. */
export function malformation(path: string): string | undefined {
  if (path === '' || path === '/') return undefined
  for (const segment of path.replace(/^\/|\/$/g, '').split('/')) {
    if (segment === '') return 'it holds an empty segment'
    if (segment.startsWith(':')) {
      if (!/^:[A-Za-z_][A-Za-z0-9_]*$/.test(segment)) return `"${segment}" is no parameter name`
    } else if (!/^[A-Za-z0-9._~!$&'()+,;=@-]+$/.test(segment) || segment === '.' || segment === '..') {
      return `"${segment}" is no literal segment`
    }
  }
  return undefined
}

/** `/` and what both parts name; slashes at the parts' ends do not count, inner ones stay for the refusals to see. */
export function joinPath(controller: string, route: string): string {
  const parts = [controller, route].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '')
  return `/${parts.join('/')}`
}

/** Names of the parameters of a path, in its order. */
export function parametersOf(path: string): string[] {
  return path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []))
}

/** Every `@On` of a class, with the event it names. */
export function boundEvents(
  declaration: ClassDeclaration,
): { member: Member; decorator: Decorator; event: StaticValue | undefined }[] {
  return declaration.members.flatMap((member) =>
    member.decorators
      .filter(({ name }) => name === 'On')
      .map((decorator) => ({ member, decorator, event: decorator.arguments[0] })),
  )
}
