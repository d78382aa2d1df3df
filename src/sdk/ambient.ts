/**
 * The ambient services. A handler imports them and calls them, and they act for the request that is being served
 * (contract 2.4 – 2.6).
 */
import { addressOf } from '../wire/address.ts'
import { userId as userIdForm } from '../wire/ids.ts'
import { messages, roles } from '../wire/operations.ts'
import { roleName } from '../wire/permissions.ts'
import { RoleNotDefined, TransportError } from './errors.ts'
import type { StackRoleName } from './gates.ts'
import { currentScope, type LogLevel, type Queries, type Row } from './scope.ts'
import type { StorageBucket } from './storage.ts'

/** The two ways to run a statement in one transaction of the request. Both return the rows. */
export interface DatabaseSession {
  /**
   * Runs one statement. Every `${value}` becomes a bound parameter and never a part of the text. `T` states the type of a
   * row and is not checked: `docs/columns.md` says how each column type arrives.
   *
   * @throws OutsideRequest where no request is being served. Errors of Postgres are answered as contract 2.13 says.
   *
   * @example
   * ```ts
   * async function totalOf(id: string) {
   *   const [order] = await Database.sql<{ total: number }>`select total from orders where id = ${id}`
   *   return order?.total
   * }
   * ```
   */
  sql<T = Row>(strings: TemplateStringsArray, ...values: unknown[]): Promise<T[]>
  /**
   * Runs one statement whose text is computed. `$1`, `$2` and so on stand for the parameters.
   *
   * @throws OutsideRequest where no request is being served. Errors of Postgres are answered as contract 2.13 says.
   *
   * @example
   * ```ts
   * async function sorted(column: 'total' | 'created_at', status: string) {
   *   return await Database.query(`select * from orders where status = $1 order by ${column}`, [status])
   * }
   * ```
   */
  query<T = Row>(text: string, parameters?: readonly unknown[]): Promise<T[]>
}

