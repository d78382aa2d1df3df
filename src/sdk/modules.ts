/** `@Module` and `@Injectable`. The build reads decorators and erases them (contract 2.1). */
import { unbuilt } from './errors.ts'
import type { AuthRule } from './gates.ts'

/** A class that can be constructed. */
// biome-ignore lint/suspicious/noExplicitAny: every constructor is assignable to this type only
export type Class = new (...args: any[]) => object

/** A class that may be abstract. It can be the type of a constructor parameter. */
// biome-ignore lint/suspicious/noExplicitAny: every constructor is assignable to this type only
type AbstractClass = abstract new (...args: any[]) => object

/**
 * Lets one class answer for another one. Every constructor parameter of the type `provide` receives the instance of
 * `useClass` (contract 2.2). It stands in the `providers` of a module, and so provides `useClass` too. A class has one answer
 * in an application.
 *
 * @example
 * ```ts
 * export abstract class Orders {
 *   abstract count(): Promise<number>
 * }
 * export class PgOrders extends Orders {
 *   async count() {
 *     return (await Database.sql`select id from orders`).length
 *   }
 * }
 * const recipe: Recipe = { provide: Orders, useClass: PgOrders }
 * ```
 */
export interface Recipe {
  /** The class that constructor parameters name. It may be abstract. */
  provide: AbstractClass
  /** The class that is constructed. It extends `provide`, or says that it implements it. */
  useClass: Class
}

/** The argument of `@Module`. Every list must be known at build: names of exported classes, without computation. */
export interface ModuleOptions {
  /** Modules whose exports the classes of this module may depend on. Default: none. Modules in a circle are refused. */
  imports?: readonly Class[]
  /** Classes with `@Controller`, whose routes are served. Default: none. */
  controllers?: readonly Class[]
  /**
   * Classes that other classes depend on, classes with `@Webhook`, and recipes (contract 2.2). Default: none.
   *
   * @example
   * ```ts
   * export abstract class Clock {}
   * export class SystemClock extends Clock {}
   * const options: ModuleOptions = { providers: [{ provide: Clock, useClass: SystemClock }] }
   * ```
   */
  providers?: readonly (Class | Recipe)[]
  /**
   * Providers that importing modules may depend on. A module in this list passes on its own exports. Default: all
   * providers of this module.
   *
   * @example
   * ```ts
   * export class Prices {}
   * export class Rates {}
   * const options: ModuleOptions = { providers: [Prices, Rates], exports: [Prices] }
   * ```
   */
  exports?: readonly AbstractClass[]
  /**
   * The application default: the rule for every route whose controller and route have none (contract 4.3). Only the root
   * module may have it. Default: `true`, so a caller who is not signed in gets 401 `unauthorized`.
   *
   * @example
   * ```ts
   * const options: ModuleOptions = { auth: { verifiedEmail: true } }
   * ```
   */
  auth?: AuthRule
  /**
   * Lets pages of other origins call the routes and read the answers (contract 2.10). Only the root module may have it, and
   * it does not concern webhooks. Default: absent, so a browser shows no answer to another origin's page.
   */
  cors?: CorsOptions
}

/**
 * The headers by which a browser decides what pages of other origins may read (Fetch, "CORS protocol").
 *
 * @example
 * ```ts
 * const cors: CorsOptions = { origins: ['https://app.example'], credentials: true, maxAge: 3600 }
 * ```
 */
export interface CorsOptions {
  /**
   * The origins that are allowed, as browsers write them: `https://app.example`, with its port if it has one. A request
   * from one of them is answered with its origin in `access-control-allow-origin`. `['*']` allows every origin.
   */
  origins: readonly string[]
  /** Sends `access-control-allow-credentials: true`, so that a page may send cookies. Refused beside `*`. Default: false. */
  credentials?: boolean
  /** Sent as `access-control-allow-headers`: the headers a page may send. Default: `authorization` and `content-type`. */
  headers?: readonly string[]
  /** Sent as `access-control-expose-headers`: the headers a page may read. Default: `x-request-id`. */
  exposed?: readonly string[]
  /**
   * Sent as `access-control-max-age`: how long a browser may keep the answer to a preflight, in seconds from 0 to 86,400.
   * Default: 600.
   */
  maxAge?: number
}

/**
 * Lists the classes of one part of the application. The module in the entry file (`src/app.module.ts` by default) is the
 * root. Only classes that the root reaches through `imports` become part of the worker (contract 2).
 *
 * @throws Error when the code runs without a build, like every decorator of this package.
 *
 * @example
 * ```ts
 * @Controller('orders')
 * export class OrdersController {}
 *
 * @Module({ controllers: [OrdersController] })
 * export class AppModule {}
 * ```
 */
export function Module(_options: ModuleOptions = {}): (target: Class) => void {
  return unbuilt('Module')
}

/**
 * Marks a class that the container constructs. The class that types a constructor parameter is the dependency. There is one
 * instance for each isolate, and it outlives requests: keep nothing of a request in its fields (contract 2.2).
 *
 * @example
 * ```ts
 * @Injectable()
 * export class Prices {
 *   totalOf(cents: number, quantity: number) {
 *     return cents * quantity
 *   }
 * }
 *
 * @Injectable()
 * export class Orders {
 *   constructor(private readonly prices: Prices) {}
 *
 *   async place(cents: number, quantity: number) {
 *     await Database.sql`insert into orders (total) values (${this.prices.totalOf(cents, quantity)})`
 *   }
 * }
 * ```
 */
export function Injectable(): (target: Class) => void {
  return unbuilt('Injectable')
}
