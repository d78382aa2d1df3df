/** Writes the source of the bundle's entry: the table as data, and the matcher, the wiring and the schemas as code. */
import path from 'node:path'
import type { Webhook } from '../../runtime/table.ts'
import type { Proof } from '../../src/wire/webhook-schemes.ts'
import type { Linked } from '../link/index.ts'
import { matcherSource } from './matcher.ts'
import { schemaName } from './schemas.ts'
import { wiringSource } from './wiring.ts'

/** Absolute paths of the runtime's modules that an entry imports. */
export interface RuntimeModules {
  worker: string
  /** Imported only where a database is used, because it brings the driver. */
  transaction: string
  /** The Durable Object that keeps connections. The entry exports it, because the platform finds it by its name. */
  pool: string
  /** Imported only where a service of the SDK may ask which request is being served. */
  scope: string
  /** Imported only where other workers call this one by RPC. */
  entrypoint: string
  /** Imported by every worker except the auth worker, which has the vault itself. */
  mirror: string
  /** Imported only where pages of other origins may read responses. */
  cors: string
  /** Imported only where text of a URL or a header is converted. */
  coerce: string
  /** Imported only where methods are scheduled. */
  cron: string
  /** Imported only where routes administer the stack. */
  management: string
  /** Imported only where a rule or a handler asks for the device of a request. */
  devices: string
  /** Imported only where a route has a limit. */
  limits: string
  /** The folder of modules that are imported only where there are webhooks. */
  webhooks: string
}

/** @param root absolute path of the project. */
export function entrySource(linked: Linked, hasDatabase: boolean, runtime: RuntimeModules, root: string): string {
  const { table, classes, schemas, routes } = linked
  const from = (file: string) => JSON.stringify(path.join(root, file))
  const imports = classes.map(
    ({ file, exportName, name }, index) =>
      `import { ${JSON.stringify(exportName ?? name)} as class${index} } from ${from(file)}`,
  )
  const bound = schemas.map(
    ({ what, whole, injector }, index) =>
      `[schema${index}(), ${JSON.stringify(what)}, ${JSON.stringify(whole)}${isNamed(injector) ? ', true' : ''}]`,
  )
  const database = hasDatabase ? ', openDatabase: createRequestDatabase' : ''
  const webhooks = webhookParts(table.webhooks, runtime.webhooks)
  const cors = table.cors ? `, cors: createCors(${JSON.stringify(table.cors)})` : ''
  const hasScope = hasDatabase || linked.usesServices
  const isLimited = table.routes.some((route) => route.limit)
  const isAdministered = table.routes.some(({ gate }) => gate.serviceRole !== undefined)
  const hasDevices = table.routes.some((route) => (table.rpc ? route.gate.device !== undefined : takesDevice(route)))
  const isCoerced = table.routes.some(({ parameters }) => parameters.some((one) => 'coerce' in one))
  return [
    `import { createWorker } from ${JSON.stringify(runtime.worker)}`,
    ...(hasDatabase
      ? [
          `import { createRequestDatabase } from ${JSON.stringify(runtime.transaction)}`,
          `export { StackPool } from ${JSON.stringify(runtime.pool)}`,
        ]
      : []),
    ...webhooks.imports,
    ...(hasScope ? [`import { scope } from ${JSON.stringify(runtime.scope)}`] : []),
    ...(table.rpc
      ? [`import { createEntrypoint } from ${JSON.stringify(runtime.entrypoint)}`]
      : [`import { createMirror } from ${JSON.stringify(runtime.mirror)}`]),
    ...(table.cors ? [`import { createCors } from ${JSON.stringify(runtime.cors)}`] : []),
    ...(isCoerced ? [`import { texts } from ${JSON.stringify(runtime.coerce)}`] : []),
    ...(table.crons ? [`import { createScheduled } from ${JSON.stringify(runtime.cron)}`] : []),
    ...(isLimited ? [`import { limitRate } from ${JSON.stringify(runtime.limits)}`] : []),
    ...(hasDevices ? [`import * as devices from ${JSON.stringify(runtime.devices)}`] : []),
    ...(isAdministered ? [`import * as management from ${JSON.stringify(runtime.management)}`] : []),
    ...imports,
    ...schemas.map(({ place }, index) => `import { ${schemaName(index)} as schema${index} } from ${from(place.file)}`),
    matcherSource(routes),
    wiringSource(table.container),
    tableSource(table),
    `const worker = createWorker(table, { match, builders, schemas: [${bound.join(', ')}]${database}${hasScope ? ', scope' : ''}${cors}${table.crons ? ', createScheduled' : ''}${isLimited ? ', limitRate' : ''}${isCoerced ? ', texts' : ''}${isAdministered ? ', management' : ''}${hasDevices ? ', devices' : ''}${table.rpc ? '' : ', mirror: createMirror()'}${webhooks.given} })`,
    `export default ${table.rpc ? `createEntrypoint(worker, ${JSON.stringify(table.rpc)})` : 'worker'}`,
  ].join('\n')
}

