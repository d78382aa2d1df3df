/** workerd's configuration of a stack: both workers behind the front. Its secrets are names of environment variables. */

import { limitsIn, moduleNames, needsPool, routesIn } from '../../local/bundle.ts'
import { compatibilityDate, compatibilityFlags } from '../../src/wire/compatibility.ts'
import type { StorageTarget } from '../storage/target.ts'
import type { FrontRoute, FrontSettings } from '../workers/control-protocol.ts'
import { list, struct, quoted as text } from './capnp.ts'
import type { WorkerSources } from './worker-sources.ts'

/** Names of the sockets, by which the parent gives workerd an open one. */
export const socketNames = { public: 'public', control: 'control' } as const

interface ServedWorker {
  /** The folder of the bundle. */
  out: string
  /** The folder by which the configuration names it. */
  shown: string
  /** Names of the bindings that hold text. */
  bindings: readonly string[]
}

export interface ConfigOptions {
  backend: ServedWorker
  auth: ServedWorker
  sources: WorkerSources
  front: Omit<FrontSettings, 'routes'>
  storage: StorageTarget
  /** The socket of the folder's objects. */
  storageSocket: string
  /** Address of the control socket, like `unix:/run/stack/control`. */
  control: string
  /** Address of the stack. Without it the parent gives an open socket. */
  address?: string
  /** Certificates in PEM form that are trusted beside those of the system. */
  certificates: readonly string[]
}

/** The environment variable of a binding: one name may have another value in each worker. */
export function variableOf(worker: 'backend' | 'auth', binding: string): string {
  return `${worker === 'auth' ? 'AUTH_WORKER' : 'BACKEND'}_${binding}`
}

/**
 * Networks that no worker reaches: link-local addresses, where clouds hand out the credentials of a machine. Other private addresses
 * stay open, because the database has one.
 */
const denied = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128']

