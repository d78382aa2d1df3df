/** The stack that a command is about, and the credential for it (contract 10.3, 10.4). */
import type { LocalRecord } from '../../local/record.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { isPrivateHost } from '../../src/wire/network.ts'
import { readCredentials, type StoredCredential } from './credentials.ts'
import { Failure } from './failure.ts'
import { liveRecord, runningStack } from './local-stack.ts'
import { type LocatedProject, locateProject } from './project.ts'
import { readSelection } from './selection.ts'

export type Credential = { apikey: string } | { authorization: string }

/** A stack that was chosen, before a credential for it is looked for. */
export interface Choice extends LocatedProject {
  /** Printed before each call, like `shop/staging`. */
  name: string
  /** The name of the environment, `local` for the stack that runs here. */
  environment: string
  /** Why this stack was chosen, as `stack env` says it. */
  chosenBy: string
  /** Has no slash at its end. */
  baseUrl: string
  ref: string
  /** The record of the local stack, where that one was chosen. */
  record?: LocalRecord
}

export interface Target extends Choice {
  isLocal: boolean
  credential: Credential
  /** Longest time of one call, in milliseconds. */
  timeoutMs: number
}

export interface TargetFlags {
  project?: string
  /** An environment of `stack/project.json`, or `local`. */
  env?: string
  /** Seconds. */
  timeout?: number
}

/** Longest time of a call in seconds, unless `--timeout` says another. The stack's own limits are shorter: 10 s for a statement. */
const defaultTimeout = 30

/** @throws Failure for an unknown environment, an unsafe URL, a missing credential, or where no stack is chosen. */
export async function locateTarget(flags: TargetFlags): Promise<Target> {
  const choice = await chooseStack(flags)
  return {
    ...choice,
    isLocal: choice.record !== undefined,
    credential: credentialFor(choice),
    timeoutMs: (flags.timeout ?? defaultTimeout) * 1000,
  }
}

/**
 * Chooses the stack: the one that `--env` names, else the one that runs here, else the one that `stack env use` chose.
 *
 * @throws Failure with the environments of the project where nothing is chosen: there is no default.
 */
export async function chooseStack({ project: named, env }: Pick<TargetFlags, 'project' | 'env'>): Promise<Choice> {
  const located = locateProject(named)
  const { environments } = located.project
  if (env !== undefined && (env !== 'local' || Object.hasOwn(environments, env)))
    return environmentOf(located, env, '--env')
  const record = env === 'local' ? await runningStack(located.root) : await liveRecord(located.root)
  if (record) {
    const chosenBy = env === 'local' ? '--env' : `the local stack that runs (process ${record.pid})`
    return chosen(located, 'local', { ref: record.ref, url: record.base_url }, chosenBy, record)
  }
  const selected = readSelection(located.root)
  if (selected !== undefined) return environmentOf(located, selected, 'stack env use')
  const names = Object.keys(environments)
  const others = names.length > 0 ? `, and \`stack env use <name>\` or --env chooses one of: ${names.join(', ')}` : ''
  throw new Failure('no stack', `no stack of this project runs here: \`stack start\` runs one${others}`)
}

/** An environment of the project file, by its name. @throws Failure for an unknown one, and for an unsafe URL. */
export function environmentOf(located: LocatedProject, name: string, chosenBy: string): Choice {
  const { environments } = located.project
  const environment = Object.hasOwn(environments, name) ? environments[name] : undefined
  if (!environment) {
    const by = chosenBy === '--env' ? '' : `, which \`${chosenBy}\` chose`
    throw new Failure('no stack', `there is no environment "${name}"${by}${known(environments, name)}`)
  }
  requirePlain(environment.url, name)
  requireHttps(environment.url)
  return chosen(located, name, environment, chosenBy)
}

function chosen(
  located: LocatedProject,
  environment: string,
  { ref, url }: { ref: string; url: string },
  chosenBy: string,
  record?: LocalRecord,
): Choice {
  const name = `${located.project.project}/${environment}`
  return { ...located, name, environment, chosenBy, baseUrl: url.replace(/\/+$/, ''), ref, ...(record && { record }) }
}

function known(environments: Record<string, unknown>, wanted: string): string {
  const names = Object.keys(environments)
  if (names.length === 0) return ': stack/project.json names none, and `stack env create` adds one'
  const near = nearest(wanted, names)
  return near ? `: did you mean ${near}?` : `: the environments are ${names.join(', ')}`
}

/** A credential of the environment wins. Then come the local stack's own key, and what `stack login` stored. */
function credentialFor({ environment, ref, record }: Choice): Credential {
  if (record) return credentialInEnvironment() ?? { apikey: record.service_role_key }
  const known = knownCredential(ref)
  if (known) return known
  throw new Failure(
    'unauthorized',
    `no credential for ${environment}: \`stack login --env ${environment} --stdin\` stores one, or set STACK_SERVICE_ROLE_KEY or STACK_ACCESS_TOKEN`,
  )
}

/** The credential of this process' environment, else the one that `stack login` stored for the ref. */
export function knownCredential(ref: string): Credential | undefined {
  const given = credentialInEnvironment()
  if (given) return given
  const stored = readCredentials()
  return Object.hasOwn(stored, ref) ? headerOf(stored[ref]!) : undefined
}

export function headerOf(credential: StoredCredential): Credential {
  return 'service_role_key' in credential
    ? { apikey: credential.service_role_key }
    : { authorization: `Bearer ${credential.access_token}` }
}

function credentialInEnvironment(): Credential | undefined {
  const key = fromEnvironment('STACK_SERVICE_ROLE_KEY')
  if (key) return { apikey: key }
  const token = fromEnvironment('STACK_ACCESS_TOKEN')
  return token ? { authorization: `Bearer ${token}` } : undefined
}

/** Refuses a value that no header can hold, because the error of the client would print it. */
function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim()
  if (value && !isHeaderValue(value)) throw new Failure('usage', `${name} holds a character that no credential has`)
  return value
}

export function isHeaderValue(text: string): boolean {
  return /^[!-~]+$/.test(text)
}

/** Refuses a URL with more than an address: a path is appended to it, and a password would be sent or printed. */
function requirePlain(url: string, name: string): void {
  const { username, password } = new URL(url)
  if (username || password || /[?#]/.test(url))
    throw new Failure('usage', `the url of ${name} must be an address alone: without a password, a ? or a #`)
}

/** Refuses a URL over which a credential would travel unencrypted through a public network (contract 9.14). */
export function requireHttps(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return
  if (protocol === 'http:' && isPrivateHost(hostname.replace(/^\[|\]$/g, ''))) return
  throw new Failure('usage', `${url} is not https: the credential would be sent unencrypted`)
}
