/** `stack link [<ref>]`: records an environment, and writes the snapshots of its public clients (contract 10.6). */
import { addEnvironment, addressOf } from '../environments/create.ts'
import { Failure } from '../shared/failure.ts'
import { announce } from '../shared/management.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { chooseStack, locateTarget, type TargetFlags } from '../shared/target.ts'
import { generate, hasSomethingToLink } from './generate.ts'
import type { Change } from './snapshot.ts'

export interface LinkFlags extends TargetFlags {
  name?: string
  url?: string
  verifyAndroid?: string
}

export async function runLink(flags: LinkFlags, ref: string | undefined): Promise<void> {
  const environment = ref === undefined ? environmentOf(flags) : record(flags, ref)
  const named = { ...flags, ...(environment === undefined ? {} : { env: environment }) }
  const choice = await chooseStack(named)
  let snapshots: Change[] = []
  if (hasSomethingToLink(choice)) {
    const target = await locateTarget(named)
    announce(target)
    snapshots = await generate(target)
  }
  await printJson({
    project: choice.project.project,
    environment: choice.environment,
    ref: choice.ref,
    base_url: choice.baseUrl,
    snapshots,
  })
}

function environmentOf({ env, name, url }: LinkFlags): string | undefined {
  if (name !== undefined || url !== undefined)
    throw new Failure('usage', `${name === undefined ? '--url' : '--name'} goes with the ref of an environment`)
  return env
}

/** @returns the name of the environment with the ref, which is added to `stack/project.json` where it is not there. */
function record({ project, env, name, url }: LinkFlags, ref: string): string {
  if (env !== undefined) throw new Failure('usage', 'a ref and --env both name the environment: give one of them')
  if (!/^[a-z0-9]{8}m$/.test(ref))
    throw new Failure('usage', `"${ref}" is no ref: it has eight characters of [a-z0-9], then m`)
  const located = locateProject(project)
  const known = Object.entries(located.project.environments).find(([, one]) => one.ref === ref)
  if (!known) {
    const added = name ?? ref
    addEnvironment(located, added, { ref, url: url ?? addressOf(ref, located.project) })
    process.stderr.write(`  ${added} is recorded in stack/project.json\n`)
    return added
  }
  const [recorded, { url: address }] = known
  if (name !== undefined && name !== recorded)
    throw new Failure('usage', `${ref} is the environment "${recorded}" already: rename it in stack/project.json`)
  if (url !== undefined && url !== address)
    throw new Failure('usage', `the url of ${ref} is ${address} already: change it in stack/project.json`)
  return recorded
}