function databaseOver(current: () => Queries): DatabaseSession {
  return {
    // an async function rejects with OutsideRequest, as it does with every other failure of a query
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

const service = databaseOver(() => currentScope('Database').service)

/**
 * Postgres, as the caller: row-level security applies, and `(select auth.uid())` is the caller's id. The request's first use
 * opens a transaction, which commits when the handler returns and rolls back when it throws (contract 2.4).
 *
 * A statement may take 10 s and a transaction 30 s. A database that is gone, full or over a limit is answered 503
 * `unavailable` (contract 5.6). `begin`, `commit` and `rollback` are refused, because the transaction is the request.
 *
 * @example
 * ```ts
 * async function place(sku: string) {
 *   const [order] = await Database.sql<{ id: string }>`insert into orders (sku) values (${sku}) returning id`
 *   return order!.id
 * }
 * ```
 */
export const Database: DatabaseSession & {
  /**
   * The same methods on a second connection and transaction, which bypass row-level security. Use it in webhooks, and for
   * writes that a user may not make. It commits first: when the caller's commit then fails, the service's work stays. Only in a
   * webhook with `dedupe` the caller's transaction commits first, and it is read-only.
   *
   * @example
   * ```ts
   * async function markPaid(id: string) {
   *   await Database.$asService().sql`update orders set paid = true where id = ${id}`
   * }
   * ```
   */
  $asService(): DatabaseSession
  /**
   * Runs `work` in a short service transaction of its own (contract 2.15). The transaction commits as soon as `work` resolves,
   * also when the request fails later, and rolls back when `work` rejects. Use it for counters and failed attempts, and for what must be
   * read before slow work: no connection is held for it before or afterwards. Do not call it while `$asService()` has been used: the
   * request then holds two connections of one pool.
   *
   * @throws the error of `work`, and an error when the commit fails.
   *
   * @example
   * ```ts
   * async function count(name: string) {
   *   await Database.$apart((sql) => sql`update meters set calls = calls + 1 where name = ${name}`)
   * }
   * ```
   */
  $apart<T>(work: (sql: DatabaseSession['sql']) => Promise<T>): Promise<T>
  /**
   * Leaves `work` for the time after the commit (contract 2.16). It runs when the transactions of the request are committed, after the
   * answer was sent, and not at all where the request fails. It has transactions of its own, without a user. What it throws is only
   * logged, and a worker that is stopped meanwhile drops it: write what must not be lost into a row, and let a `@Cron` method find it.
   *
   * @throws Error for more than 100 works of one request.
   *
   * @example
   * ```ts
   * async function place(sku: string) {
   *   const [order] = await Database.sql<{ id: string }>`insert into orders (sku) values (${sku}) returning id`
   *   Database.$afterCommit(() => fetch(`https://warehouse.example/pick/${order!.id}`, { method: 'POST' }))
   * }
   * ```
   */
  $afterCommit(work: () => Promise<unknown>): void
} = {
  ...databaseOver(() => currentScope('Database').caller),
  $asService: () => service,
  $apart: async (work) => currentScope('Database').apart((queries) => work(databaseOver(() => queries).sql)),
  $afterCommit: (work) => currentScope('Database').afterCommit(work),
}

function line(level: LogLevel) {
  return (message: string, fields?: Record<string, unknown>): void => currentScope('Log').log(level, message, fields)
}

/**
 * Writes JSON lines to the worker's log (contract 2.5). Each line has `level`, `worker`, `message` and `request_id`, then the
 * fields. A field named `level`, `worker` or `message` is dropped. An `Error` among the fields is written with its stack.
 *
 * @throws OutsideRequest where no request is being served.
 *
 * @example
 * ```ts
 * function refunded(order: string, cents: number) {
 *   Log.info('the order is refunded', { order, cents })
 * }
 * ```
 */
export const Log = {
  /** Writes a line for a developer, which production usually does not need. */
  debug: line('debug'),
  /** Writes a line about something that happens in normal operation. */
  info: line('info'),
  /** Writes a line about something that needs attention and did not fail the request. */
  warn: line('warn'),
  /** Writes a line about a failure. */
  error: line('error'),
}

/**
 * The secrets of the environment: bindings, entries of the vault and, in the local stack, lines of `.dev.vars`. `stack secret
 * set <NAME> --stdin` writes to the vault. A new value is in force within 5 s (contract 9.9).
 *
 * @example
 * ```ts
 * async function convert(cents: number) {
 *   const headers = { authorization: `Bearer ${Secrets.get('RATES_TOKEN')}` }
 *   return await (await fetch(`https://rates.example/${cents}`, { headers })).json()
 * }
 * ```
 */
export const Secrets = {
  /**
   * Reads a secret.
   *
   * @returns the value of the binding or the vault's entry `name`.
   * @throws Error when it is not set or empty, which is answered 500. OutsideRequest where no request is being served.
   */
  get(name: string): string {
    const { env } = currentScope('Secrets')
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (typeof value !== 'string' || value === '')
      throw new Error(`the secret ${name} is not set: run "stack secret set ${name} --stdin"`)
    return value
  },
}

/** Calls an operation about a user, and about one role of the user where its path names one. */
async function manage({ method, path }: Operation, userId: string, role?: string): Promise<unknown> {
  const { manage: call } = currentScope('Auth')
  // an id with a slash in it would call another route
  if (!userIdForm.test(userId)) {
    throw new TransportError('user_not_found', 404, `there is no user "${userId}"`)
  }
  if (role !== undefined && !roleName.test(role)) throw new RoleNotDefined(role)
  const address = addressOf({ path: path as '/:id/:role' }, { id: userId, role: role ?? '' })
  try {
    return await answerOf(call(method, address))
  } catch (error) {
    if (error instanceof TransportError && error.code === 'role_not_defined') throw new RoleNotDefined(role ?? '')
    throw error
  }
}

/** An operation of the auth module. */
interface Operation {
  method: string
  path: string
}

/** @returns the JSON body of an answer of the auth worker. @throws TransportError for a refusal, and where there is no answer. */
async function answerOf(call: Promise<Response>): Promise<unknown> {
  const response = await call.catch((cause: unknown) => {
    throw Object.assign(new TransportError('unavailable', 503, 'the auth worker does not answer'), { cause })
  })
  const text = await response.text()
  const body = parsed(text)
  if (response.ok) return body
  const code = typeof body?.['error'] === 'string' ? body['error'] : 'internal_error'
  const requestId = response.headers.get('x-request-id') ?? undefined
  throw new TransportError(code, response.status, String(body?.['error_description'] ?? text), requestId)
}

/** @returns the JSON body of an answer, or `undefined` where it is not JSON. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Application roles of users (contract 2.5). The calls use the service-role key, so the project must decide first whether the
 * caller may promote a user. A call takes effect at once and stays in effect when the request fails. The user's next
 * request has the new roles.
 *
 * @example
 * ```ts
 * @Controller('staff', { auth: { role: 'staff' } })
 * export class StaffController {
 *   @Put(':id')
 *   async promote(@Param('id') id: string) {
 *     await Auth.assignRole(id, 'staff')
 *   }
 * }
 * ```
 */
export const Auth = {
  /**
   * Gives the user a role. To assign a role that the user holds changes nothing.
   *
   * @throws RoleNotDefined for a role that is not declared, and TransportError where the auth worker refuses the call or
   * cannot be reached.
   */
  async assignRole(userId: string, role: StackRoleName): Promise<void> {
    await manage(roles.assign, userId, role)
  },
  /**
   * Takes a role from the user. To revoke a role that the user does not hold changes nothing.
   *
   * @throws RoleNotDefined for a role that is not declared, and TransportError where the auth worker refuses the call or
   * cannot be reached.
   */
  async revokeRole(userId: string, role: StackRoleName): Promise<void> {
    await manage(roles.revoke, userId, role)
  },
  /**
   * Reads the roles of a user.
   *
   * @returns the names of the user's roles in alphabetical order.
   * @throws TransportError where there is no such user, or the auth worker cannot be reached.
   */
  async rolesOf(userId: string): Promise<StackRoleName[]> {
    const { data } = (await manage(roles.held, userId)) as { data: { name: StackRoleName }[] }
    return data.map(({ name }) => name)
  },
}

/**
 * A message of one of the project's own templates.
 *
 * @example
 * ```ts
 * const message: NotificationMessage = { to: 'ada@example.com', template: 'receipt', variables: { order: 7, total: '12.50 EUR' } }
 * ```
 */
export interface NotificationMessage {
  /**
   * An email address, a phone number like `+4915112345678`, or the id of a user, who gets the message at the address or number of the
   * account.
   */
  to: string
  /** The key of a template that `stack/templates` declares. */
  template: string
  /** Values of the template's variables: texts of at most 4,000 characters, or numbers. Default: none. */
  variables?: Readonly<Record<string, string | number>>
}

/**
 * Mail and text messages to people, made of the templates that the project declares in `stack/templates` (contract 2.5). The call uses
 * the service-role key, so the project must decide first who gets the message.
 *
 * The auth worker queues the message at once, sends it and tries again where the sender fails. The message goes out although the request
 * fails afterwards. To send it only where the request commits, call it in `Database.$afterCommit`.
 *
 * @example
 * ```ts
 * @Injectable()
 * export class Receipts {
 *   async paid(order: string, owner: string) {
 *     await Database.$asService().sql`update orders set paid = true where id = ${order}`
 *     Database.$afterCommit(() => Notifications.send({ to: owner, template: 'receipt', variables: { order } }))
 *   }
 * }
 * ```
 */
export const Notifications = {
  /**
   * Queues a message, and returns before it is sent.
   *
   * @returns the id of the message, which a sender gets too.
   * @throws TransportError where the auth worker refuses the message or cannot be reached: `invalid_message` (422) for an unknown
   * template or variable and for a missing one, `user_not_found` (404), `sender_not_configured` (409), `rate_limited` (429).
   */
  async send({ to, template, variables = {} }: NotificationMessage): Promise<{ messageId: string }> {
    const { manage: call } = currentScope('Notifications')
    const { method, path } = messages.send
    const texts = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]))
    const answer = (await answerOf(call(method, path, { to, template, variables: texts }))) as { message_id: string }
    return { messageId: answer.message_id }
  },
}

function bucket(): StorageBucket {
  const { env } = currentScope('Storage')
  const bound = env['STORAGE'] as StorageBucket | undefined
  if (!bound) throw new Error('the binding STORAGE is not set: bind an R2 bucket under that name')
  return bound
}

/**
 * The project's bucket: the R2 bucket that is bound as `STORAGE`, or a folder of the local stack (contract 2.5). Writes take
 * effect at once and are not part of the request's transaction.
 *
 * @throws Error where the binding `STORAGE` is not set.
 *
 * @example
 * ```ts
 * async function invoiceOf(id: string) {
 *   const stored = await Storage.get(`invoices/${id}.pdf`)
 *   if (!stored) throw new HttpError(404, 'not_found', `there is no invoice ${id}`)
 *   return new Response(stored.body, { headers: { 'content-type': 'application/pdf' } })
 * }
 * ```
 */
export const Storage: StorageBucket = {
  get: async (key) => bucket().get(key),
  head: async (key) => bucket().head(key),
  put: async (key, value, options) => bucket().put(key, value, options),
  delete: async (keys) => bucket().delete(keys),
  list: async (options) => bucket().list(options),
}
