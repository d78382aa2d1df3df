/** Refusals of paths, routes and handlers. */
import { define, didYouMean } from './definition.ts'

export const routes = {
  'path-malformed': define<{ path: string; reason: string }>({
    summary: 'A path holds what is neither a literal segment nor a parameter, or one parameter twice',
    why: 'A request is matched segment by segment, with literal text or with a whole parameter. A wildcard or a query would be taken literally, and a pattern would check nothing; of two parameters with one name, the first value would be lost.',
    message: ({ path, reason }) => `the path "${path}" is malformed: ${reason}`,
    fix: () =>
      'a path is made of segments like `orders` and parameters like `:id`, each name once, separated by single slashes',
  }),
  'path-reserved': define<{ path: string; reserved: string; owner: string }>({
    summary: 'A path lies at or below one that the webhook receiver or the auth worker answers',
    why: 'What begins with `/webhooks` goes to the receiver before any route is looked up, and the paths of the auth worker go to that worker. The handler would never be called, and the caller would get an answer of somebody else.',
    message: ({ path, reserved, owner }) => `the path "${path}" lies under ${reserved}, where ${owner} answers`,
    fix: ({ path }) => `choose another first segment, for example "/api${path}"`,
  }),
  'route-twice': define<{ route: string }>({
    summary: 'Two handlers declare the same method and path',
    why: 'A request has one handler. In the table the later one would replace the earlier, whose code and gate would never be reached.',
    message: ({ route }) => `the route ${route} is declared twice`,
    fix: () => 'remove one of them, or change its path or method',
  }),
  'route-ambiguous': define<{ route: string; other: string }>({
    summary: "Two routes with the same method differ in a path parameter's name alone",
    why: 'A request carries the value and not the name, so both match the same requests. The later one would replace the earlier, whose code and gate would never be reached.',
    message: ({ route, other }) => `no request can tell ${route} from ${other}: only the parameter's name differs`,
    fix: () => 'give them different methods, or different literal segments',
  }),
  'parameter-without-injector': define<{ name: string }>({
    summary: "A parameter of a route's handler has no injector",
    why: 'The runtime hands over what the injectors name and nothing else: the parameter would be `undefined` on every request, whatever its type says.',
    message: ({ name }) => `the handler's parameter ${name} has no injector, so it would always be undefined`,
    fix: () =>
      'say what it receives: @Param, @Query, @Header, @Body, @Req, @User, @OptionalUser, @RequestId or @TraceId',
  }),
  'parameter-with-two-injectors': define<{ name: string }>({
    summary: 'A parameter of a handler has two different injectors',
    why: 'A parameter receives one value. Only the first injector would be read, and code that was written for the other would get the wrong one.',
    message: ({ name }) => `the handler's parameter ${name} has more than one injector`,
    fix: () => 'keep one',
  }),
  'path-parameter-unknown': define<{ name: string; path: string; near: string | undefined }>({
    summary: '@Param names a parameter that the path of the route does not have',
    why: 'The parameter would be `undefined` on every request, although its type says that it is text: what is looked up by it would not be found, or fail.',
    message: ({ name, path, near }) => `the path "${path}" has no parameter "${name}"${didYouMean(near)}`,
    fix: ({ name, near }) => (near ? `write \`@Param('${near}')\`` : `add \`:${name}\` to the path`),
  }),
  'body-on-bodyless-route': define<{ method: string }>({
    summary: 'A handler of a GET or DELETE route takes @Body()',
    why: '`@Body()` requires a JSON body. `fetch` sends none with a GET, and for a DELETE HTTP gives it no meaning, so the route would answer 400 to callers that did nothing wrong.',
    message: ({ method }) =>
      `@Body() on a ${method} route: what a body means there is not defined, and it may be lost on the way`,
    fix: () => "use `@Query('…')`, or another method",
  }),
  'body-twice': define<object>({
    summary: 'A handler takes @Body() twice',
    why: 'A request has one body, which is parsed once: both parameters would receive the same value, so one of two different types would be untrue.',
    message: () => 'this handler takes the body twice',
    fix: () => 'keep one @Body()',
  }),
  'routes-inherited': define<{ name: string; base: string }>({
    summary: 'A class with @Controller extends a class that has routes of its own',
    why: 'Routes are read from the class that declares them and from no other. Below the path of the subclass the inherited ones would answer 404, although its instance has their methods.',
    message: ({ name, base }) => `${name} extends ${base}, whose routes would not be served under ${name}`,
    fix: ({ name }) => `declare them in ${name}, and move what they share into a class without routes`,
  }),
  'path-parameter-unused': define<{ name: string; path: string }>({
    severity: 'warning',
    summary: 'A path has a parameter that the handler takes neither by @Param nor through @Req()',
    why: 'The handler cannot see the value, so it treats every value alike. Mostly a `@Param` was forgotten, or what it should name is taken from the body, where the caller may have put another one.',
    message: ({ name, path }) => `the handler does not read "${name}" of the path "${path}"`,
    fix: ({ name }) => `take it with \`@Param('${name}') ${name}: string\`, or make the segment a literal one`,
  }),
}