export function workerdConfig(options: ConfigOptions): string {
  const { backend, auth, sources, front, storage, storageSocket, control, address, certificates } = options
  const routes: FrontRoute[] = [
    ...routesIn(backend.out).map((route) => ({ worker: 'backend' as const, ...route })),
    ...routesIn(auth.out).map((route) => ({ worker: 'auth' as const, ...route })),
  ]
  const settings = JSON.stringify({ ...front, routes } satisfies FrontSettings)
  const tls = struct({ trustBrowserCas: 'true', trustedCertificates: `[${certificates.map(text).join(', ')}]` })
  const allowed = struct({
    allow: '["public", "private"]',
    deny: `[${denied.map(text).join(', ')}]`,
    tlsOptions: tls,
  })
  const services = [
    service(
      'front',
      worker({
        modules: [module('front.js', sources.front)],
        bindings: [...frontBindings(settings), ...poolBinding('backend', backend), ...poolBinding('auth', auth)],
        flags: frontFlags,
      }),
    ),
    service('backend', stackWorker('backend', backend, storage)),
    service('auth', stackWorker('auth', auth)),
    ...storageServices(storage, storageSocket, sources),
    `(name = "internet", network = ${allowed})`,
  ]
  const sockets = [
    struct({
      name: text(socketNames.public),
      address: address === undefined ? undefined : text(address),
      http: '()',
      service: text('front'),
    }),
    struct({
      name: text(socketNames.control),
      address: text(control),
      http: '()',
      service: struct({ name: text('front'), entrypoint: text('Control') }),
    }),
  ]
  const extensions = [extension('stack:bucket', sources.bucket), extension('stack:rate-limit', sources.rateLimit)]
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = ${list(services)},
  sockets = ${list(sockets)},
  extensions = [(modules = ${list(extensions)})],
  logging = (structuredLogging = true),
);
`
}

function service(name: string, value: string): string {
  return struct({ name: text(name), worker: value })
}

function module(name: string, source: string): string {
  return struct({ name: text(name), esModule: text(source) })
}

function extension(name: string, source: string): string {
  return struct({ name: text(name), internal: 'true', esModule: text(source) })
}

function worker(fields: { modules: string[]; bindings: string[]; flags?: string; objects?: string }): string {
  return struct({
    compatibilityDate: text(compatibilityDate),
    compatibilityFlags: fields.flags ?? '["nodejs_compat"]',
    modules: list(fields.modules),
    bindings: list(fields.bindings),
    durableObjectNamespaces: fields.objects,
    durableObjectStorage: fields.objects === undefined ? undefined : '(inMemory = void)',
  })
}

/** The second one lets the front call the `scheduled` handler of a worker. workerd counts it as experimental. */
const frontFlags = '["nodejs_compat", "service_binding_extra_handlers"]'

function frontBindings(settings: string): string[] {
  return [
    '(name = "AUTH", service = "auth")',
    '(name = "BACKEND", service = "backend")',
    struct({ name: text('SETTINGS'), json: text(settings) }),
  ]
}

/** The front reads the counts of a worker's pool objects. */
function poolBinding(name: 'backend' | 'auth', { out }: ServedWorker): string[] {
  if (!needsPool(out)) return []
  const objects = struct({ className: text('StackPool'), serviceName: text(name) })
  return [struct({ name: text(`${name.toUpperCase()}_POOL`), durableObjectNamespace: objects })]
}

function stackWorker(
  name: 'backend' | 'auth',
  { out, shown, bindings }: ServedWorker,
  storage?: StorageTarget,
): string {
  const names = moduleNames(out)
  const modules = names.map((file) =>
    struct({ name: text(file), [file.endsWith('.wasm') ? 'wasm' : 'esModule']: `embed ${text(`${shown}/${file}`)}` }),
  )
  const texts = bindings.map((binding) =>
    struct({ name: text(binding), fromEnvironment: text(variableOf(name, binding)) }),
  )
  const hasPool = needsPool(out)
  return worker({
    flags: `[${compatibilityFlags.map(text).join(', ')}]`,
    modules,
    bindings: [
      ...texts,
      struct({ name: text('STACK_WORKER'), text: text(name) }),
      '(name = "AUTH", service = "auth")',
      ...(hasPool ? ['(name = "STACK_POOL", durableObjectNamespace = "StackPool")'] : []),
      ...(storage
        ? [wrapped('STORAGE', 'stack:bucket', ['(name = "store", service = "storage")']), ...limits(out)]
        : []),
    ],
    ...(hasPool ? { objects: `[(className = "StackPool", uniqueKey = ${text(`${name}-pool`)})]` } : {}),
  })
}

function limits(out: string): string[] {
  const distinct = new Map(limitsIn(out).map((limit) => [limit.binding, limit]))
  return [...distinct.values()].map(({ binding, requests, seconds }) =>
    wrapped(binding, 'stack:rate-limit', [
      struct({ name: text('limit'), json: text(String(requests)) }),
      struct({ name: text('period'), json: text(String(seconds)) }),
    ]),
  )
}

function wrapped(name: string, moduleName: string, innerBindings: readonly string[]): string {
  const value = struct({ moduleName: text(moduleName), innerBindings: `[${innerBindings.join(', ')}]` })
  return struct({ name: text(name), wrapped: value })
}

function storageServices(storage: StorageTarget, socket: string, sources: WorkerSources): string[] {
  if (storage.kind === 'folder')
    return [`(name = "storage", external = (address = ${text(`unix:${socket}`)}, http = ()))`]
  const { bucketUrl, prefix, region } = storage
  return [
    service(
      'storage',
      worker({
        modules: [module('s3.js', sources.s3)],
        bindings: [
          struct({ name: text('SETTINGS'), json: text(JSON.stringify({ bucketUrl, prefix, region })) }),
          ...['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN'].map((name) =>
            struct({ name: text(name), fromEnvironment: text(`AWS_${name}`) }),
          ),
        ],
      }),
    ),
  ]
}
