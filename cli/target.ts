/** Which stack a command is about, and what opens it (contract 10.3, 10.4). */
import path from 'node:path'
import { readRecord } from '../local/record.ts'
import { isLoopback } from '../src/wire/loopback.ts'
import { nearest } from '../src/wire/nearest.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { Failure } from './failure.ts'
import { locateProject } from './project.ts'

export interface Target {
  /** `shop/staging`: what stands before everything that is done to it. */
  name: string
  /** Without a slash at its end. */
  baseUrl: string
  credential: { apikey: string } | { authorization: string }
}

/** @param flags.env an environment of `stack/project.json`; absent: the local stack. @throws Failure */
export async function locateTarget(flags: { project?: string; env?: string }): Promise<Target> {
  const { root, project } = locateProject(flags.project)
  const { environments } = project
  if (flags.env !== undefined) {
    const environment = Object.hasOwn(environments, flags.env) ? environments[flags.env] : undefined
    if (!environment)
      throw new Failure('no stack', `there is no environment "${flags.env}"${known(environments, flags.env)}`)
    requirePlain(environment.url, flags.env)
    requireHttps(environment.url)
    const baseUrl = environment.url.replace(/\/+$/, '')
    return { name: `${project.project}/${flags.env}`, baseUrl, credential: ofEnvironment(flags.env) }
  }
  const found = await readRecord(path.join(root, projectPaths.localRecord))
  if (found && !found.isLive) {
    process.stderr.write(
      `the record of process ${found.record.pid} is left over: that stack is gone, and the record is ignored\n`,
    )
  }
  if (!found?.isLive) {
    throw new Failure('no stack', `no stack of this project runs here: \`stack start\` runs one${known(environments)}`)
  }
  const { base_url, service_role_key } = found.record
  return { name: `${project.project}/local`, baseUrl: base_url, credential: given() ?? { apikey: service_role_key } }
}

function known(environments: Record<string, unknown>, wanted = ''): string {
  const names = Object.keys(environments)
  if (names.length === 0) return wanted ? ': stack/project.json names none' : ''
  const near = nearest(wanted, names)
  return near ? `: did you mean ${near}?` : `; --env names another: ${names.join(', ')}`
}

function ofEnvironment(name: string): Target['credential'] {
  const credential = given()
  if (credential) return credential
  throw new Failure('unauthorized', `no credential for ${name}: set STACK_SERVICE_ROLE_KEY or STACK_ACCESS_TOKEN`)
}

function given(): Target['credential'] | undefined {
  const key = fromEnvironment('STACK_SERVICE_ROLE_KEY')
  if (key) return { apikey: key }
  const token = fromEnvironment('STACK_ACCESS_TOKEN')
  return token ? { authorization: `Bearer ${token}` } : undefined
}

/** What no header can hold, fetch would print. */
function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim()
  if (value && !/^[!-~]+$/.test(value)) throw new Failure('usage', `${name} holds a character that no credential has`)
  return value
}

/** A path goes after it; and what it holds beside, such as a password, would be sent or printed. */
function requirePlain(url: string, name: string): void {
  const { username, password } = new URL(url)
  if (username || password || /[?#]/.test(url))
    throw new Failure('usage', `the url of ${name} must be an address alone: without a password, a ? or a #`)
}

/** A credential must not travel where everybody can read it. */
function requireHttps(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return
  throw new Failure('usage', `${url} is not https: the credential would travel in the clear`)
}