/** Whether the rule of a route or its handler asks for the device of a request. */
function takesDevice({ gate, parameters }: Linked['table']['routes'][number]): boolean {
  return gate.device !== undefined || parameters.some(({ from }) => from === 'user' || from === 'optionalUser')
}

/** The schema's value belongs to a named parameter. The other injectors take whole objects, whose members have names. */
const isNamed = (injector: string) => injector !== 'Body' && injector !== 'Query object'

/** The function that reads each kind of proof, and its file. */
const readers = {
  hmac: ['readHmac', 'hmac.ts'],
  url: ['readUrl', 'url.ts'],
  token: ['readToken', 'token.ts'],
  ed25519: ['readPublicKey', 'public-key.ts'],
  ecdsa: ['readPublicKey', 'public-key.ts'],
  secret: ['readSecret', 'secret.ts'],
} as const satisfies Record<Proof['by'], [string, string]>

/** The modules that the project's webhooks need. A project without webhooks gets none of them. */
function webhookParts(webhooks: readonly Webhook[], folder: string): { imports: string[]; given: string } {
  if (webhooks.length === 0) return { imports: [], given: '' }
  const proofs = webhooks.map(({ scheme }) => scheme.proof)
  const kinds = [...new Set(proofs.flatMap((one) => (one.by === 'secret' ? [one.by, one.signed.by] : [one.by])))].sort()
  const keeps = webhooks.some(({ dedupe, record }) => dedupe || record)
  const from = (name: string, file: string) => `import { ${name} } from ${JSON.stringify(path.join(folder, file))}`
  const parts = new Map(kinds.map((kind) => [readers[kind][0], readers[kind][1]]))
  const given = [
    'createReceiver',
    'nameSecrets',
    `readers: { ${kinds.map((kind) => `${kind}: ${readers[kind][0]}`).join(', ')} }`,
    ...(keeps ? ['store: createStore()'] : []),
  ]
  return {
    imports: [
      from('createReceiver', 'receive.ts'),
      from('nameSecrets', 'boot.ts'),
      ...[...parts].map(([name, file]) => from(name, `proofs/${file}`)),
      ...(keeps ? [from('createStore', 'store.ts')] : []),
    ],
    given: `, webhooks: { ${given.join(', ')} }`,
  }
}

/**
 * The part of the table that the runtime reads. table.json has all of it, for people. Routes share most of their gates and
 * parameters, so each distinct value is written once: an isolate then has less to parse when it starts.
 */
function tableSource({ databaseRoles, routes, webhooks, crons, keys }: Linked['table']): string {
  const shared = new Map<string, string>()
  const share = (value: unknown) => {
    const text = JSON.stringify(value)
    const name = shared.get(text) ?? `shared${shared.size}`
    shared.set(text, name)
    return name
  }
  const rows = routes.map(({ controller, handler, gate, parameters, maxBodyBytes, status, readsGrants, limit }) => {
    const given = [controller, JSON.stringify(handler), share(gate), share(parameters), maxBodyBytes]
    if (status !== 200 || readsGrants || limit) given.push(status)
    if (readsGrants || limit) given.push(String(readsGrants))
    if (limit) given.push(share(limit))
    return `route(${given.join(', ')})`
  })
  return [
    'const route = (controller, handler, gate, parameters, maxBodyBytes, status = 200, readsGrants = false, limit = undefined) =>',
    '  ({ controller, handler, gate, parameters, maxBodyBytes, status, readsGrants, limit })',
    ...[...shared].map(([text, name]) => `const ${name} = ${text}`),
    `const routes = [${rows.join(', ')}]`,
    `const table = { databaseRoles: ${JSON.stringify(databaseRoles)}, routes, webhooks: ${JSON.stringify(webhooks)}${crons ? `, crons: ${JSON.stringify(crons)}` : ''}${keys ? `, keys: ${JSON.stringify(keys)}` : ''} }`,
  ].join('\n')
}
