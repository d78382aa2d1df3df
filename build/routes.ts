/** The routes, events and schedules that classes declare. The checks and the route table are made from them. Pure. */
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

/** A declared route, with the path of controller and route together. */
export interface DeclaredRoute {
  controller: ClassDeclaration
  member: Member
  decorator: Decorator
  method: Method
  /** `undefined` where a part of the path is unknown or malformed. */
  path: string | undefined
  /** The controller's part of the path. */
  prefix: string
}

const known = new WeakMap<ClassDeclaration, DeclaredRoute[]>()

/** The routes of a controller, one for each route decorator. They are cached, because a declaration never changes. */
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

/** The path argument of a decorator. Empty where there is no argument, and `undefined` where it is unknown. */
export function pathOf(decorator: Decorator | undefined): string | undefined {
  const value = decorator?.arguments[0]
  return value === undefined || (value.kind === 'literal' && value.value === undefined) ? '' : text(value)
}

/** Why a path is malformed. `undefined` for a valid path. */
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

/** Joins the two parts of a path. Slashes at their ends do not count. Inner double slashes stay, so that a check can refuse them. */
export function joinPath(controller: string, route: string): string {
  const parts = [controller, route].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '')
  return `/${parts.join('/')}`
}

/** Names of a path's parameters, in order. */
export function parametersOf(path: string): string[] {
  return path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []))
}

/** Every `@On` decorator of a class, with the event that it names. */
export function boundEvents(
  declaration: ClassDeclaration,
): { member: Member; decorator: Decorator; event: StaticValue | undefined }[] {
  return declaration.members.flatMap((member) =>
    member.decorators
      .filter(({ name }) => name === 'On')
      .map((decorator) => ({ member, decorator, event: decorator.arguments[0] })),
  )
}

/** Every `@Cron` decorator of a class, with its schedule. */
export function declaredCrons(
  declaration: ClassDeclaration,
): { member: Member; decorator: Decorator; schedule: StaticValue | undefined }[] {
  return declaration.members.flatMap((member) =>
    member.decorators
      .filter(({ name }) => name === 'Cron')
      .map((decorator) => ({ member, decorator, schedule: decorator.arguments[0] })),
  )
}
