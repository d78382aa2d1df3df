/** `stack env create <name>`: an environment with a new ref in `stack/project.json` (contract 1.4, 10.3). */
import { randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import type { Project } from '../../src/wire/project.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { Failure } from '../shared/failure.ts'
import { printJson } from '../shared/output.ts'
import { type LocatedProject, locateProject } from '../shared/project.ts'
import { requireHttps } from '../shared/target.ts'

export interface CreateFlags {
  project?: string
  url?: string
}

export async function runCreate(flags: CreateFlags, name: string): Promise<void> {
  const located = locateProject(flags.project)
  const ref = mintRef()
  const environment = { ref, url: flags.url ?? addressOf(ref, located.project) }
  addEnvironment(located, name, environment)
  await printJson({ name, ...environment })
}

/** Eight of `[a-z0-9]`, then `m`. A ref carries no part of the project's name. */
export function mintRef(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
  return `${Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('')}m`
}

/** The address below the domain that every other environment has. @throws Failure where there is no such domain. */
export function addressOf(ref: string, { environments }: Project): string {
  const domains = new Set<string | undefined>()
  for (const { ref: other, url } of Object.values(environments)) {
    const { hostname } = new URL(url)
    domains.add(hostname.startsWith(`${other}.`) ? hostname.slice(other.length + 1) : undefined)
  }
  const [domain, ...others] = domains
  if (domain === undefined || others.length > 0)
    throw new Failure('usage', 'the domain of the stack is not known: give the whole address by --url')
  return `https://${ref}.${domain}`
}

/** @throws Failure for a name that is taken or has another form, and for an address that no credential may be sent to. */
export function addEnvironment(
  { root, project }: LocatedProject,
  name: string,
  environment: { ref: string; url: string },
): void {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new Failure(
      'usage',
      `the name of an environment has 1 to 63 lowercase letters, digits and dashes, not "${name}"`,
    )
  if (name === 'local') throw new Failure('usage', '"local" names the stack that runs on this machine')
  const taken = Object.hasOwn(project.environments, name) ? project.environments[name] : undefined
  if (taken) throw new Failure('usage', `the environment "${name}" exists already: its ref is ${taken.ref}`)
  if (!URL.canParse(environment.url) || /[?#]/.test(environment.url))
    throw new Failure('usage', `--url takes an address like https://staging.shop.example, not "${environment.url}"`)
  requireHttps(environment.url)
  const file = path.join(root, projectPaths.project)
  const text = fs.readFileSync(file, 'utf8')
  const document = JSON.parse(text) as { environments?: Record<string, unknown> }
  const next = { ...document, environments: { ...document.environments, [name]: environment } }
  const [, indent = '  '] = /^\{\r?\n([ \t]+)"/.exec(text) ?? []
  writeWhole(file, `${JSON.stringify(next, undefined, indent)}\n`)
}
