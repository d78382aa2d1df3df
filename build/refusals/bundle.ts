/** Refusals of code that the worker could not load or run. */
import { define } from './definition.ts'

export const bundle = {
  'bundle-failed': define<{ reason: string }>({
    summary: 'The bundler cannot resolve an import, find an export, or compile a file',
    why: 'The worker runs without installed packages: everything that it imports is in the bundle, or is a module of the runtime such as `node:crypto`. A name that its module does not export would be `undefined` at its first use.',
    message: ({ reason }) => `the bundler cannot bundle the project: ${reason}`,
    fix: () => 'install the package, create the file, export the name, or write `node:…` for a module of Node',
  }),
  'io-outside-request': define<{ call: string; where: string }>({
    summary: 'Code opens I/O while a file is loaded or an instance is constructed, outside of any request',
    why: 'On Workers an I/O object belongs to one request. A timer, a socket or an awaited `fetch()` at module scope keeps the worker from starting. An object that a constructor opens belongs to the first request, and the next request gets "Cannot perform I/O on behalf of a different request".',
    message: ({ call, where }) => `\`${call}\` runs ${where}, where no request is being served`,
    fix: () => 'call it inside a handler, once for each request, and use `Database` for the database',
  }),
  'ambient-outside-request': define<{ call: string; where: string }>({
    summary: 'An ambient service, like `Database`, is used while a file is loaded or an instance is constructed',
    why: 'An ambient service acts for the request that is being served, and there is none. `Log` and `Secrets` throw `OutsideRequest`, so the worker does not start, or every request that needs the instance gets 500. A query rejects with the same error, which the code may not notice.',
    message: ({ call, where }) => `\`${call}\` is used ${where}, where no request is being served`,
    fix: () => 'use it inside a handler, or in a function that a handler calls',
  }),
  'eval-in-source': define<{ call: string }>({
    summary: 'A file of the project calls `eval` or `new Function`',
    why: 'The Workers runtime makes no code from strings while it serves a request: the call throws an `EvalError`, and the caller gets 500. Workers may allow it while the worker loads, which hides the error until a handler does the same.',
    message: ({ call }) => `\`${call}\` makes code from text, which the Workers runtime refuses`,
    fix: () => 'write the code as code, or parse the text as data',
  }),
  'eval-in-package': define<{ name: string; size: string }>({
    severity: 'warning',
    summary: 'A package in the bundle calls `eval`',
    why: 'The Workers runtime makes no code from strings while it serves a request, so the call throws an `EvalError`. This is a warning, because the package may never run that call, or may catch the error.',
    message: ({ name, size }) => `the package ${name} (${size} of the bundle) calls \`eval\``,
    fix: () => 'make sure that your code never reaches that call, or use another package',
  }),
  'reflect-metadata-reached': define<{ size: string; importer: string }>({
    severity: 'warning',
    summary: '`reflect-metadata` is in the bundle',
    why: "The package stores metadata, and this build emits none: it erases the SDK's decorators, and the bundler writes no types. The package costs bytes and time at every start, and code that asks it for a type gets `undefined`.",
    message: ({ size, importer }) => `reflect-metadata is in the bundle (${size}), imported by ${importer}`,
    fix: () => 'remove the import, because the bundle has no metadata to read',
  }),
  'bundle-over-budget': define<{ size: string; budget: string; largest: string }>({
    summary: 'The compressed worker is larger than its budget',
    why: 'Every new isolate loads the worker before its first answer, and a host refuses a worker over its limit only at the deploy. The budget is 3 MiB after gzip, unless `bundle_budget_kib` in `stack/project.json` sets another one.',
    message: ({ size, budget, largest }) =>
      `the worker has ${size} compressed, and its budget is ${budget}: its largest parts are ${largest}`,
    fix: () => 'remove a large part, or set `bundle_budget_kib` in stack/project.json to the limit of your plan',
  }),
}
