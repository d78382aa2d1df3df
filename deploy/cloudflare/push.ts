/**
 * Deploys an environment to Cloudflare. The steps are in an order in which a push may end between any two of them: what is
 * deployed then works, and the next push repeats the steps.
 *
 * 1. The account, the database's owner, the keys, the credential, the build, the limits of the plan and wrangler's rehearsal.
 *    Nothing was changed until here.
 * 2. The file of the keys. A key is written down before any party has it, with a note that the parties may not have it yet.
 * 3. The migrations in one transaction, then the logins and the claims key. The code that still runs must be able to work with
 *    the new schema, so migrations add first. In the other order, code would run against tables that do not exist.
 * 4. The auth worker, with its code and its secrets in one version, so that neither is ever without the other.
 * 5. Roles and templates, at the auth worker, before code runs that asks for them.
 * 6. The backend worker, likewise. The names of its webhooks are a variable of the version.
 * 7. The file of the keys, without the note.
 */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { Built } from '../../build/options.ts'
import type { Declarations } from '../../local/management.ts'
import type { Project } from '../../src/wire/project.ts'
import { loginPasswords, prepareDatabase, urlsOf } from '../database.ts'
import { ownerUrl } from '../postgres/connection.ts'
import {
  type Address,
  type Credential,
  declare,
  readStack,
  type StackState,
  untilAnswering,
  untilGone,
} from './answers.ts'
import { CloudflareApi, type DeployedWorker, type Zone } from './api.ts'
import { type Deployment, type WorkerName, workerNames, writeConfigurations } from './configuration.ts'
import { type DatabaseSession, openSession } from './database-state.ts'
import { type Facts, factsText, readFacts } from './facts.ts'
import { PushFault } from './fault.ts'
import { decideKeys, type KeyDecision } from './key-decisions.ts'
import { type KeyFile, type KeyName, keyNames, markOf, readKeyFile, writeKeyFile } from './keys.ts'
import { placementOf } from './placement.ts'
import { type Plan, planFailure } from './plan.ts'
import { buildBoth, buildText, rehearseBoth } from './preparation.ts'
import { type ProjectConfiguration, readProjectConfiguration } from './project-configuration.ts'
import { wantedSecrets } from './unset.ts'
import { deployWorker } from './wrangler.ts'

export interface PushOptions extends Declarations {
  /** Absolute path of the project. */
  root: string
  project: Project
  /** Its name in stack/project.json. */
  environment: string
  ref: string
  /** Base URL of the stack, without a slash at its end. */
  baseUrl: string
  /** URL of the database's owner. */
  databaseUrl: string
  /** Certificates in PEM form that the database's may be signed by. */
  ca?: string | undefined
  /** The token for Cloudflare's API. */
  token: string
  /** The account at Cloudflare, where the environment names one. */
  account?: string | undefined
  plan: Plan
  /** Keys to replace. */
  renew: readonly KeyName[]
  /** Absolute path of the file of this environment's keys. */
  keyFile: string
  /** The credential of the person, which wins over the file of the keys. */
  credential: () => Credential | undefined
  /** Called with the service-role key as soon as it is minted. */
  onServiceRoleKey: (key: string) => void
  /** Longest wait for what was uploaded to be in force, in milliseconds. */
  waitMs: number
  say: (line: string) => void
}

export interface PushResult {
  url: string
  /** Versions at Cloudflare. */
  version: string
  auth_version: string
  /** Says which environment a client talks to. It is no secret. */
  publishable_key: string
  /** Files that were applied. */
  migrations: readonly string[]
  /** Names of secrets that the code reads and that are set nowhere. */
  unset: string[]
  /** Webhooks of the last push that answer 404 now. */
  removed_webhooks: string[]
}

/** All that a push learns from the parties before it builds. */
interface Situation {
  configuration: ProjectConfiguration
  account: string
  zone: Zone
  workers: Record<WorkerName, DeployedWorker | undefined>
  file: KeyFile | undefined
  /** Host, port and name of the database. */
  database: string
  decision: KeyDecision
  credential: Credential
  stack: Address
}

