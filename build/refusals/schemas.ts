/** Refusals of what checks a request's data. */
import { define } from './definition.ts'

export const schemas = {
  'schema-not-standard': define<{ injector: string; found: string; isWrapped: boolean }>({
    summary: 'An injector is given a value that cannot be a Standard Schema',
    why: 'A schema is a value with the member `~standard`, which does the checking. A literal, an object literal or a class such as a NestJS DTO has none: nothing could be checked, although the parameter reads as if it were.',
    message: ({ injector, found }) => `@${injector} takes a Standard Schema here, not ${found}`,
    fix: ({ isWrapped }) =>
      isWrapped
        ? 'pass the schema itself, not an object that holds it'
        : 'give it a schema of zod, valibot, arktype or any other library that implements Standard Schema',
  }),
  'body-unchecked': define<{ type: string }>({
    severity: 'warning',
    summary: '@Body() has no schema, and its parameter has a type that nothing checks',
    why: 'Types are erased: the handler gets whatever JSON the caller sends. What the type promises may be missing or of another kind, and shows as a 500 or as a wrong row, far from here.',
    message: ({ type }) => `nothing checks this body against its type ${type}`,
    fix: () => 'give `@Body(…)` a schema, or type the parameter `unknown` and check it yourself',
  }),
  'text-typed-otherwise': define<{ injector: string; type: string }>({
    summary: '@Param, @Query or @Header has no schema, and its parameter has a type that text cannot be',
    why: "What stands in a path, a query or a header arrives as text, and nothing converts it: `'7' + 1` is `'71'`, and the text `'false'` counts as true. TypeScript does not say so, because it does not compare a parameter with its decorator.",
    message: ({ injector, type }) => `@${injector} gives text, and this parameter is typed ${type}`,
    fix: ({ injector }) => `type it \`string\`, or convert it with a schema: \`@${injector}('…', schema)\``,
  }),
  'schema-value-not-standard': define<{ injector: string; found: string }>({
    summary: 'The expression of a schema gives a value that is no Standard Schema',
    why: 'The build evaluates schemas, and this one has no member `~standard` with a function `validate`. The worker would not start with it.',
    message: ({ injector, found }) => `@${injector.split(' ')[0]} is given ${found} here, which is no Standard Schema`,
    fix: ({ found }) => notStandardFix(found),
  }),
  'schema-not-evaluated': define<{ reason: string }>({
    severity: 'warning',
    summary: 'The files that the schemas stand in cannot be evaluated at build',
    why: 'The build evaluates schemas in a thread without environment variables and bindings. Without their values `openapi.json` and `client.d.ts` do not say what requests hold, and numbers, booleans and lists in addresses stay text.',
    message: ({ reason }) => `evaluating the schemas failed here: ${reason}`,
    fix: () => 'move what needs variables, bindings or the network out of module scope',
  }),
  'schema-partly-unsaid': define<{ unsaid: string }>({
    severity: 'warning',
    summary: 'JSON Schema cannot say all that a schema takes',
    why: 'JSON has no dates, big integers, maps or sets, and JSON Schema says nothing of code. At these places `openapi.json` allows anything and `client.d.ts` has the type `unknown`; the schema itself still checks them.',
    message: ({ unsaid }) => `JSON Schema cannot say what this schema takes: ${unsaid}`,
    fix: () => 'take text or a number there and convert it, like `z.iso.datetime()` with a transform',
  }),
  'result-partly-unsaid': define<{ handler: string; unsaid: string }>({
    severity: 'warning',
    summary: 'A handler gives back values that JSON cannot hold, or whose type cannot be written down',
    why: '`JSON.stringify` throws at a big integer, so that the answer is 500. A type that grows without end, or depends on a type parameter, has no place in `openapi.json` and is `unknown` in `client.d.ts`.',
    message: ({ handler, unsaid }) => `the documents cannot say what ${handler} gives back: ${unsaid}`,
    fix: () => 'give back text for big integers, and declare a type without parameters',
  }),
  'text-refused-by-schema': define<{ injector: string; takes: string }>({
    severity: 'warning',
    summary: 'A schema of a path parameter, a query or a header refuses every text',
    why: 'What stands there arrives as text. The build converts numbers, booleans and lists where the schema says as JSON Schema that it takes them. This one does not say so, or takes what no text is converted to: each request is answered 400.',
    message: ({ takes }) => `this schema takes ${takes}, and what arrives is text`,
    fix: () => 'let the schema convert text: `z.coerce.number()`, `z.coerce.date()`',
  }),
}

function notStandardFix(found: string): string {
  if (found === 'undefined') return 'break the circular import that leaves it undefined, or export what it names'
  if (found === 'a function') return 'call the function that makes the schema'
  if (found === 'a promise') return 'await the schema at module scope'
  if (found.startsWith('a schema')) return 'update its library: zod 3.24, valibot 1 and arktype 2 are the first'
  return 'give it a schema of zod, valibot, arktype or any other library that implements Standard Schema'
}
