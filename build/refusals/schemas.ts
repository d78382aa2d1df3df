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
}