/** @throws PushFault, BuildRefused, or an error of the database. What is deployed works then, and a next push finishes. */
export async function push(options: PushOptions): Promise<PushResult> {
  const owner = ownerUrl(options.databaseUrl)
  const file = readKeyFile(options.keyFile)
  const configuration = readProjectConfiguration(options.root, options.environment)
  const api = new CloudflareApi(options.token)
  const account = await api.account(options.account ?? configuration.account)
  const zone = await api.zoneOf(account, new URL(options.baseUrl).hostname)
  const session = await openSession(options.databaseUrl, options.ca)
  try {
    const names = workerNames(options.ref)
    const [auth, backend] = await Promise.all([api.worker(account, names.auth), api.worker(account, names.backend)])
    const workers = { auth, backend }
    const database = `${owner.hostname}:${owner.port || 5432}${owner.pathname}`
    const decision = decideKeys({
      ...{ file, workers, address: database, renew: options.renew },
      database: await session.state(),
    })
    const credential = credentialOf(options, decision)
    const stack = { baseUrl: options.baseUrl, waitMs: options.waitMs }
    const situation = { configuration, account, zone, workers, file, database, decision, credential, stack }
    const state = await askStack(situation)
    const prepared = await prepare(options, situation)
    const unset = nameUnset(options, situation, prepared.built, state)
    return await change(options, situation, prepared, session, unset)
  } finally {
    await session.end()
  }
}

/** The built workers, and how they are deployed. */
interface Prepared {
  built: Record<WorkerName, Built>
  deployment: Deployment
}

async function prepare(options: PushOptions, { configuration, account, zone }: Situation): Promise<Prepared> {
  const { root, project, roles, environment, ref, baseUrl, plan, databaseUrl, say } = options
  const hasDebugDevices = project.environments[environment]?.debugDevices === true
  const built = await buildBoth(root, project, roles, plan, hasDebugDevices)
  say(buildText(built))
  if (hasDebugDevices)
    say('devices    this environment takes debug devices: a key of theirs proves nothing about a device')
  const deployment: Deployment = {
    ...{ root, project: project.project, environment, ref, baseUrl, configuration, plan, account, zone },
    tables: { auth: built.auth.table, backend: built.backend.table },
    placement: placementOf(ownerUrl(databaseUrl)),
    facts: { auth: {}, backend: {} },
  }
  for (const note of configuration.notes) say(`           ! ${note}`)
  for (const line of await rehearseBoth(deployment)) say(line)
  return { built, deployment }
}

async function change(
  options: PushOptions,
  situation: Situation,
  { built, deployment }: Prepared,
  session: DatabaseSession,
  unset: string[],
): Promise<PushResult> {
  const { databaseUrl, ca, root, say } = options
  const { database, decision, credential, stack, workers, file } = situation
  const { known, install } = decision
  writeDown(options, file, decision)
  const prepared = await prepareDatabase(
    { url: databaseUrl, ca, root },
    {
      passwords: known.logins === undefined ? undefined : loginPasswords(known.logins),
      claimsKey: install.has('claims') ? known.claims : undefined,
      replace: true, // which keys are right was decided by all that the parties say
    },
  )
  const gaps = await prepared.commit()
  say(`database   ${database} · ${migrationsText(prepared.applied)}`)
  for (const gap of gaps) say(`           ! ${gap}`)
  const { verifiers } = await session.state()
  const facts = factsOf(situation, built, verifiers)
  deployment.facts = { auth: factsText(facts.auth), backend: factsText(facts.backend) }
  const secrets = secretsOf(options, decision)
  const authVersion = await deployAuth(options, deployment, workers, secrets.auth)
  say(`auth       version ${authVersion}`)
  await untilAnswering(stack)
  await declare(stack, credential, options)
  say(`roles      ${options.roles.length} roles and ${options.templates.length} templates are declared`)
  const version = await deploy(options, writeConfigurations(deployment).backend, secrets.backend)
  say(`backend    version ${version}`)
  settle(options, decision)
  const removed = await removedWebhooks(options, workers.backend, built.backend, stack)
  return {
    url: stack.baseUrl,
    ...{ version, auth_version: authVersion, publishable_key: facts.auth.publishable_key },
    ...{ migrations: prepared.applied, unset, removed_webhooks: removed },
  }
}

