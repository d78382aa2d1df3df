/** `stack build`: refusals and what was built, to stderr; stdout stays empty (contract 8, 10.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { report } from '../build/emit/report.ts'
import { toJson } from '../build/formats.ts'
import { type BuildResult, build } from '../build/index.ts'
import { render } from '../build/render.ts'
import { authTarget, projectTarget } from '../build/targets.ts'
import { Failure } from './failure.ts'
import { locateProject } from './project.ts'

export interface BuildFlags {
  project?: string
  out?: string
  format: 'text' | 'json'
}

export async function runBuild({ project: named, out, format }: BuildFlags): Promise<void> {
  const { root, project, roles } = locateProject(named)
  const began = performance.now()
  const folder = out === undefined ? undefined : path.resolve(process.env['INIT_CWD'] ?? process.cwd(), out)
  const names = roles.map(({ name }) => name)
  const target = projectTarget(root, project, names, folder)
  const { refusals, built } = await build(target)
  if (format === 'json') for (const refusal of refusals) process.stderr.write(`${JSON.stringify(toJson(refusal))}\n`)
  else if (refusals.length > 0) process.stderr.write(`${renderRefusals(root, refusals)}\n`)
  if (!built) throw new Failure('refused', '')
  const auth = await build(authTarget(path.join(target.out, 'auth')))
  if (!auth.built) throw new Error('the auth module does not build')
  if (format === 'text') process.stderr.write(`${report(built.table, built.files, performance.now() - began)}\n`)
}

export function renderRefusals(root: string, refusals: BuildResult['refusals']): string {
  const sourceOf = (file: string) => {
    try {
      return fs.readFileSync(path.join(root, file), 'utf8')
    } catch {
      return undefined
    }
  }
  return render(refusals, { sourceOf, stream: process.stderr })
}
