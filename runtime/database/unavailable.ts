/** What makes the database unavailable to a request: outages, and the limits of its patience. */

/** Longest time of one statement, and of a pause between two, in milliseconds. */
export const statementMs = 10_000

/** Longest time of a transaction. */
export const transactionMs = 30_000

/** Longest time that a connection, and the flight which begins a transaction, may take. */
export const openMs = 5_000

/** How many Durable Objects share the pool's connections: one is one thread. */
export const poolObjects = 2

/** The database cannot be reached, is full, or cut the request off: 503, whatever was being asked (contract 5.6). */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** An error as plain data, so that it may cross from one isolate to another: its name, its message, what Postgres says of it. */
export type Failure = Record<string, string>

export function failureOf(error: unknown): Failure {
  const normal = normalise(error)
  const said = Object.entries(normal).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { ...Object.fromEntries(said), name: normal.name, message: normal.message }
}

export function errorOf(failure: Failure): Error {
  const { message, ...rest } = failure
  return rest['name'] === 'Unavailable' ? new Unavailable(message) : Object.assign(new Error(message), rest)
}

/** Connection lost, insufficient resources, shutdown or cancellation: SQLSTATE classes 08, 53, 57P and 57014, 25P03. */
const outages = /^(?:08|53|57P|57014$|25P0[34]$)/

/**
 * An error of the driver as the runtime knows it: one that Postgres itself raised about the statement stays, whatever
 * else happened (an event, a closed socket, a time limit) is `Unavailable`.
 */
export function normalise(error: unknown): Error {
  if (error instanceof Unavailable) return error
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (error instanceof Error && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !outages.test(code))
    return error
  return new Unavailable(typeof message === 'string' && message ? message : 'the connection to the database failed', {
    cause: error,
  })
}

/** A server that took the connection and then fell silent must not hold the request. @throws Unavailable */
export async function within<T>(answer: Promise<T>, limitMs = statementMs + 2_000): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(`the database was silent for ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