function migrationsText(applied: readonly string[]): string {
  if (applied.length === 0) return 'nothing to migrate'
  return `applied ${applied.length} migrations, up to ${applied.at(-1)}`
}

/** @throws PushFault where nothing admits this person to the stack: roles and templates could not be declared. */
function credentialOf({ environment, credential }: PushOptions, { known, install }: KeyDecision): Credential {
  const minted = known.service_role === undefined ? undefined : { apikey: known.service_role }
  // a rotation over the management surface gives the person a newer key than the file has (contract 9.15)
  const found = install.has('service_role') ? minted : (credential() ?? minted)
  if (found) return found
  throw new PushFault(
    'unauthorized',
    `no credential for ${environment}, which declares roles and templates: set STACK_SERVICE_ROLE_KEY, or \`stack login --env ${environment} --stdin\`. If the key is lost, --new-keys service_role mints another one`,
  )
}

/**
 * Asks the stack that is deployed what is set there. A stack without an auth worker cannot answer, and one whose service-role key
 * is being replaced knows the old one alone.
 *
 * @throws PushFault where the stack refuses the credential: roles could not be declared later.
 */
async function askStack({
  workers,
  decision,
  stack,
  credential,
}: Situation): Promise<StackState | 'unasked' | undefined> {
  if (!workers.auth || decision.install.has('service_role')) return 'unasked'
  return readStack(stack.baseUrl, credential)
}

/** Names the secrets that are set nowhere and what they break, before anything is uploaded. @returns their names. */
function nameUnset(
  { root, project, environment, say }: PushOptions,
  { workers, configuration }: Situation,
  { backend }: Record<WorkerName, Built>,
  state: StackState | 'unasked' | undefined,
): string[] {
  const { secrets, variables } = workers.backend ?? { secrets: new Set<string>(), variables: {} }
  const vault = typeof state === 'object' ? state.vault : []
  const isSet = (name: string) =>
    secrets.has(name) ||
    Object.hasOwn(variables, name) ||
    Object.hasOwn(configuration.variables, name) ||
    vault.includes(name)
  const folder = path.dirname(path.join(root, project.entry))
  const unset = wantedSecrets(backend.table, folder).filter(({ name }) => !isSet(name))
  if (state === undefined && unset.length > 0) {
    say('secrets    ! the vault could not be asked: the names below may be in it')
  }
  for (const { name, breaks } of unset) {
    say(`secrets    ! ${name} is not set: ${breaks}`)
    say(`             stack secret set ${name} --stdin --env ${environment}`)
  }
  if (unset.length === 0) say('secrets    all that the code reads are set')
  if (typeof state === 'object' && state.settings.mail === undefined) {
    say('mail       ! no sender is set: confirmations and resets stay queued (`stack auth settings set`)')
  }
  return unset.map(({ name }) => name)
}

/** Writes the keys down before any party gets them. A push that mints none leaves the file as it is. */
function writeDown(
  options: PushOptions,
  file: KeyFile | undefined,
  { known, install, minted, stale }: KeyDecision,
): void {
  const { keyFile, project, environment, baseUrl, say, onServiceRoleKey } = options
  if (stale.length > 0) {
    say(`keys       ! ${stale.join(', ')} in ${keyFile}: another machine has replaced them, and they are left alone`)
  }
  if (install.size === 0) return void say('keys       all keys are at Cloudflare, and stay')
  writeKeyFile(keyFile, {
    stack: `${project.project}/${environment}`,
    url: baseUrl,
    keys: { ...file?.keys, ...known },
    pending: keyNames.filter((name) => install.has(name)),
  })
  if (install.has('service_role')) onServiceRoleKey(known.service_role!)
  if (minted.length > 0) say(`keys       minted ${minted.join(', ')}, kept in ${keyFile}: keep a copy of it`)
  else say(`keys       ${[...install].join(', ')} from ${keyFile}`)
}

