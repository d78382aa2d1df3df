/**
 * Makes `src/wire/operations.ts` and `docs/auth-openapi.json` of the auth module's route table, so that no path of it is typed
 * twice. `--check` only compares.
 */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { RecordedAnswers } from '../build/emit/openapi-answers.ts'
import { build } from '../build/index.ts'
import { authTarget } from '../build/targets.ts'
import type { Route } from '../runtime/table.ts'

const root = path.resolve(import.meta.dirname, '..')

/** One line for each operation: a changed route is one line of a diff. */
export function operationsText(routes: readonly Pick<Route, 'method' | 'path' | 'file' | 'handler'>[]): string {
  const features = Map.groupBy(routes, ({ file }) => path.posix.dirname(file))
  const parts = [...features].sort().map(([feature, own]) => {
    const lines = own.map(({ handler, method, path }) => `  ${handler}: { method: '${method}', path: '${path}' },\n`)
    return `export const ${feature} = {\n${lines.join('')}} as const\n`
  })
  return `/**
 * Method and path of each operation of the auth module, by its feature and the name of its handler. Generated from the module's
 * route table by \`npm run docs\`: edit the routes in \`src/auth\`, never this file.
 */

${parts.join('\n')}`
}

/** The answers that `test/edge/auth/answers.test.ts` has recorded of a running stack, and compares with each run. */
function recordedAnswers(): RecordedAnswers {
  const file = path.join(root, 'docs/auth-answers.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
}

async function generated(): Promise<{ file: string; text: string }[]> {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-operations-'))
  try {
    const project = { name: 'The auth module', roles: [], answers: recordedAnswers() }
    const { built, refusals } = await build({ ...authTarget(out), project })
    if (!built) throw new Error(`the auth module is refused: ${refusals.map(({ message }) => message).join(', ')}`)
    return [
      { file: 'src/wire/operations.ts', text: operationsText(built.table.routes) },
      { file: 'docs/auth-openapi.json', text: fs.readFileSync(path.join(out, 'openapi.json'), 'utf8') },
    ]
  } finally {
    fs.rmSync(out, { recursive: true, force: true })
  }
}

const isCheck = process.argv.includes('--check')
for (const { file, text } of await generated()) {
  const target = path.join(root, file)
  const before = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : undefined
  if (before === text) continue
  if (isCheck) {
    console.error(`${file} is not what the routes of src/auth declare: run \`npm run docs\``)
    process.exitCode = 1
  } else {
    fs.writeFileSync(target, text)
    console.log(`wrote ${file}`)
  }
}
