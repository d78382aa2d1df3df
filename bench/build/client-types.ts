/** Measures the cost of typed clients for a type check: a whole `tsc` process over a small program that calls five routes. */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const packages = path.resolve(import.meta.dirname, '../../node_modules')

/** Number of routes that the checked program calls, because a page of a frontend calls few. */
const calls = 5
/** Number of routes in one file. hono advises an application for each resource, and to combine them by `route()`. */
const routesPerPart = 20

const config = {
  compilerOptions: {
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom'],
    types: [],
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    experimentalDecorators: true,
    paths: { '@stack/backend': [path.join(packages, '../dist/types/src/sdk/index.d.ts')] },
  },
  // Only the files that the five calls reach, as in a frontend.
  files: ['client.ts'],
}

/**
 * @param kind `hc` is hono's client, whose types follow from the application. `flat` is the client that `flatSource` generates.
 * @param routes a multiple of 20.
 * @param flatSource contents by path, of a client and five calls; required for `flat`.
 * @returns milliseconds of the process.
 * @throws Error with what tsc printed, when a type is wrong.
 */
export function checkTime(
  kind: 'hc' | 'flat',
  routes: number,
  flatSource?: (routes: number) => Record<string, string>,
): number {
  const sources = kind === 'hc' ? hcSource(routes) : flatSource?.(routes)
  if (!sources) throw new TypeError('a flat client comes from its source: give one')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-types-'))
  try {
    fs.symlinkSync(packages, path.join(folder, 'node_modules'), 'junction')
    for (const [name, contents] of Object.entries({ ...sources, 'tsconfig.json': JSON.stringify(config) })) {
      const file = path.join(folder, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, contents)
    }
    const tsc = path.join(packages, 'typescript/bin/tsc')
    const began = performance.now()
    const { status, stdout, stderr, error } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', folder], {
      encoding: 'utf8',
    })
    const elapsed = performance.now() - began
    if (error) throw error
    if (status !== 0) throw new Error(`tsc ended with ${status}\n${stdout}${stderr}`.trim())
    return elapsed
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The application in parts, and a client that calls routes of five parts. */
function hcSource(routes: number): Record<string, string> {
  if (routes % routesPerPart !== 0) throw new RangeError(`${routes} routes: give a multiple of ${routesPerPart}`)
  const parts = Array.from({ length: routes / routesPerPart }, (_, index) => index)
  const sources: Record<string, string> = {}
  for (const part of parts) sources[`part-${part}.ts`] = partSource(part)
  sources['app.ts'] = `import { Hono } from 'hono'
${parts.map((part) => `import { part${part} } from './part-${part}.ts'`).join('\n')}

const app = new Hono()
${parts.map((part) => `  .route('/part-${part}', part${part})`).join('\n')}

export type App = typeof app
`
  sources['client.ts'] = `import { hc } from 'hono/client'
import type { App } from './app.ts'

const client = hc<App>('http://127.0.0.1')

${Array.from({ length: calls }, (_, call) => callSource(call, Math.floor((call * parts.length) / calls))).join('\n')}`
  return sources
}

/** Four routes of each of five resources. */
function partSource(part: number): string {
  const routes = Array.from({ length: routesPerPart / 4 }, (_, index) => {
    const resource = `resource-${index}`
    const row = `{ id: c.req.param('id'), name: '${resource}', total: ${index + 1}, tags: ['new'] }`
    return `  .get('/${resource}', (c) => c.json([{ id: '1', name: '${resource}', total: ${index + 1}, tags: ['new'] }]))
  .post('/${resource}', (c) => c.json({ id: '1', name: '${resource}', status: 'open' as const }, 201))
  .get('/${resource}/:id', (c) => c.json(${row}))
  .delete('/${resource}/:id', (c) => c.json({ removed: c.req.param('id') }))
`
  })
  return `import { Hono } from 'hono'

export const part${part} = new Hono()
${routes.join('')}`
}

/** The annotations prove that the types are right. A client that returns `any` or `never` would be quick to check. */
function callSource(call: number, part: number): string {
  return `const answer${call} = await client['part-${part}']['resource-${call}'][':id'].$get({ param: { id: '1' } })
const row${call}: { id: string; name: string; total: number; tags: string[] } = await answer${call}.json()
// @ts-expect-error a total is no text
export const total${call}: string = row${call}.total
// @ts-expect-error there is no such field
export const nothing${call} = (await answer${call}.json()).nothing
`
}