/** Every party has the keys: they are no longer pending. */
function settle({ keyFile }: PushOptions, { install }: KeyDecision): void {
  const file = readKeyFile(keyFile)
  if (install.size > 0 && file) writeKeyFile(keyFile, { ...file, pending: [] })
}

function factsOf(
  { workers, database, decision: { known, install } }: Situation,
  { backend }: Record<WorkerName, Built>,
  verifiers: string,
): Record<WorkerName, Facts> {
  const marks = Object.fromEntries([...install].map((name) => [name, markOf(known[name]!)]))
  const before = readFacts(workers.auth?.variables).publishable_key
  const publishable = before || `pub_${randomBytes(16).toString('base64url')}`
  const of = (worker: WorkerName): Facts => ({
    ...{ database, verifiers, publishable_key: publishable },
    keys: { ...readFacts(workers[worker]?.variables).keys, ...marks },
    webhooks: worker === 'backend' ? backend.table.webhooks.map(({ name }) => name) : [],
  })
  return { auth: of('auth'), backend: of('backend') }
}

/** The secrets that are uploaded. Those that a worker has and that did not change are left out, and stay. */
function secretsOf(
  { databaseUrl }: PushOptions,
  { known, install }: KeyDecision,
): Record<WorkerName, Record<string, string>> {
  const value = (name: KeyName, secret: string) => (install.has(name) ? { [secret]: known[name]! } : {})
  const shared = { ...value('claims', 'CLAIMS_KEY'), ...value('service_role', 'SERVICE_ROLE_KEY') }
  const urls = install.has('logins') ? urlsOf(databaseUrl, loginPasswords(known.logins!)) : undefined
  return {
    auth: {
      ...shared,
      ...value('sealing', 'SEALING_KEY'),
      ...value('pepper', 'PASSWORD_PEPPER'),
      ...value('refresh', 'REFRESH_KEY'),
      ...(urls ? { DATABASE_URL: urls.backend, DATABASE_SERVICE_URL: urls.auth } : {}),
    },
    backend: { ...shared, ...(urls ? { DATABASE_URL: urls.backend, DATABASE_SERVICE_URL: urls.backendService } : {}) },
  }
}

/** Cloudflare's code for a service binding whose worker does not exist. */
const unresolvedCode = '[code: 10143]'

/**
 * Deploys the auth worker, which is bound to itself: it cannot reach its own host by fetch. Where Cloudflare does not know the
 * worker yet, and so refuses the binding, it is deployed without the binding first.
 */
async function deployAuth(
  options: PushOptions,
  deployment: Deployment,
  workers: Situation['workers'],
  secrets: Record<string, string>,
): Promise<string> {
  try {
    return await deploy(options, writeConfigurations(deployment).auth, secrets)
  } catch (error) {
    if (workers.auth || !(error instanceof PushFault && error.message.includes(unresolvedCode))) throw error
    await deploy(options, writeConfigurations(deployment, { isUnbound: true }).auth, secrets)
    return deploy(options, writeConfigurations(deployment).auth, secrets)
  }
}

async function deploy({ token }: PushOptions, configuration: string, secrets: Record<string, string>): Promise<string> {
  try {
    const { version } = await deployWorker(configuration, { directory: path.dirname(configuration), token, secrets })
    return version
  } catch (error) {
    const reason = error instanceof PushFault ? planFailure(error.message) : undefined
    throw reason === undefined ? error : new PushFault('refused', reason)
  }
}

/** Names the webhooks of the last push that this one does not have, once they answer 404. */
async function removedWebhooks(
  { say }: PushOptions,
  before: DeployedWorker | undefined,
  { table }: Built,
  address: Address,
): Promise<string[]> {
  const names = new Set(table.webhooks.map(({ name }) => name))
  const removed = readFacts(before?.variables).webhooks.filter((name) => !names.has(name))
  for (const name of removed) {
    const otherwise = await untilGone(address, name)
    say(
      otherwise === undefined
        ? `webhooks   POST /webhooks/${name} answers 404 now: the code has no such webhook any more`
        : `webhooks   ! /webhooks/${name} is not in the code any more, and ${otherwise}`,
    )
  }
  return removed
}
