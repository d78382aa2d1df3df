/** Refusals of what the bundle would hold or do. */
import { define } from './definition.ts'

export const bundle = {
  'io-outside-request': define<{ call: string; where: string }>({
    summary: 'I/O is opened while a file is loaded or an instance is built, outside of any request',
    why: 'On Workers an I/O object belongs to one request. While the worker loads, a timer, a socket or an awaited `fetch()` keeps it from starting; what a constructor opens belongs to the request that built the instance, and the next one gets "Cannot perform I/O on behalf of a different request".',
    message: ({ call, where }) => `\`${call}\` runs ${where}, where no request is being served`,
    fix: () => 'do it inside a handler, for each request anew; for the database there is `Database`',
  }),
  'ambient-outside-request': define<{ call: string; where: string }>({
    summary: '`Database`, `Log` or `Secrets` is used while a file is loaded or an instance is built',
    why: 'No request is being served then, so these have none to act for. `Log` and `Secrets` throw `OutsideRequest`: the worker does not start, or every request that needs the instance gets 500. A query rejects with it, which nobody may notice.',
    message: ({ call, where }) => `\`${call}\` is used ${where}, where no request is being served`,
    fix: () => 'use it inside a handler, or in what a handler calls',
  }),
  'eval-in-source': define<{ call: string }>({
    summary: 'A file of the project calls `eval` or `new Function`',
    why: 'The Workers runtime makes no code from strings while it serves a request: the call throws an `EvalError`, and the caller gets 500. That it may be allowed while the worker loads hides this until a handler does it.',
    message: ({ call }) => `\`${call}\` makes code from text, which the Workers runtime refuses`,
    fix: () => 'write the code as code, or parse the text as data',
  }),
  'eval-in-package': define<{ name: string; size: string }>({
    severity: 'warning',
    summary: 'A package in the bundle calls `eval`',
    why: 'The Workers runtime makes no code from strings while it serves a request: a call that is reached throws an `EvalError`. This is a warning because a package may never get there, or catch the error and do without.',
    message: ({ name, size }) => `the package ${name} (${size} of the bundle) calls \`eval\``,
    fix: () => 'make sure that what you use of it never gets there, or use another package',
  }),
  'reflect-metadata-reached': define<{ size: string; importer: string }>({
    severity: 'warning',
    summary: '`reflect-metadata` is in the bundle',
    why: "It adds a store for metadata that nothing here emits: the SDK's decorators are erased, and the bundler writes no types. It costs bytes and time at every start, and whoever asks it for a type gets `undefined`.",
    message: ({ size, importer }) => `reflect-metadata is in the bundle (${size}), imported by ${importer}`,
    fix: () => 'remove the import: nothing emits the metadata that it would read',
  }),
  'bundle-over-budget': define<{ size: string; budget: string; largest: string }>({
    summary: 'The compressed worker is larger than its budget',
    why: 'Every new isolate loads the worker before its first answer, and a host refuses one above its limit, which would show only at the deploy. The budget is 3 MiB of gzip unless `bundle_budget_kib` in `stack/project.json` sets another.',
    message: ({ size, budget, largest }) =>
      `the worker has ${size} compressed, and its budget is ${budget}; the largest parts: ${largest}`,
    fix: () => 'leave out what is too large, or set `bundle_budget_kib` in stack/project.json to what your plan takes',
  }),
}
