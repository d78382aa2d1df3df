/** Errors of the database: outages, time limits, and errors that Postgres raises about a statement. */

/** Longest time of one statement in milliseconds (contract 5.6). */
export const statementMs = 10_000

/** Longest time in milliseconds for opening a connection, and for the batch that begins a transaction (contract 5.6). */
export const openMs = 5_000

/** The database cannot be reached, is full, or cancelled the statement. The answer of every route is then 503 (contract 5.6). */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** An error that Postgres raised about a statement. Its fields are those of the protocol's ErrorResponse. */
export class SqlError extends Error {
  override name = 'SqlError'
  /** SQLSTATE. */
  declare code: string
  declare constraint?: string
  /** The function of the server's source code that raised the error. */
  declare routine?: string
  /** The text of the statement without its values. */
  declare statement?: string
}

/** The outcome of a COMMIT is unknown, or Postgres refused it. The request must not look like a success (contract 2.4). */
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

/** SQLSTATEs of a lost connection (08), insufficient resources (53), shutdown (57P), cancellation (57014) and time limits (25P03, 25P04). */
const outages = /^(?:08|53|57P|57014$|25P0[34]$)/

/** @returns a `SqlError` where Postgres raised the error about the statement. Every other error becomes `Unavailable`. */
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
 * @returns whether Postgres refused the login. Its password was changed (28P01), or a setting of the login keeps connections
 * from opening (58P01, 22023). SQL that runs as the login can do both (contract 5.7).
 */
export function isLoginRefused(error: unknown): boolean {
  return error instanceof SqlError && /^(?:28P01|58P01|22023)$/.test(error.code)
}

/**
 * Bounds the wait for a server that accepted the connection and then stopped answering.
 * @param limitMs milliseconds. The default exceeds the limit of a statement by two seconds, so that Postgres cancels it first.
 * @throws Unavailable
 */
export async function within<T>(answer: Promise<T>, limitMs = statementMs + 2_000): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(`the database was silent for ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
