/** Names of other frameworks, with what to write instead. Pure. */

/** Packages whose decorators serve requests. None of their code runs here. */
const serverFrameworks = ['routing-controllers', 'typedi', '@foal/core']
const serverScopes = ['@nestjs/', '@tsed/', '@midwayjs/', '@loopback/']

export function isServerFramework(from: string): boolean {
  return serverFrameworks.includes(from) || serverScopes.some((scope) => from.startsWith(scope))
}

/** @returns what to do instead of using a name that `@stack/backend` does not have. */
export function hintFor(name: string): string | undefined {
  return Object.hasOwn(hints, name) ? hints[name] : undefined
}

const guard = 'write the option `auth` of the route, its controller or the root module'
const pipe = 'give the injector a schema, like `@Body(schema)`: it checks and converts'
const filter = 'throw an `HttpError`: it becomes the answer'
const interceptor = 'call a plain function in the handler: nothing runs around it'
const upload = 'take `@Req() request: Request`, and read `await request.formData()` in the handler'
const response = 'return a `Response`, or a value that becomes JSON'
const timer = 'write `@Cron(…)` with a schedule: a minute is the shortest period'
const message = 'a sender calls a route or a class with `@Webhook`: there is no transport of messages'

const hints: Record<string, string> = {
  APP_FILTER: filter,
  APP_GUARD: 'write the application default: the option `auth` of the root module',
  APP_INTERCEPTOR: interceptor,
  APP_PIPE: pipe,
  All: 'declare the methods that there are, one by one',
  Catch: filter,
  FileInterceptor: upload,
  FilesInterceptor: upload,
  AnyFilesInterceptor: upload,
  FileFieldsInterceptor: upload,
  Global: 'import the module where its classes are needed',
  Headers: 'write `@Header(…)`',
  Host: 'take `@Req()`, and read the host of its `url`',
  HostParam: 'take `@Req()`, and read the host of its `url`',
  HttpCode: 'write the option `status` of the route: `@Post(…, { status: 201 })`',
  Inject: 'type the constructor parameter by the class',
  InjectRepository: 'use `Database` in the provider: it is imported, never injected',
  Interval: timer,
  Timeout: timer,
  Ip: 'take `@Req()`, and read its header `cf-connecting-ip`',
  EventPattern: message,
  MessagePattern: message,
  Next: 'return from the handler: no other one follows',
  Optional: 'give the constructor parameter a default',
  ParseBoolPipe: pipe,
  ParseIntPipe: pipe,
  ParseUUIDPipe: pipe,
  RawBody: 'take `@Req() request: Request`, and read `await request.arrayBuffer()`',
  Redirect: 'return `Response.redirect(url, 302)`',
  Render: 'return a `Response` with the text and its `content-type`',
  Request: 'write `@Req()`',
  Res: response,
  Response: response,
  Roles: "write the option `auth`: `{ auth: { role: 'staff' } }`",
  Session: 'take `@User()`: what a session keeps is in the database',
  SetMetadata: 'write the options of the route: no code reads metadata',
  UploadedFile: upload,
  UploadedFiles: upload,
  UseFilters: filter,
  UseGuards: guard,
  UseInterceptors: interceptor,
  UsePipes: pipe,
  ValidationPipe: pipe,
  Version: "write the version into the path: `@Controller('/v2/orders')`",
}

/** Kinds of classes that other frameworks call around a handler. */
export const wrappers = [
  { kind: 'guard', type: 'CanActivate', suffix: 'Guard', method: 'canActivate', instead: guard },
  { kind: 'pipe', type: 'PipeTransform', suffix: 'Pipe', method: 'transform', instead: pipe },
  { kind: 'exception filter', type: 'ExceptionFilter', suffix: 'Filter', method: 'catch', instead: filter },
  { kind: 'interceptor', type: 'NestInterceptor', suffix: 'Interceptor', method: 'intercept', instead: interceptor },
  {
    kind: 'middleware',
    type: 'NestMiddleware',
    suffix: 'Middleware',
    method: 'use',
    instead: 'do it in the handler, or in what it calls',
  },
] as const

/** Lifecycle methods that other frameworks call. */
export const hooks: ReadonlySet<string> = new Set([
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
])
