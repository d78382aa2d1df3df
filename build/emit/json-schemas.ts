/**
 * JSON Schemas of the schemas that a project gives its handlers, where their library offers them (Standard JSON Schema,
 * standardschema.dev). They are values of the project's code, so that code is evaluated: bundled by itself, in a thread
 * that has nothing of this process's environment, and a few seconds.
 */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import { projectSources } from './bundle.ts'
import { schemaName } from './schemas.ts'

/** By the schema's index in the table; `undefined` where its library does not say. */
export type JsonSchemas = (Record<string, unknown> | undefined)[]

const limitMs = 5_000

/** What the thread runs: answers the schemas as JSON, one by one, whatever the others do. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData).then(({ schemas }) => {
  parentPort.postMessage(schemas.map((schema) => {
    try {
      return JSON.stringify(schema()['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }))
    } catch {}
  }))
}, () => parentPort.postMessage([]))`

const known = new Map<string, JsonSchemas>()

export async function readJsonSchemas(
  linked: Linked,
  { root, packageRoot, program }: { root: string; packageRoot: string; program: Program },
): Promise<JsonSchemas> {
  const { schemas } = linked
  if (schemas.length === 0) return []
  const imports = schemas.map(
    ({ place }, index) =>
      `import { ${schemaName(index)} as schema${index} } from ${JSON.stringify(path.join(root, place.file))}`,
  )
  const contents = [
    ...imports,
    `export const schemas = [${schemas.map((_, index) => `schema${index}`).join(', ')}]`,
  ].join('\n')
  const sdk = path.join(packageRoot, 'src/sdk/index.ts')
  try {
    const { build } = await import('esbuild')
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root, loader: 'js' },
      absWorkingDir: root,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'import'],
      external: ['node:*', 'cloudflare:*'],
      loader: { '.wasm': 'empty' },
      logLevel: 'silent',
      plugins: [projectSources(program, sdk, () => schemas, new Map())],
    })
    const { text } = outputFiles[0]!
    const found = known.get(text) ?? (await evaluate(text))
    known.clear() // the last one is enough: a watch asks for the same again and again
    known.set(text, found)
    return found
  } catch {
    return [] // the worker's own bundle was made, and its failures are refusals: here there is only less to describe
  }
}

function evaluate(text: string): Promise<JsonSchemas> {
  const url = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
  const thread = new Worker(threadSource, { eval: true, workerData: url, env: {}, stdout: true, stderr: true })
  return new Promise((resolve) => {
    const end = (found: JsonSchemas) => {
      clearTimeout(timer)
      thread.terminate()
      resolve(found)
    }
    const timer = setTimeout(() => end([]), limitMs)
    thread.once('error', () => end([]))
    thread.once('exit', () => end([]))
    thread.once('message', (answers: (string | undefined)[]) => {
      end(answers.map((answer) => (answer === undefined ? undefined : JSON.parse(answer))))
    })
  })
}
