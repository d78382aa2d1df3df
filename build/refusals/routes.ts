/** Refusals of paths, routes and handlers. */
import { define, didYouMean } from './definition.ts'

export const routes = {
  'path-malformed': define<{ path: string; reason: string }>({
    summary: 'A path holds a segment that is neither literal text nor a parameter, or the same parameter twice',
    why: 'The runtime matches a request segment by segment, with literal text or with a whole parameter. It would take a wildcard or a query literally, and a pattern would check nothing. Of two parameters with one name, the first value would be lost.',
    message: ({ path, reason }) => `the path "${path}" is malformed: ${reason}`,
    fix: () =>
      'write segments like `orders` and parameters like `:id` with single slashes between them, and each name once',
  }),
  'path-reserved': define<{ path: string; reserved: string; owner: string }>({
    summary: 'A path lies at or below one that the webhook receiver or the auth worker answers',
    why: 'The webhook receiver answers every path below `/webhooks` before the runtime looks up a route, and the host sends the paths of the auth worker to that worker. The handler would never be called, and the caller would get an answer of the receiver or the auth worker.',
    message: ({ path, reserved, owner }) => `the path "${path}" lies under ${reserved}, where ${owner} answers`,
    fix: ({ path }) => `choose another first segment, for example "/api${path}"`,
  }),
  'route-twice': define<{ route: string }>({
    summary: 'Two handlers declare the same method and path',
    why: 'A request has one handler. The later handler would replace the earlier one in the route table, so the code and the rule of the earlier one would have no effect.',
    message: ({ route }) => `the route ${route} is declared twice`,
    fix: () => 'remove one of them, or change its path or method',
  }),
  'route-ambiguous': define<{ route: string; other: string }>({
    summary: "Two routes with the same method differ only in a path parameter's name",
    why: 'A request carries the value of a parameter and not its name, so both routes match the same requests. The later route would replace the earlier one, whose code and rule would have no effect.',
    message: ({ route, other }) => `no request can tell ${route} from ${other}: only the parameter's name differs`,
    fix: () => 'give them different methods, or different literal segments',
  }),
  'parameter-without-injector': define<{ name: string }>({
    summary: "A parameter of a route's handler has no injector",
    why: 'The runtime passes only the values that injectors name. This parameter would be `undefined` on every request, and its type does not say so.',
    message: ({ name }) => `the handler's parameter ${name} has no injector, so it would always be undefined`,
    fix: () => 'give it one of @Param, @Query, @Header, @Body, @Req, @User, @OptionalUser, @RequestId or @TraceId',
  }),
  'parameter-with-two-injectors': define<{ name: string }>({
    summary: 'A parameter of a handler has two different injectors',
    why: 'A parameter receives one value. The build would read only the first injector, and code that expects the value of the other one would get the wrong value.',
    message: ({ name }) => `the handler's parameter ${name} has more than one injector`,
    fix: () => 'keep one of the injectors',
  }),
  'path-parameter-unknown': define<{ name: string; path: string; near: string | undefined }>({
    summary: '@Param names a parameter that the path of the route does not have',
    why: 'The parameter would be `undefined` on every request, although its type says that it is text. A query with it would find no row, or fail.',
    message: ({ name, path, near }) => `the path "${path}" has no parameter "${name}"${didYouMean(near)}`,
    fix: ({ name, near }) => (near ? `write \`@Param('${near}')\`` : `add \`:${name}\` to the path`),
  }),
  'body-on-bodyless-route': define<{ method: string }>({
    summary: 'A handler of a GET or DELETE route takes @Body()',
    why: '`@Body()` requires a JSON body. `fetch` sends no body with a GET, and an intermediary may drop the body of a DELETE (RFC 9110, section 9.3). The route would answer 400 to callers that did nothing wrong.',
    message: ({ method }) => `@Body() stands on a ${method} route, and HTTP gives the body of a ${method} no meaning`,
    fix: () => "take the data with `@Query('…')`, or use another method",
  }),
  'body-twice': define<object>({
    summary: 'A handler takes @Body() twice',
    why: 'A request has one body, and the runtime parses it once. Both parameters would receive the same value, so one of two different types would be wrong.',
    message: () => 'this handler takes the body twice',
    fix: () => 'keep one @Body() and remove the other',
  }),
  'routes-inherited': define<{ name: string; base: string }>({
    summary: 'A class with @Controller extends a class that has routes of its own',
    why: 'The build reads routes from the class that declares them, and from no subclass. Below the path of the subclass the inherited routes would answer 404, although its instance has their methods.',
    message: ({ name, base }) => `${name} extends ${base}, whose routes are not served under ${name}`,
    fix: ({ name }) => `declare the routes in ${name}, and move shared code into a class without routes`,
  }),
  'path-parameter-unused': define<{ name: string; path: string }>({
    severity: 'warning',
    summary: 'A path has a parameter that the handler takes neither by @Param nor through @Req()',
    why: 'The handler cannot see the value, so it answers every value alike. Either a `@Param` is missing, or the handler takes the value from the body, where the caller may have written another one.',
    message: ({ name, path }) => `the handler does not read "${name}" of the path "${path}"`,
    fix: ({ name }) => `take it with \`@Param('${name}') ${name}: string\`, or make the segment a literal one`,
  }),
}
