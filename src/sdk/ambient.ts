/** Services that are imported, never injected; each acts for the request that is being served (contract 2.4 – 2.6). */
import { userId as userIdForm } from '../wire/ids.ts'
import { roleName } from '../wire/permissions.ts'
import { RoleNotDefined, TransportError } from './errors.ts'
import type { StackRoleName } from './gates.ts'
import { currentScope, type LogLevel, type Queries, type Row } from './scope.ts'
import type { StorageBucket } from './storage.ts'

/** The database as one of the request's two transactions sees it. */
export interface DatabaseSession {
  /** `` sql`select * from orders where id = ${id}` ``: every value becomes a bound parameter. */
  sql<T = Row>(strings: TemplateStringsArray, ...values: unknown[]): Promise<T[]>
  /** Text with `$1`, `$2` … and their values; one statement. */
  query<T = Row>(text: string, parameters?: readonly unknown[]): Promise<T[]>
}

function sessionOver(current: () => Queries): DatabaseSession {
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

const service = sessionOver(() => currentScope('Database').service)

/** The request's database. Both transactions commit when the handler returns and roll back when it throws. */
export const Database: DatabaseSession & {
  /** The same on a second connection that bypasses row-level security: for webhooks, and for what users may not do. */
  $asService(): DatabaseSession
} = { ...sessionOver(() => currentScope('Database').caller), $asService: () => service }

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

async function manage(method: 'GET' | 'PUT' | 'DELETE', userId: string, role?: string): Promise<unknown> {
  const { manage: call } = currentScope('Auth')
  // an id with a slash in it would call another route
  if (!userIdForm.test(userId)) {
    throw new TransportError('user_not_found', 404, `there is no user "${userId}"`)
  }
  if (role !== undefined && !roleName.test(role)) throw new RoleNotDefined(role)
  const path = `/users/${userId}/roles${role === undefined ? '' : `/${encodeURIComponent(role)}`}`
  const response = await call(method, path).catch((cause: unknown) => {
    throw Object.assign(new TransportError('unavailable', 503, 'the auth worker does not answer'), { cause })
  })
  const text = await response.text()
  const body = read(text)
  if (response.ok) return body
  const code = typeof body?.['error'] === 'string' ? body['error'] : 'internal_error'
  if (code === 'role_not_defined') throw new RoleNotDefined(role ?? '')
  const requestId = response.headers.get('x-request-id') ?? undefined
  throw new TransportError(code, response.status, String(body?.['error_description'] ?? text), requestId)
}

function read(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Application roles, with the service-role key: whether the caller may promote anybody is for the project to decide, before
 * it calls. Each call takes effect at once, whatever becomes of the request, and is in force on the user's next one.
 */
export const Auth = {
  /** Assigning twice is assigning once. @throws RoleNotDefined, TransportError */
  async assignRole(userId: string, role: StackRoleName): Promise<void> {
    await manage('PUT', userId, role)
  },
  /** Revoking what is not held changes nothing. @throws RoleNotDefined, TransportError */
  async revokeRole(userId: string, role: StackRoleName): Promise<void> {
    await manage('DELETE', userId, role)
  },
  /** Names, in their order. @throws TransportError */
  async rolesOf(userId: string): Promise<StackRoleName[]> {
    const { data } = (await manage('GET', userId)) as { data: { name: StackRoleName }[] }
    return data.map(({ name }) => name)
  },
}

function bucket(): StorageBucket {
  const { env } = currentScope('Storage')
  const bound = env['STORAGE'] as StorageBucket | undefined
  if (!bound) throw new Error('the binding STORAGE is not set: bind an R2 bucket under that name')
  return bound
}

/** The project's bucket: the R2 binding `STORAGE`, locally a folder of the stack. */
export const Storage: StorageBucket = {
  get: async (key) => bucket().get(key),
  head: async (key) => bucket().head(key),
  put: async (key, value, options) => bucket().put(key, value, options),
  delete: async (keys) => bucket().delete(keys),
  list: async (options) => bucket().list(options),
}
