/** The request that is being served, for whatever runs inside it. One per worker: `@stack/backend` resolves to one copy. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { OutsideRequest } from './errors.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type Row = Record<string, unknown>

/** One transaction of the request. */
export interface Queries {
  /** @returns the rows. Parameters are bound, never spliced into the text. */
  query<T = Row>(text: string, parameters?: readonly unknown[]): Promise<T[]>
}

export interface RequestScope {
  /** `req_…` */
  requestId: string
  /** Bindings: vault entries and configuration. */
  env: Record<string, unknown>
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
  /** The transaction bound to the caller; opened by its first query. */
  caller: Queries
  /** The transaction on the second connection, which bypasses row-level security; opened by its first query. */
  service: Queries
  /** Calls the auth worker's management surface with the service-role key. @param path below `/v1/management/auth`. @throws Error when nobody answers. */
  manage(method: 'GET' | 'PUT' | 'DELETE', path: string): Promise<Response>
  /** The handler has returned: what it left running is outside. */
  isOver: boolean
}

export const scope = new AsyncLocalStorage<RequestScope | undefined>()

/** @throws OutsideRequest naming `service` when no request is being served, or the one that began this work has ended. */
export function currentScope(service: string): RequestScope {
  const current = scope.getStore()
  if (!current || current.isOver) throw new OutsideRequest(service)
  return current
}
