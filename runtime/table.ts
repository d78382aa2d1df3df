/**
 * The route table: what the build knows of a project and the runtime performs. Plain data, also written as
 * `.stack/table.json` (contract 8.4); the only type that `build/` and `runtime/` share.
 */
import type { Scheme, WebhookProvider } from '../src/wire/webhook-schemes.ts'

export interface RouteTable {
  /** The database roles that requests of this worker are bound to (contract 5.1). */
  databaseRoles: { caller: string; service: string }
  /** Every class that is constructed, dependencies before dependents; the generated entry builds them in this order. */
  container: Component[]
  routes: Route[]
  webhooks: Webhook[]
  /** Absent: other workers reach this one as anybody does. */
  rpc?: RpcMethod[]
  /** Absent: no other origin's page may read an answer. */
  cors?: Cors
}

/** Whole: what the declaration leaves out has its default. */
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
  /** Relative to the project. */
  file: string
  line: number
  /** Indices into `container`, one for each constructor parameter; `null` leaves the parameter its default. */
  dependencies: (number | null)[]
}

/** A method that a service binding offers, under its own name; it acts for nobody. */
export interface RpcMethod {
  /** Index into `container`. */
  target: number
  handler: string
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

/** How often one caller may ask; the platform counts (contract 2.7). */
export interface RateLimit {
  /** Of the Workers runtime: one for each pair of requests and seconds. */
  binding: string
  requests: number
  seconds: 10 | 60
  by: 'user' | 'ip'
  /** What is counted together: a route, or a controller. */
  key: string
}

/** The one rule in force for a route, resolved at build (contract 4.3). */
export interface Gate {
  required: boolean
  role?: string
  permission?: string
  verifiedEmail?: true
  /**
   * The route administers the stack (contract 4.6). `true` admits the service-role key and the tokens of operators, `key` the
   * service-role key alone. The auth module alone has such routes.
   */
  serviceRole?: true | 'key'
  /** Which level declared it. */
  decidedBy: 'route' | 'controller' | 'application' | 'default'
}

/** `schema` is an index into the schemas that the generated entry passes, `position` one into the path's parameters. */
export type Parameter =
  | { from: 'param'; name: string; position: number; schema?: number; coerce?: Coercion }
  | { from: 'query' | 'header'; name: string; schema?: number; coerce?: Coercion }
  | { from: 'body'; schema?: number }
  /** `named` by name, `rest` for every other name. */
  | { from: 'wholeQuery'; schema?: number; coerce?: { named: [name: string, Coercion][]; rest?: Coercion } }
  | { from: 'request' | 'user' | 'optionalUser' | 'requestId' | 'client' }

/** What text may be read as before its schema sees it (contract 2.8). */
export type TextForm = 'number' | 'boolean'

export interface Coercion {
  /** One text becomes the first of these that it is a form of, else it stays text; absent where the schema takes lists alone. */
  one?: TextForm[]
  /** The schema takes a list, and these are the forms of its items. */
  list?: TextForm[]
}

export interface Webhook {
  name: string
  /** Index into `container`. */
  receiver: number
  class: string
  file: string
  line: number
  /** The preset that was named, or `null` for a `signature` block. */
  provider: WebhookProvider | null
  scheme: Scheme
  /**
   * Vault entries: what deliveries are signed with, during a rotation what they were signed with (contract 7.5), and the
   * token that a `subscribe` handshake must name.
   */
  secret: { env: string; previous?: string; verify?: string }
  /** As the sender was given it, without a query. */
  publicUrl?: string
  /** Each delivery is handled once (contract 7.7). */
  dedupe?: true
  /** Deliveries are kept for so many days (contract 7.8). */
  record?: { days: number }
  maxBodyBytes?: number
  events: { key: string; handler: string }[]
}
