/** Turns declared routes and webhooks into rows of the route table. */
import type { Parameter, RateLimit, Route, Webhook } from '../../runtime/table.ts'
import { presets, type Signature, schemeOfBlock, type WebhookProvider } from '../../src/wire/webhook-schemes.ts'
import { type ClassDeclaration, type Decorator, decoratorOf, option, text } from '../declaration.ts'
import { resolveGate } from '../gates.ts'
import { boundEvents, type DeclaredRoute, parametersOf } from '../routes.ts'
import { isWholeQuery } from '../schemas.ts'
import type { SchemaList } from './schemas.ts'
import { plain } from './values.ts'

export function linkRoute(
  root: ClassDeclaration | undefined,
  declared: DeclaredRoute,
  indexOf: (declaration: ClassDeclaration) => number,
  schemas: SchemaList,
  defaultMaxBodyBytes: number,
): Route {
  const { controller, member, method, path } = declared
  const { gate, readsGrants, status, parameters, maxBodyBytes = defaultMaxBodyBytes, limit } = ownPartOf(root, declared)
  return {
    method,
    path: path!,
    controller: indexOf(controller),
    handler: member.name,
    file: controller.file,
    line: member.line,
    gate,
    readsGrants,
    status,
    parameters: parameters.map((parameter, index) => {
      const schema = schemas.add(member.parameters[index]!.decorators[0]!, controller, member)
      return schema === undefined ? parameter : { ...parameter, schema }
    }),
    maxBodyBytes,
    ...(limit ? { limit } : {}),
  }
}

type OwnPart = Pick<Route, 'gate' | 'readsGrants' | 'status' | 'parameters' | 'limit'> & {
  maxBodyBytes?: number
  root: ClassDeclaration | undefined
}

const known = new WeakMap<DeclaredRoute, OwnPart>()

/** The part of a row that only the declaration and the root module decide. It is kept from build to build. */
function ownPartOf(root: ClassDeclaration | undefined, declared: DeclaredRoute): OwnPart {
  const before = known.get(declared)
  if (before && before.root === root) return before
  const { controller, member, decorator, path } = declared
  const { gate } = resolveGate(root, controller, decorator)
  const parameters = member.parameters.map(({ decorators: [first] }) => linkParameter(first!, path!))
  const status = option(decorator.arguments[1], 'status')
  const injectsUser = parameters.some(({ from }) => from === 'user' || from === 'optionalUser')
  const own: OwnPart = {
    root,
    gate,
    readsGrants:
      gate.serviceRole !== 'key' &&
      (gate.serviceRole !== undefined ||
        gate.role !== undefined ||
        gate.permission !== undefined ||
        gate.device !== undefined ||
        injectsUser),
    status: status?.kind === 'literal' && typeof status.value === 'number' ? status.value : 200,
    parameters,
    ...maxBodyBytesOf(declared),
    ...limitOf(declared),
  }
  known.set(declared, own)
  return own
}

/** The option of the route, else the option of its controller. */
function maxBodyBytesOf({ controller, decorator }: DeclaredRoute): { maxBodyBytes?: number } {
  const options = [decorator.arguments[1], decoratorOf(controller, 'Controller')?.arguments[1]]
  for (const declared of options.map((from) => option(from, 'maxBodyBytes'))) {
    if (declared?.kind === 'literal' && typeof declared.value === 'number') return { maxBodyBytes: declared.value }
  }
  return {}
}

/** The option of the route, else the option of its controller, whose routes share one count. */
function limitOf({ controller, decorator, method, path, prefix }: DeclaredRoute): { limit?: RateLimit } {
  const own = option(decorator.arguments[1], 'limit')
  const declared = own ?? option(decoratorOf(controller, 'Controller')?.arguments[1], 'limit')
  if (!declared) return {}
  const { requests, seconds, by } = plain(declared) as Pick<RateLimit, 'requests' | 'seconds' | 'by'>
  const key = own ? `${method} ${path}` : `* ${prefix}`
  return { limit: { binding: `STACK_LIMIT_${requests}_${seconds}`, requests, seconds, by, key } }
}

const sources = {
  Body: 'body',
  Req: 'request',
  User: 'user',
  OptionalUser: 'optionalUser',
  RequestId: 'requestId',
  TraceId: 'requestId', // both inject the same value (contract, "Injectors")
  Client: 'client',
} as const

function linkParameter({ name, arguments: [argument] }: Decorator, path: string): Parameter {
  const asked = text(argument)!
  if (name === 'Param') return { from: 'param', name: asked, position: parametersOf(path).indexOf(asked) }
  if (name === 'Query' && isWholeQuery(argument)) return { from: 'wholeQuery' }
  if (name === 'Query' || name === 'Header') return { from: name === 'Query' ? 'query' : 'header', name: asked }
  return { from: sources[name as keyof typeof sources] }
}

/** Days for which `record: true` keeps deliveries (contract 7.8). */
const recordDays = 30

export function linkWebhook(
  declaration: ClassDeclaration,
  indexOf: (declaration: ClassDeclaration) => number,
): Webhook {
  const options = decoratorOf(declaration, 'Webhook')!.arguments[0]
  const value = (key: string) => {
    const given = option(options, key)
    return given && plain(given)
  }
  const provider = text(option(options, 'provider')) as WebhookProvider | undefined
  const record = value('record')
  const [publicUrl, maxBodyBytes] = [
    value('publicUrl') as string | undefined,
    value('maxBodyBytes') as number | undefined,
  ]
  return {
    name: text(option(options, 'name'))!,
    receiver: indexOf(declaration),
    class: declaration.name,
    file: declaration.file,
    line: declaration.line,
    provider: provider ?? null,
    scheme: provider === undefined ? schemeOfBlock(value('signature') as Signature) : presets[provider],
    secret: value('secret') as Webhook['secret'],
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(value('dedupe') === true ? { dedupe: true as const } : {}),
    ...(record ? { record: record === true ? { days: recordDays } : (record as { days: number }) } : {}),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    events: boundEvents(declaration).map(({ event, member }) => ({ key: text(event)!, handler: member.name })),
  }
}
