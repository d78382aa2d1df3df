/** The stack that a command is about, and the credential for it (contract 10.3, 10.4). */
import { isLoopback } from '../../src/wire/loopback.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { Failure } from './failure.ts'
import { runningStack } from './local-stack.ts'
import { locateProject } from './project.ts'

export interface Target {
  /** Printed before each call, like `shop/staging`. */
  name: string
  /** Has no slash at its end. */
  baseUrl: string
  credential: { apikey: string } | { authorization: string }
}

export interface TargetFlags {
  project?: string
  /** An environment of `stack/project.json`. The default is the local stack. */
  env?: string
}

/** @throws Failure for an unknown environment, an unsafe URL, a missing credential, or while no local stack runs. */
export async function locateTarget(flags: TargetFlags): Promise<Target> {
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
  const { base_url, service_role_key } = await runningStack(root, known(environments))
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

/** Refuses a value that no header can hold, because the error of `fetch` would print it. */
function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim()
  if (value && !/^[!-~]+$/.test(value)) throw new Failure('usage', `${name} holds a character that no credential has`)
  return value
}

/** Refuses a URL with more than an address: a path is appended to it, and a password would be sent or printed. */
function requirePlain(url: string, name: string): void {
  const { username, password } = new URL(url)
  if (username || password || /[?#]/.test(url))
    throw new Failure('usage', `the url of ${name} must be an address alone: without a password, a ? or a #`)
}

/** Refuses a URL over which a credential would travel unencrypted through a network. */
function requireHttps(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return
  throw new Failure('usage', `${url} is not https: the credential would be sent unencrypted`)
}
