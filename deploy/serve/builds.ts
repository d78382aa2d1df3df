/** The bundles that are served: built for production, or found where an earlier build left them. */
import * as fs from 'node:fs'
import path from 'node:path'
import { buildCached } from '../../build/cached.ts'
import { finishRenames } from '../../build/emit/journal.ts'
import type { BuildResult } from '../../build/options.ts'
import { authTarget, projectTarget } from '../../build/targets.ts'
import { stackFiles } from '../../local/files.ts'
import type { DeclaredRole, Project } from '../../src/wire/project.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import type { Bundles } from './generations.ts'

/** The project does not build. */
export class BuildRefused extends Error {
  override name = 'BuildRefused'
  readonly result: BuildResult

  constructor(result: BuildResult) {
    super('the project was refused')
    this.result = result
  }
}

export interface BuildInput {
  root: string
  project: Project
  roles: readonly DeclaredRole[]
  /** The folder of a build, as `stack build --out` leaves it. Without it the project is built. */
  built: string | undefined
}

/** @throws BuildRefused, or an Error for a folder that holds no build. */
export async function bundlesOf({ root, project, roles, built }: BuildInput): Promise<Bundles> {
  if (built !== undefined) {
    requireBuild(built)
    const auth = path.join(built, 'auth/out')
    if (fs.existsSync(path.join(auth, 'worker.js'))) return { backend: path.join(built, 'out'), auth }
  }
  const auth = path.join(root, projectPaths.generated, 'auth') // the folder of `stack start` holds one with debug devices
  const [backend, module] = await Promise.all([
    built === undefined ? buildCached(projectTarget(root, project, roles)) : undefined,
    buildCached(authTarget(auth)),
  ])
  if (backend && !backend.built) throw new BuildRefused(backend)
  if (!module.built) throw new BuildRefused(module)
  return {
    backend: built === undefined ? stackFiles(root).backend : path.join(built, 'out'),
    auth: path.join(auth, 'out'),
  }
}

/**
 * Finishes a build that was killed while it put its files in place.
 *
 * @param built a folder that `stack build --out` has written. @throws Error with that command where a file of it is missing.
 */
export function requireBuild(built: string): void {
  for (const folder of [built, path.join(built, 'auth')]) finishRenames(folder)
  for (const file of [path.join(built, 'out/worker.js'), path.join(built, 'table.json')]) {
    if (!fs.existsSync(file)) throw new Error(`${file} is missing: \`stack build --out ${built}\` writes it`)
  }
}
