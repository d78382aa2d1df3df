/** Services that are imported, never injected; each acts for the request that is being served (contract 2.4 – 2.6). */
import { currentScope, type LogLevel, type Row, type Session } from './scope.ts'

/** The database as one of the request's two transactions sees it. */
export interface DatabaseSession {
  /** `` sql`select * from orders where id = ${id}` ``: every value becomes a bound parameter. */
  sql<T = Row>(strings: TemplateStringsArray, ...values: unknown[]): Promise<T[]>
  /** Text with `$1`, `$2` … and their values; one statement. */
  query<T = Row>(text: string, parameters?: readonly unknown[]): Promise<T[]>
}

function session(current: () => Session): DatabaseSession {
  return {
    // async, so that OutsideRequest is a rejection like every other failure of a query
    async sql<T>(strings: TemplateStringsArray, ...values: unknown[]) {
      return current().query<T>(
        strings.reduce((text, part, index) => `${text}$${index}${part}`),
        values,
      )
    },
    async query<T>(text: string, parameters: readonly unknown[] = []) {
      return current().query<T>(text, parameters)
    },
  }
}

const service = session(() => currentScope('Database').service)

/** The request's database. Both transactions commit when the handler returns and roll back when it throws. */
export const Database: DatabaseSession & {
  /** The same on a second connection that bypasses row-level security: for webhooks, and for what users may not do. */
  $asService(): DatabaseSession
} = { ...session(() => currentScope('Database').caller), $asService: () => service }

function line(level: LogLevel) {
  return (message: string, fields?: Record<string, unknown>): void => currentScope('Log').log(level, message, fields)
}

/** Writes one JSON line with the request's id. */
export const Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }

export const Secrets = {
  /** @returns the entry `name` of the environment. @throws Error when it is not set, or empty. */
  get(name: string): string {
    const { env } = currentScope('Secrets')
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (typeof value !== 'string' || value === '') throw new Error(`the secret ${name} is not set`)
    return value
  },
}
