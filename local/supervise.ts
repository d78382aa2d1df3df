/**
 * Starts a Postgres that died again, on the same port, so that the connections of the next requests find it. If that start fails, a
 * message says so, and it is not tried again.
 */
import { type Postgres, type PostgresOptions, startPostgres } from './postgres.ts'

/** @returns a function that ends the supervision and the server. */
export function supervise(
  first: Postgres,
  options: Omit<PostgresOptions, 'port'>,
  say: (line: string) => void,
): () => Promise<void> {
  let current = first
  let isEnding = false
  let restarting = Promise.resolve()
  const watch = () => {
    current.died.then((sentence) => {
      if (isEnding) return
      say(`${sentence} Starting it again`)
      restarting = startPostgres({ ...options, port: first.port }).then(
        (next) => {
          current = next
          say('Postgres runs again')
          watch()
        },
        (error: unknown) => say(`Postgres could not be started again: ${(error as Error).message}`),
      )
    })
  }
  watch()
  return async () => {
    isEnding = true
    await restarting
    await current.stop()
  }
}
