/** `@Controller` and the decorators of its routes (contract 2). */
import { unbuilt } from './errors.ts'
import type { AuthRule } from './gates.ts'
import type { Class } from './modules.ts'

/**
 * Limits the requests of one caller (contract 2.7). Further requests are answered 429 `rate_limited` with a `retry-after`
 * of the period. The platform counts approximately, and in each of its locations separately. Where the count cannot be
 * read, the answer is 503 `unavailable`.
 *
 * @example
 * ```ts
 * const limit: RateLimit = { requests: 20, seconds: 60, by: 'user' }
 * ```
 */
export interface RateLimit {
  /** Largest number of requests in one period, from 1 to 1,000,000. */
  requests: number
  /** Length of the period in seconds. The platform offers these two. */
  seconds: 10 | 60
  /**
   * The key that is counted. `user` is the signed-in user, and the address for callers who are not signed in. `ip` is the
   * address, of IPv6 its first 64 bits.
   */
  by: 'user' | 'ip'
}

/** The second argument of `@Controller`. Each option holds for all routes of the class that do not set it themselves. */
export interface ControllerOptions {
  /**
   * The rule for the routes of this class. It replaces the application default as a whole (contract 4.3).
   *
   * @example
   * ```ts
   * const options: ControllerOptions = { auth: { role: 'staff' } }
   * ```
   */
  auth?: AuthRule
  /** One count for all routes of this class that have no limit of their own. Default: no limit. */
  limit?: RateLimit
  /** Largest request body in bytes. See `RouteOptions.maxBodyBytes`. Default: 1,048,576 (1 MiB). */
  maxBodyBytes?: number
}

/** The second argument of `@Get`, `@Post`, `@Put`, `@Patch` and `@Delete`. */
export interface RouteOptions {
  /**
   * The rule of this route. It replaces the controller's rule as a whole: rules never merge (contract 4.3). `false` lets
   * every caller in.
   *
   * @example
   * ```ts
   * const options: RouteOptions = { auth: { permission: 'orders.refund' } }
   * ```
   */
  auth?: AuthRule
  /**
   * Replaces the controller's limit and counts this route alone. Default: the controller's, else no limit.
   *
   * @example
   * ```ts
   * const options: RouteOptions = { limit: { requests: 5, seconds: 10, by: 'ip' } }
   * ```
   */
  limit?: RateLimit
  /**
   * Largest request body in bytes, from 1 to 104,857,600 (the platform takes 100 MiB). A longer one is answered 413
   * `payload_too_large` before a transaction opens (contract 2.11). Default: the controller's, else 1,048,576 (1 MiB).
   *
   * @example
   * ```ts
   * const options: RouteOptions = { maxBodyBytes: 8 * 1_048_576 }
   * ```
   */
  maxBodyBytes?: number
  /**
   * HTTP status of a JSON answer, from 200 to 299 without 204 and 205. A handler that returns `undefined` answers 204, and
   * a `Response` has its own status (contract 2.3). Default: 200.
   *
   * @example
   * ```ts
   * const options: RouteOptions = { status: 201 }
   * ```
   */
  status?: number
}

// biome-ignore lint/suspicious/noExplicitAny: a handler may take and return anything
type Handler = (...args: any[]) => unknown
type RouteDecorator = <F extends Handler>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<F>,
) => void

/**
 * Serves the routes of the class below `path`. A module lists the class in `controllers`. Paths at or below `/webhooks` and
 * the paths of the auth worker are refused at build (contract 1.2).
 *
 * @param _path segments like `orders`, and parameters like `:id` that fill a whole segment. Default: the root.
 *
 * @example
 * ```ts
 * @Controller('orders', { auth: { role: 'staff' } })
 * export class OrdersController {
 *   @Get()
 *   async list() {
 *     return await Database.sql`select * from orders`
 *   }
 * }
 * ```
 */
export function Controller(_path = '', _options: ControllerOptions = {}): (target: Class) => void {
  return unbuilt('Controller')
}

/**
 * Answers `GET`, and `HEAD` without a body (RFC 9110, section 9.3), at the controller's path plus this one.
 *
 * The handler's result becomes the answer: a `Response` as it is, `undefined` as 204, an `HttpError` as its envelope, anything
 * else as JSON (contract 2.3).
 * Literal segments win over parameters (contract 2.9).
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Get(':id')
 *   async show(@Param('id') id: string) {
 *     const [order] = await Database.sql`select * from orders where id = ${id}`
 *     if (!order) throw new HttpError(404, 'not_found', `there is no order ${id}`)
 *     return order
 *   }
 * }
 * ```
 */
export function Get(_path = '', _options: RouteOptions = {}): RouteDecorator {
  return unbuilt('Get')
}

/**
 * Answers `POST` at the controller's path plus this one. The result becomes the answer as with `@Get`.
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const NewOrder = v.object({ sku: v.string() })
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Post('', { status: 201 })
 *   async place(@Body(NewOrder) { sku }: v.InferOutput<typeof NewOrder>) {
 *     const [order] = await Database.sql`insert into orders (sku) values (${sku}) returning *`
 *     return order
 *   }
 * }
 * ```
 */
export function Post(_path = '', _options: RouteOptions = {}): RouteDecorator {
  return unbuilt('Post')
}

/**
 * Answers `PUT` at the controller's path plus this one. The result becomes the answer as with `@Get`.
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const Note = v.object({ text: v.string() })
 *
 * @Controller('orders/:id/note')
 * export class NoteController {
 *   @Put()
 *   async write(@Param('id') id: string, @Body(Note) { text }: v.InferOutput<typeof Note>) {
 *     await Database.sql`update orders set note = ${text} where id = ${id}`
 *   }
 * }
 * ```
 */
export function Put(_path = '', _options: RouteOptions = {}): RouteDecorator {
  return unbuilt('Put')
}

/**
 * Answers `PATCH` at the controller's path plus this one. The result becomes the answer as with `@Get`.
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const Change = v.object({ quantity: v.number() })
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Patch(':id')
 *   async change(@Param('id') id: string, @Body(Change) { quantity }: v.InferOutput<typeof Change>) {
 *     await Database.sql`update orders set quantity = ${quantity} where id = ${id}`
 *   }
 * }
 * ```
 */
export function Patch(_path = '', _options: RouteOptions = {}): RouteDecorator {
  return unbuilt('Patch')
}

/**
 * Answers `DELETE` at the controller's path plus this one. The result becomes the answer as with `@Get`. Such a route cannot
 * take `@Body()`, because HTTP gives the body of a `DELETE` no meaning.
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Delete(':id')
 *   async cancel(@Param('id') id: string) {
 *     await Database.sql`delete from orders where id = ${id}`
 *   }
 * }
 * ```
 */
export function Delete(_path = '', _options: RouteOptions = {}): RouteDecorator {
  return unbuilt('Delete')
}
