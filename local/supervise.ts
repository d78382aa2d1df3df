/** A Postgres that was killed is started again on its port. Workers connect for each request, so the next one is served. */
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
