/**
 * The route table: the project's declarations as plain data. The build writes it, also as `.stack/table.json` (contract 8.4),
 * and the runtime performs it. It is the only type that `build/` and `runtime/` share.
 */
import type { Scheme, WebhookProvider } from '../src/wire/webhook-schemes.ts'

export interface RouteTable {
  /** The database roles that requests of this worker are bound to (contract 5.1). */
  databaseRoles: { caller: string; service: string }
  /** Every class that is constructed. Dependencies stand before their dependents. */
  container: Component[]
  routes: Route[]
  webhooks: Webhook[]
  /** Scheduled methods (contract 2.12). Absent: the worker has no `scheduled` handler. */
  crons?: Cron[]
  /** Methods for other workers. Absent: other workers reach this one by HTTP requests only. */
  rpc?: RpcMethod[]
  /** Absent from the backend worker, which gets rotated keys with the mirror of the vault (contract 9.15). */
  keys?: KeyMethods
  /** Absent: no other origin's page may read an answer. */
  cors?: Cors
}

/** The declaration with its defaults. */
export interface Cors {
  /** `https://app.example`, or `*` alone. */
  origins: string[]
  credentials: boolean
  /** Names of headers that a page may send. */
  headers: string[]
  /** Names of headers that a page may read. */
  exposed: string[]
  /** Seconds that a browser may remember a preflight. */
  maxAge: number
}

export interface Component {
  class: string
  /** Path relative to the project's folder. */
  file: string
  line: number
  /** Indices into `container`, one for each constructor parameter. `null` leaves the parameter its default. */
  dependencies: (number | null)[]
}

/** A method that other workers call under its own name over a service binding. It runs without a user. */
export interface RpcMethod {
  /** Index into `container`. */
  target: number
  handler: string
}

/** Methods that the auth worker calls itself. */
export interface KeyMethods {
  /** Gets the value of the header `apikey`. Returns whether it is a service-role key. */
  accepts: RpcMethod
  /** Returns the key that signs the claims, or `undefined` while it is the binding CLAIMS_KEY. */
  current: RpcMethod
}

/** One schedule of a method that runs without a request and without a user. */
export interface Cron {
  /** Five fields in capital letters with single spaces, as the platform's triggers are compared. */
  schedule: string
  /** Index into `container`. */
  target: number
  class: string
  /** The method of the class. */
  handler: string
  file: string
  line: number
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route {
  method: Method
  /** `/orders/:id`, with the controller's part. */
  path: string
  /** Index into `container`. */
  controller: number
  /** The method of the class. */
  handler: string
  file: string
  line: number
  gate: Gate
  /** Grants are read before the handler: the gate or a parameter needs them (contract 3.5). */
  readsGrants: boolean
  /** HTTP status of a result that is neither a `Response` nor `undefined`. */
  status: number
  parameters: Parameter[]
  /** Longest request body, in bytes: a longer one is answered 413 (contract 2.11). */
  maxBodyBytes: number
  limit?: RateLimit
}

/** Largest number of requests of one caller in a period. The platform counts them (contract 2.7). */
export interface RateLimit {
  /** Name of the rate-limit binding: one for each pair of `requests` and `seconds`. */
  binding: string
  requests: number
  seconds: 10 | 60
  by: 'user' | 'ip'
  /** Names the route or the controller whose requests are counted together. */
  key: string
}

/** The one rule in force for a route, resolved at build (contract 4.3). */
export interface Gate {
  required: boolean
  role?: string
  permission?: string
  verifiedEmail?: true
  /** An attested device must have signed the request. `once`: each signature admits one request. */
  device?: true | 'once'
  /**
   * The route administers the stack (contract 4.6). `true` admits the service-role key and the tokens of operators, `key` the
   * service-role key alone. The auth module alone has such routes.
   */
  serviceRole?: true | 'key'
  /** Which level declared it. */
  decidedBy: 'route' | 'controller' | 'application' | 'default'
}

/** `schema` is an index into the schemas that the generated entry passes, `position` an index into the path's parameters. */
export type Parameter =
  | { from: 'param'; name: string; position: number; schema?: number; coerce?: Coercion }
  | { from: 'query' | 'header'; name: string; schema?: number; coerce?: Coercion }
  | { from: 'body'; schema?: number }
  /** `named` by name, `rest` for every other name. */
  | { from: 'wholeQuery'; schema?: number; coerce?: { named: [name: string, Coercion][]; rest?: Coercion } }
  | { from: 'request' | 'user' | 'optionalUser' | 'requestId' | 'client' }

/** Forms that text is converted from before its schema validates it (contract 2.8). */
export type TextForm = 'number' | 'boolean'

export interface Coercion {
  /** Forms of a single text, tried in order. Text of no form stays text. Absent where the schema takes only lists. */
  one?: TextForm[]
  /** Forms of the items. Absent where the schema takes no list. */
  list?: TextForm[]
}

export interface Webhook {
  name: string
  /** Index into `container`. */
  receiver: number
  class: string
  file: string
  line: number
  /** The declared preset, or `null` for a `signature` block. */
  provider: WebhookProvider | null
  scheme: Scheme
  /**
   * Names of vault entries: the secret of the signatures, during a rotation the previous one (contract 7.5), and the token of
   * a `subscribe` handshake.
   */
  secret: { env: string; previous?: string; verify?: string }
  /** The URL that is configured at the provider, without a query. */
  publicUrl?: string
  /** Each delivery is handled once (contract 7.7). */
  dedupe?: true
  /** Number of days that deliveries are kept (contract 7.8). */
  record?: { days: number }
  maxBodyBytes?: number
  events: { key: string; handler: string }[]
}
