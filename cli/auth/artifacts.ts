/** The snapshots of `stack link`, kept up to date by the verbs that change clients (contract 10.6). */
import * as fs from 'node:fs'
import path from 'node:path'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { Failure } from '../shared/failure.ts'
import type { Target } from '../shared/target.ts'

/**
 * Writes the snapshots that exist anew, where they are of this stack. The stack has accepted the change already.
 *
 * @throws Failure that says both, where the files cannot be made.
 */
export async function refreshArtifacts(target: Target): Promise<void> {
  if (!fs.existsSync(path.join(target.root, projectPaths.oauth))) return
  const { platforms, readSnapshot } = await import('../link/snapshot.ts')
  const { generate } = await import('../link/generate.ts')
  try {
    const linked = platforms.filter((platform) => readSnapshot(target.root, platform)?.ref === target.ref)
    if (linked.length === 0) return
    for (const { file, change } of await generate(target, linked))
      if (change !== 'unchanged') process.stderr.write(`  ${file} is ${change}\n`)
  } catch (error) {
    const { message } = error as Error
    throw new Failure(
      'refused',
      `the stack has the change, but the files of stack/oauth could not be made anew:\n${message}\nRun \`stack link\` again when this is mended`,
    )
  }
}
