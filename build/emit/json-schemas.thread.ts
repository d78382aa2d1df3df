/** Evaluates a project's schemas in a thread. One schema's failure does not affect the others. */

/** A keyword that marks the parts which JSON Schema cannot describe. Its `kind` is the library's word for such a part. */
export const marker = 'x-stack-opaque'

/** A part of a schema that JSON Schema does not describe in full. */
export interface OpaquePart {
  /** The library's word for it. */
  kind: string
  /** The part takes text, so text needs no conversion. */
  isText: boolean
  /** JSON Schema describes the part's type all the same. */
  isDescribed: boolean
}

export interface Answered {
  /** A description of the value, if it is no schema. */
  found?: string
  /** JSON Schema of the input, with markers. */
  input?: string
  /** The library's error, if it gave no JSON Schema. */
  failure?: string
  isOptional: boolean
  /** The type of a value that the schema takes while it refuses that value's text. */
  takes?: string
}

export const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
const { url, progress, uses, converter } = workerData
const at = new Int32Array(progress)
globalThis.stack$at = (index) => Atomics.store(at, 0, index)

const mark = (kind, isText, isDescribed) => ({ ${JSON.stringify(marker)}: { kind, isText, isDescribed } })
const isEmpty = (schema) => Object.keys(schema).length === 0
// zod has no JSON Schema for these types. Its other types are wrappers, which describe their contents.
const opaqueTypes = new Set(['bigint', 'symbol', 'undefined', 'void', 'date', 'map', 'set', 'nan', 'custom', 'transform', 'function', 'promise', 'file', 'literal'])
const ofText = new Set(['custom', 'transform', 'undefined', 'void', 'predicate'])

const zodOptions = {
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    const { type, coerce, in: first } = zodSchema._zod.def
    if (opaqueTypes.has(type) && isEmpty(jsonSchema)) Object.assign(jsonSchema, mark(type, coerce === true || ofText.has(type), false))
    // A function receives the value first, and may take text of any form.
    if (type === 'pipe' && first?._zod.def.type === 'transform') Object.assign(jsonSchema, mark('preprocess', true, true))
  },
}
const arkOptions = {
  fallback: ({ code, base }) => (isEmpty(base) ? { ...base, ...mark(code, ofText.has(code), false) } : base),
}

async function inputOf(schema) {
  const { vendor, jsonSchema } = schema['~standard']
  if (vendor === 'valibot' && !jsonSchema) {
    const { toJsonSchema } = await import(converter)
    return toJsonSchema(schema, {
      target: 'draft-2020-12',
      typeMode: 'input',
      errorMode: 'ignore',
      overrideSchema: ({ valibotSchema: { type }, jsonSchema, errors }) =>
        errors && isEmpty(jsonSchema) ? mark(type, ofText.has(type), false) : undefined,
    })
  }
  const libraryOptions = vendor === 'zod' ? zodOptions : vendor === 'arktype' ? arkOptions : undefined
  return jsonSchema?.input({ target: 'draft-2020-12', libraryOptions })
}

// Values of each kind, with the text that stands for each in a URL.
const samples = [
  ['a number', [1, 0, 10, 100, 1000, -1, 0.5].map((value) => [value, String(value)])],
  ['a boolean', [[true, 'true'], [false, 'false']]],
  ['a bigint', [[1n, '1'], [0n, '0'], [100n, '100']]],
  ['a Date', [[new Date(0), '1970-01-01T00:00:00.000Z'], [new Date(4e12), new Date(4e12).toISOString()]]],
  ['a list', [[['a'], 'a'], [[1], '1']]],
]

/** A validator that needs the network gives no answer here, so it gets 200 ms. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 200).unref())
async function accepts(schema, value) {
  try {
    const result = await Promise.race([schema['~standard'].validate(value), soon()])
    return result ? !result.issues : undefined
  } catch {}
}

async function takesOf(schema) {
  let taken
  for (const [kind, pairs] of samples)
    for (const [value, text] of pairs) {
      if ((await accepts(schema, text)) !== false) return // the schema takes some text, or the answer is not known
      if ((await accepts(schema, value)) === true) taken ??= kind
    }
  return taken
}

function notSchema(value) {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function'
  const standard = isHolder ? value['~standard'] : undefined
  if (typeof standard?.validate === 'function') return
  if (value === undefined || value === null) return String(value)
  if (typeof value === 'function') return /^class\\b/.test(Function.prototype.toString.call(value)) ? 'a class' : 'a function'
  if (typeof value !== 'object') return 'a ' + typeof value
  if (typeof value.then === 'function') return 'a promise'
  if (typeof value.safeParse === 'function') return 'a schema of a library version without Standard Schema'
  return Array.isArray(value) ? 'a list' : 'a plain object'
}

async function answer(thunk, index) {
  Atomics.store(at, 0, -1 - index)
  const schema = thunk()
  const found = notSchema(schema)
  if (found !== undefined) return { found, isOptional: false }
  const isText = uses[index] !== 'Body'
  const answered = { isOptional: isText && (await accepts(schema, undefined)) === true }
  try {
    const made = await inputOf(schema)
    if (made !== undefined) answered.input = JSON.stringify(made)
  } catch (error) {
    answered.failure = String(error?.message ?? error).slice(0, 200)
  }
  if (isText && uses[index] !== 'Query object') answered.takes = await takesOf(schema)
  return answered
}

function failed(error) {
  const reason = error instanceof Error ? error.name + ': ' + error.message : String(error)
  Error.prepareStackTrace = (_, frames) =>
    frames.filter((one) => one.getFileName() === url).map((one) => [one.getLineNumber(), one.getColumnNumber()])
  const frames = error instanceof Error && Array.isArray(error.stack) ? error.stack.slice(0, 20) : []
  parentPort.postMessage({ reason: reason.slice(0, 300), frames })
}

// Keeps the thread alive until all answers are there.
const alive = setInterval(() => {}, 1000)
import(url).then(async ({ schemas }) => {
  const answers = []
  for (const [index, thunk] of schemas.entries()) answers.push(await answer(thunk, index))
  parentPort.postMessage({ answers })
}).catch(failed).finally(() => clearInterval(alive))
`
