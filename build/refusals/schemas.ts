/** Refusals of schemas, and of types that no schema checks. */
import { define } from './definition.ts'

export const schemas = {
  'schema-not-standard': define<{ injector: string; found: string; isWrapped: boolean }>({
    summary: 'An injector is given a value that cannot be a Standard Schema',
    why: 'A schema is a value with the member `~standard`, which checks other values. A literal, an object literal or a class such as a NestJS DTO has no such member, so the runtime could check nothing.',
    message: ({ injector, found }) => `@${injector} takes a Standard Schema here, not ${found}`,
    fix: ({ isWrapped }) =>
      isWrapped
        ? 'pass the schema itself instead of an object that holds it'
        : 'give it a schema of zod, valibot, arktype or any other library that implements Standard Schema',
  }),
  'body-unchecked': define<{ type: string }>({
    severity: 'warning',
    summary: '@Body() has no schema, and its parameter has a type that nothing checks',
    why: 'TypeScript erases types, so the handler gets any JSON that a caller sends. A member that the type promises may be missing or of another type, which ends in a 500 or a wrong row far from here.',
    message: ({ type }) => `this body has the type ${type} and no schema that checks it`,
    fix: () => 'give `@Body(…)` a schema, or type the parameter `unknown` and check the value yourself',
  }),
  'text-typed-otherwise': define<{ injector: string; type: string }>({
    summary: '@Param, @Query or @Header has no schema, and its parameter has a type that text cannot be',
    why: "Paths, queries and headers arrive as text, and without a schema the runtime converts nothing: `'7' + 1` is `'71'`, and the text `'false'` counts as true. TypeScript does not report this, because it does not compare a parameter with its decorator.",
    message: ({ injector, type }) => `@${injector} injects text, and the type of this parameter is ${type}`,
    fix: ({ injector }) => `type it \`string\`, or convert it with a schema: \`@${injector}('…', schema)\``,
  }),
  'schema-value-not-standard': define<{ injector: string; found: string }>({
    summary: 'The expression of a schema has a value that is not a Standard Schema',
    why: 'The build evaluates schemas, and this value has no member `~standard` with a function `validate`. The worker would not start with it.',
    message: ({ injector, found }) =>
      `@${injector.split(' ')[0]} is given ${found} here, which is not a Standard Schema`,
    fix: ({ found }) => notStandardFix(found),
  }),
  'schema-not-evaluated': define<{ reason: string }>({
    severity: 'warning',
    summary: 'The build cannot evaluate the files that hold the schemas',
    why: 'The build evaluates schemas in a thread without environment variables and bindings. Without their values `openapi.json` and `client.d.ts` do not say what requests hold, and numbers, booleans and lists in addresses stay text.',
    message: ({ reason }) => `evaluating the schemas failed here: ${reason}`,
    fix: () => 'move code that needs variables, bindings or the network out of module scope',
  }),
  'schema-partly-unsaid': define<{ unsaid: string }>({
    severity: 'warning',
    summary: 'JSON Schema cannot describe everything that a schema accepts',
    why: 'JSON has no dates, big integers, maps or sets, and JSON Schema cannot describe code. At these places `openapi.json` allows any value and `client.d.ts` has the type `unknown`. The schema itself still checks the value.',
    message: ({ unsaid }) => `JSON Schema cannot describe what this schema accepts: ${unsaid}`,
    fix: () => 'accept text or a number there and convert it, like `z.iso.datetime()` with a transform',
  }),
  'result-partly-unsaid': define<{ handler: string; unsaid: string }>({
    severity: 'warning',
    summary: 'A handler returns values that JSON cannot hold, or a type that the documents cannot describe',
    why: '`JSON.stringify` throws at a big integer, so the answer is 500. `openapi.json` cannot describe a type that grows without end or depends on a type parameter, and `client.d.ts` has the type `unknown` there.',
    message: ({ handler, unsaid }) => `the documents cannot describe what ${handler} returns: ${unsaid}`,
    fix: () => 'return text for big integers, and declare a type without parameters',
  }),
  'text-refused-by-schema': define<{ injector: string; takes: string }>({
    severity: 'warning',
    summary: 'A schema of a path parameter, a query or a header refuses every text',
    why: 'Such values arrive as text. The runtime converts numbers, booleans and lists where the JSON Schema of the schema asks for them. This schema does not ask for them, or accepts a type that no text is converted to, so each request is answered 400.',
    message: ({ takes }) => `this schema accepts ${takes}, and the value arrives as text`,
    fix: () => 'let the schema convert text, like `z.coerce.number()` or `z.coerce.date()`',
  }),
}

function notStandardFix(found: string): string {
  if (found === 'undefined') return 'break the circular import that leaves it undefined, or export the name'
  if (found === 'a function') return 'call the function that makes the schema'
  if (found === 'a promise') return 'await the schema at module scope'
  if (found.startsWith('a schema'))
    return 'update its library: zod 3.24, valibot 1 and arktype 2 are the first versions with Standard Schema'
  return 'give it a schema of zod, valibot, arktype or any other library that implements Standard Schema'
}
