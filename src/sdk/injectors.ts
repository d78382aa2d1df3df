/** The decorators of a handler's parameters. Each parameter of a route's handler has exactly one (contract, "Injectors"). */
import { unbuilt } from './errors.ts'
import type { StandardSchema } from './schema.ts'

type InjectorDecorator = (target: object, key: string | symbol, index: number) => void

/**
 * Injects the path parameter `:name`, percent-decoded once. A name that the path does not have is refused at build.
 *
 * With a schema the handler receives the schema's output. A text like `7` reaches a schema for numbers as a number
 * (contract 2.8). A value that the schema refuses is answered 400 `invalid_request`, with one of `fields` for each issue.
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Get(':number')
 *   show(@Param('number', v.number()) number: number) {
 *     return { number }
 *   }
 * }
 * ```
 */
export function Param(_name: string, _schema?: StandardSchema): InjectorDecorator {
  return unbuilt('Param')
}

/**
 * Injects the first value of the query parameter `name`, or `undefined` where the query does not have it.
 *
 * With a schema the handler receives the schema's output. Numbers, booleans and lists are converted from text first
 * (contract 2.8). A value that the schema refuses is answered 400 `invalid_request`.
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Get()
 *   list(@Query('page', v.optional(v.number(), 1)) page: number) {
 *     return { page }
 *   }
 * }
 * ```
 */
export function Query(name: string, schema?: StandardSchema): InjectorDecorator
/**
 * Injects the whole query as the schema's output. A parameter that is repeated is a list. Every violation is answered in
 * one 400 `invalid_request` (contract 2.8).
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const Filter = v.object({ status: v.optional(v.string()), limit: v.optional(v.number(), 20) })
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Get()
 *   list(@Query(Filter) filter: v.InferOutput<typeof Filter>) {
 *     return { limit: filter.limit }
 *   }
 * }
 * ```
 */
export function Query(schema: StandardSchema): InjectorDecorator
export function Query(): InjectorDecorator {
  return unbuilt('Query')
}

/**
 * Injects the header `name`, which has no case, or `undefined` where the request does not have it. A schema checks and
 * converts it as with `@Query` (contract 2.8).
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Get()
 *   list(@Header('accept-language') language: string | undefined) {
 *     return { language: language ?? 'en' }
 *   }
 * }
 * ```
 */
export function Header(_name: string, _schema?: StandardSchema): InjectorDecorator {
  return unbuilt('Header')
}

/**
 * Injects the JSON body, or with a schema the schema's output. Not for `GET` and `DELETE`.
 *
 * The body is read before a transaction opens. The caller gets 400 `invalid_request` for a body that is not JSON or that the
 * schema refuses, 408 after 30 s, 413 over `maxBodyBytes`, and 415 for another content type (contract 2.8, 2.11).
 *
 * @example
 * ```ts
 * import * as v from 'valibot'
 *
 * const NewOrder = v.object({ sku: v.string(), quantity: v.pipe(v.number(), v.integer()) })
 *
 * @Controller('orders')
 * export class OrdersController {
 *   @Post('', { status: 201 })
 *   place(@Body(NewOrder) order: v.InferOutput<typeof NewOrder>) {
 *     return { sku: order.sku }
 *   }
 * }
 * ```
 */
export function Body(_schema?: StandardSchema): InjectorDecorator {
  return unbuilt('Body')
}

/**
 * Injects the Web `Request`. Beside `@Body()` it has the same bytes once more. Without `@Body()` the handler reads the body
 * itself, and `maxBodyBytes` still limits it (contract 2.11).
 *
 * @example
 * ```ts
 * @Controller('imports')
 * export class ImportController {
 *   @Post()
 *   async upload(@Req() request: Request) {
 *     return { bytes: (await request.arrayBuffer()).byteLength }
 *   }
 * }
 * ```
 */
export function Req(): InjectorDecorator {
  return unbuilt('Req')
}

/**
 * Injects the signed-in user as `UserT`, never `null`. The build refuses it on a route that does not require a user
 * (contract 3.6). The runtime reads the user's roles from the database first.
 *
 * @example
 * ```ts
 * @Controller('me')
 * export class MeController {
 *   @Get()
 *   show(@User() user: UserT) {
 *     return { id: user.id, roles: user.roles }
 *   }
 * }
 * ```
 */
export function User(): InjectorDecorator {
  return unbuilt('User')
}

/**
 * Injects the caller as `UserT`, or `null` for a caller without a valid token. An anonymous session is a caller with the
 * role `anon` (contract 3.4). The build warns of it on a route that requires a user.
 *
 * @example
 * ```ts
 * @Controller('catalogue', { auth: false })
 * export class CatalogueController {
 *   @Get()
 *   greet(@OptionalUser() user: UserT | null) {
 *     return { greeting: user ? `Welcome back, ${user.email ?? user.id}` : 'Welcome' }
 *   }
 * }
 * ```
 */
export function OptionalUser(): InjectorDecorator {
  return unbuilt('OptionalUser')
}

/**
 * Injects the id of this request, `req_` and a ULID. The header `x-request-id`, the error envelope and each line of the log
 * have the same id (contract 6.1).
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Post()
 *   place(@RequestId() id: string) {
 *     return { reference: id }
 *   }
 * }
 * ```
 */
export function RequestId(): InjectorDecorator {
  return unbuilt('RequestId')
}

/**
 * Injects the same value as `@RequestId()`. The `traceparent` of a request is in its log lines instead (contract 3.3).
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Post()
 *   place(@TraceId() id: string) {
 *     return { reference: id }
 *   }
 * }
 * ```
 */
export function TraceId(): InjectorDecorator {
  return unbuilt('TraceId')
}

/**
 * Injects `undefined`. It has no effect in this version and lets code that uses it compile (contract, "Injectors").
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {
 *   @Get()
 *   list(@Client() _client: undefined) {
 *     return []
 *   }
 * }
 * ```
 */
export function Client(): InjectorDecorator {
  return unbuilt('Client')
}
