/** The request that is being served. There is one scope per worker, because `@stack/backend` resolves to one copy. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { OutsideRequest } from './errors.ts'

/** The levels of a line of the log, from least to most severe. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A row of a result: column names and values. */
export type Row = Record<string, unknown>

/** Runs statements in one transaction of the request. */
export interface Queries {
  /** @returns the rows. Parameters are bound and never become part of the text. */
  query<T = Row>(text: string, parameters?: readonly unknown[]): Promise<T[]>
}

/** The parts of a request that ambient services use. */
export interface RequestScope {
  /** `req_` and a ULID. */
  requestId: string
  /** The worker's bindings with the entries of the vault. */
  env: Record<string, unknown>
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
  /** The transaction that is bound to the caller. Its first query opens it. */
  caller: Queries
  /** The transaction on the second connection, which bypasses row-level security. Its first query opens it. */
  service: Queries
  /**
   * Runs `work` in a service transaction of its own. It commits when `work` resolves and rolls back when `work` rejects,
   * independently of the request.
   */
  apart<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /** Runs `work` in a scope and transactions of its own, once those of this request are committed. */
  afterCommit(work: () => Promise<unknown>): void
  /**
   * Calls the auth worker's management surface with the service-role key.
   *
   * @param path below the stack's base URL.
   * @param body sent as JSON. None where it is `undefined`.
   * @throws Error when the auth worker cannot be reached.
   */
  manage(method: string, path: string, body?: unknown): Promise<Response>
  /** The handler has returned. Work that it left running is outside of the request. */
  isOver: boolean
}

export const scope = new AsyncLocalStorage<RequestScope | undefined>()

/** @throws OutsideRequest with the name of the service when no request is being served, or its handler has returned. */
export function currentScope(service: string): RequestScope {
  const current = scope.getStore()
  if (!current || current.isOver) throw new OutsideRequest(service)
  return current
}
