/** Checks code that the Workers runtime refuses: I/O and ambient services outside a request, and code made from text. */
import { type Application, listings } from '../application.ts'
import { ambientServices, type EarlyCall, type Span } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'

/** Global functions that the Workers runtime refuses outside a request. */
const globalIo: ReadonlySet<string> = new Set([
  'fetch',
  'setTimeout',
  'setInterval',
  'caches.open',
  'crypto.randomUUID',
  'crypto.getRandomValues',
])
/** Global classes whose instances open a connection. */
const globalNew: ReadonlySet<string> = new Set(['WebSocket', 'EventSource'])

/** Exports of packages that open a connection when they are constructed or called. `*` stands for every export. */
const packageIo: Readonly<Record<string, readonly string[]>> = {
  '@neondatabase/serverless': ['Pool', 'Client'],
  'cloudflare:sockets': ['connect'],
  'node:net': ['connect', 'createConnection', 'Socket'],
  'node:tls': ['connect'],
  amqplib: ['*'],
  ioredis: ['*'],
  kafkajs: ['Kafka'],
  mongodb: ['MongoClient'],
  mongoose: ['connect', 'createConnection'],
  mysql2: ['*'],
  'mysql2/promise': ['*'],
  nats: ['connect'],
  pg: ['Pool', 'Client'],
  postgres: ['*'],
  redis: ['createClient', 'createPool'],
  ws: ['*'],
}

export function checkBundle(application: Application): Refusal<Span>[] {
  const { earlyCalls, evals } = application.declarations
  return [
    ...earlyCalls.filter((call) => isEarly(application, call)).flatMap(checkEarlyCall),
    ...evals.map(({ text, place }) =>
      refusal('eval-in-source', place, { call: text === 'eval' ? 'eval' : `new ${text}` }),
    ),
  ]
}

/** Whether the call runs before a request. An instance that a handler constructs itself is constructed in a request. */
function isEarly(application: Application, { className, from, place }: EarlyCall): boolean {
  // outside of a request an ambient service throws in every program, and I/O only in the worker
  if (className === undefined) return 'sdk' in from || application.declarations.bundled.has(place.file)
  const declaration = application.byId.get(`${place.file}#${className}`)
  const isBuilt = (['controllers', 'providers'] as const).some((list) =>
    listings(application, list).some((listing) => listing.declaration === declaration),
  )
  return isBuilt || (declaration?.decorators.length ?? 0) > 0
}

function checkEarlyCall({ name, from, isNew, className, place }: EarlyCall): Refusal<Span>[] {
  const where =
    className === undefined ? 'while the module is loaded' : `while an instance of ${className} is constructed`
  const call = isNew ? `new ${name}()` : `${name}()`
  if ('sdk' in from) {
    return ambientServices.has(from.sdk) ? [refusal('ambient-outside-request', place, { call: name, where })] : []
  }
  return opensIo(from, isNew) ? [refusal('io-outside-request', place, { call, where })] : []
}

function opensIo(from: Exclude<EarlyCall['from'], { sdk: string }>, isNew: boolean): boolean {
  if ('global' in from) return isNew ? globalNew.has(from.global) : globalIo.has(from.global)
  const names = Object.hasOwn(packageIo, from.package) ? packageIo[from.package]! : []
  return names.includes('*') || names.includes(from.name)
}
