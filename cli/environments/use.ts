/** `stack env use <name>`: chooses the environment of this checkout (contract 10.3). */
import { nearest } from '../../src/wire/nearest.ts'
import { Failure } from '../shared/failure.ts'
import { liveRecord } from '../shared/local-stack.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { writeSelection } from '../shared/selection.ts'

export async function runUse(flags: { project?: string }, name: string): Promise<void> {
  const { root, project } = locateProject(flags.project)
  const isDeclared = Object.hasOwn(project.environments, name)
  if (!isDeclared && name !== 'local') {
    const names = Object.keys(project.environments)
    const near = nearest(name, names)
    const rest = near ? `did you mean ${near}?` : `the environments are ${['local', ...names].join(', ')}`
    throw new Failure('no stack', `there is no environment "${name}": ${rest}`)
  }
  writeSelection(root, isDeclared ? name : undefined)
  await printJson({ project: project.project, environment: name })
  if (isDeclared && (await liveRecord(root)))
    process.stderr.write(`  while the local stack runs, commands are about it: --env ${name} names this one\n`)
}
