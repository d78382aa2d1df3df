/** Declared routes and webhooks as rows of the table. */
import type { Method, Parameter, Route, Signature, Webhook } from '../../runtime/table.ts'
import type { WebhookProvider } from '../../src/wire/webhook-providers.ts'
import {
  type ClassDeclaration,
  type Fact,
  type Mark,
  type Member,
  markOf,
  methods,
  option,
  text,
} from '../declaration.ts'
import { resolveGate } from './gates.ts'

/** A route as it is declared: its decorator, and the path of controller and route together. */
export interface DeclaredRoute {
  controller: ClassDeclaration
  member: Member
  mark: Mark
  method: Method
  /** `undefined` where a part of it is not known, or malformed. */
  path: string | undefined
}

/** One for each route decorator: a method may carry several. */
export function routesOf(controller: ClassDeclaration): DeclaredRoute[] {
  const base = pathOf(markOf(controller, 'Controller'))
  return controller.members.flatMap((member) =>
    member.marks.flatMap((mark) => {
      const method = Object.hasOwn(methods, mark.name) && mark.isCalled ? methods[mark.name] : undefined
      if (!method) return []
      const own = pathOf(mark)
      const isKnown = base !== undefined && own !== undefined && !malformation(base) && !malformation(own)
      const path = isKnown ? joinPath(base, own) : undefined
      return [{ controller, member, mark, method, path }]
    }),
  )
}

/** The path argument of a decorator; absent is empty. */
export function pathOf(mark: Mark | undefined): string | undefined {
  const fact = mark?.arguments[0]
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

export function linkRoute(
  root: ClassDeclaration | undefined,
  { controller, member, mark, method, path }: DeclaredRoute,
  indexOf: (declaration: ClassDeclaration) => number,
): Route {
  const { gate } = resolveGate(root, controller, mark)
  const parameters = member.parameters.map(({ marks }) => linkParameter(marks[0]!))
  const status = option(mark.arguments[1], 'status')
  const injectsUser = parameters.some(({ from }) => from === 'user' || from === 'optionalUser')
  return {
    method,
    path: path!,
    controller: indexOf(controller),
    handler: member.name,
    file: controller.file,
    line: member.place.line,
    gate,
    readsGrants: gate.role !== undefined || gate.permission !== undefined || injectsUser,
    status: status?.kind === 'literal' && typeof status.value === 'number' ? status.value : 200,
    parameters,
  }
}

const sources = {
  Body: 'body',
  Req: 'request',
  User: 'user',
  OptionalUser: 'optionalUser',
  RequestId: 'requestId',
  TraceId: 'requestId', // the same value (contract, "Injectors")
  Client: 'client',
} as const

function linkParameter({ name, arguments: [argument] }: Mark): Parameter {
  if (name === 'Param' || name === 'Query' || name === 'Header') {
    return { from: name === 'Param' ? 'param' : name === 'Query' ? 'query' : 'header', name: text(argument)! }
  }
  return { from: sources[name as keyof typeof sources] }
}

export function linkWebhook(
  declaration: ClassDeclaration,
  indexOf: (declaration: ClassDeclaration) => number,
): Webhook {
  const options = markOf(declaration, 'Webhook')!.arguments[0]
  const provider = text(option(options, 'provider'))
  return {
    name: text(option(options, 'name'))!,
    receiver: indexOf(declaration),
    class: declaration.name,
    file: declaration.file,
    line: declaration.place.line,
    scheme:
      provider === undefined
        ? { signature: plain(option(options, 'signature')!) as Signature }
        : { provider: provider as WebhookProvider },
    secret: { env: text(option(option(options, 'secret'), 'env'))! },
    events: boundEvents(declaration).map(({ event, member }) => ({ key: text(event)!, handler: member.name })),
  }
}

/** Every `@On` of a class, with the event it names. */
export function boundEvents(declaration: ClassDeclaration): { member: Member; mark: Mark; event: Fact | undefined }[] {
  return declaration.members.flatMap((member) =>
    member.marks.filter(({ name }) => name === 'On').map((mark) => ({ member, mark, event: mark.arguments[0] })),
  )
}

/** A fact that has been judged, as the value it stands for. */
function plain(fact: Fact): unknown {
  if (fact.kind === 'literal') return fact.value
  if (fact.kind === 'list') return fact.items.map(plain)
  if (fact.kind !== 'record') return undefined
  return Object.fromEntries(
    fact.entries.map(({ key, value }) => [key, plain(value)] as const).filter(([, value]) => value !== undefined),
  )
}
