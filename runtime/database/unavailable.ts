/** What goes wrong with a database: outages and time limits, and what Postgres raises about a statement. */

/** Longest time of one statement in milliseconds (contract 5.6). */
export const statementMs = 10_000

/** Longest time in milliseconds for opening a connection, and for the batch that begins a transaction (contract 5.6). */
export const openMs = 5_000

/** How many Durable Objects share the pool's connections: one object is one thread. */
export const poolObjects = 2

/** The database cannot be reached, is full, or cut the request off: 503, whatever was being asked (contract 5.6). */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** What Postgres raised about a statement; its fields are those of the protocol's ErrorResponse. */
export class SqlError extends Error {
  override name = 'SqlError'
  /** SQLSTATE. */
  declare code: string
  declare constraint?: string
  /** The routine of the server that raised it. */
  declare routine?: string
  /** The text of the statement, never its values. */
  declare statement?: string
}

/** Whether the transaction was kept is unknown, or Postgres refused it at COMMIT: never a success (contract 2.4). */
export class CommitFailed extends Error {}

/** An error as plain data, so that it may cross from one isolate to another. */
export type Failure = Record<string, string>

export function failureOf(error: unknown): Failure {
  const normal = normalise(error)
  const texts = Object.entries(normal).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { ...Object.fromEntries(texts), name: normal.name, message: normal.message }
}

export function errorOf({ message, ...fields }: Failure): Error {
  return fields['name'] === 'Unavailable' ? new Unavailable(message) : Object.assign(new SqlError(message), fields)
}

/** Connection lost, insufficient resources, shutdown or cancellation: SQLSTATE classes 08, 53, 57P and 57014, 25P03, 25P04. */
const outages = /^(?:08|53|57P|57014$|25P0[34]$)/

/**
 * @returns a `SqlError` where Postgres raised it about the statement. Anything else, be it an event, a closed socket or a
 * time limit, is `Unavailable`.
 */
export function normalise(error: unknown): Error {
  if (error instanceof Unavailable || error instanceof SqlError) return error
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (error instanceof Error && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !outages.test(code)) {
    const { name: _driversName, ...fields } = error as Error & Record<string, unknown>
    return Object.assign(new SqlError(error.message), fields)
  }
  return new Unavailable(typeof message === 'string' && message ? message : 'the connection to the database failed', {
    cause: error,
  })
}

/**
 * A login's password was changed (28P01), or settings of the login itself keep its connections from opening (58P01, 22023):
 * SQL that runs as a login may do both to it (contract 5.7).
 */
export function isLoginRefused(error: unknown): boolean {
  return error instanceof SqlError && /^(?:28P01|58P01|22023)$/.test(error.code)
}

/** Bounds the wait for a server that accepted the connection and then fell silent. @throws Unavailable */
export async function within<T>(answer: Promise<T>, limitMs = statementMs + 2_000): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(`the database was silent for ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
