/**
 * Decides which keys a push installs. The workers' secrets cannot be read back. So a key is left alone where all parties agree
 * about it, and all of them get it anew where one of them lacks it or may have another one.
 */
import type { DeployedWorker } from './api.ts'
import { requiredSecrets, type WorkerName } from './configuration.ts'
import type { DatabaseState } from './database-state.ts'
import { type Facts, readFacts } from './facts.ts'
import { PushFault } from './fault.ts'
import { type EnvironmentKeys, type KeyFile, type KeyName, keyNames, markOf, mintKey } from './keys.ts'

export interface KeySituation {
  file: KeyFile | undefined
  workers: Record<WorkerName, DeployedWorker | undefined>
  database: DatabaseState
  /** Host, port and name of the database. */
  address: string
  /** Keys that the person wants replaced. */
  renew: readonly KeyName[]
}

export interface KeyDecision {
  /** The keys whose value is known and is that of the workers, or will be. */
  known: EnvironmentKeys
  /** Keys that this push gives to all parties. */
  install: ReadonlySet<KeyName>
  /** Those of them that did not exist before. */
  minted: KeyName[]
  /** Keys of the file that another machine has replaced. */
  stale: KeyName[]
}

/** The secret that a key is part of. */
const secretOf: Record<KeyName, (typeof requiredSecrets)['auth'][number]> = {
  logins: 'DATABASE_URL',
  claims: 'CLAIMS_KEY',
  service_role: 'SERVICE_ROLE_KEY',
  sealing: 'SEALING_KEY',
  pepper: 'PASSWORD_PEPPER',
  refresh: 'REFRESH_KEY',
}

/** The keys of the auth worker alone, and what is lost with each. */
const kept: Partial<Record<KeyName, string>> = {
  sealing: 'the signing keys, the vault and the second factors are sealed with it',
  pepper: 'no password of any user can be checked without it',
  refresh: 'every session ends without it',
}

/** @throws PushFault where a key is lost that what is stored depends on. */
export function decideKeys(situation: KeySituation): KeyDecision {
  const { file, renew } = situation
  const facts = {
    auth: readFacts(situation.workers.auth?.variables),
    backend: readFacts(situation.workers.backend?.variables),
  }
  const decision = {
    known: {} as EnvironmentKeys,
    install: new Set<KeyName>(),
    minted: [] as KeyName[],
    stale: [] as KeyName[],
  }
  for (const name of keyNames) {
    const value = file?.keys[name]
    const isNew = kept[name] === undefined ? isToInstall(name, situation, facts) : isToUpload(name, situation)
    if (isNew) {
      const isMinted = value === undefined || (renew.includes(name) && !file?.pending.includes(name))
      decision.known[name] = isMinted ? mintKey(name) : value
      decision.install.add(name)
      if (isMinted) decision.minted.push(name)
    } else if (value !== undefined) {
      if (markOf(value) === facts.auth.keys[name]) decision.known[name] = value
      else decision.stale.push(name)
    }
  }
  return decision
}

/** Whether a key that several parties share must be given to all of them. */
function isToInstall(name: KeyName, situation: KeySituation, facts: Record<WorkerName, Facts>): boolean {
  const { file, workers, database, address, renew } = situation
  const parties = ['auth', 'backend'] as const
  const lacks = parties.some((worker) => {
    const secrets = name === 'logins' ? ['DATABASE_URL', 'DATABASE_SERVICE_URL'] : [secretOf[name]]
    return secrets.some((secret) => !workers[worker]?.secrets.has(secret)) || facts[worker].keys[name] === undefined
  })
  if (lacks || renew.includes(name) || file?.pending.includes(name)) return true
  if (facts.auth.keys[name] !== facts.backend.keys[name]) return true // a push ended between the two uploads
  if (name === 'claims') return !database.hasClaimsKey
  if (name !== 'logins') return false
  // the database was moved or made anew, or a push ended before its uploads
  return parties.some((worker) => facts[worker].database !== address || facts[worker].verifiers !== database.verifiers)
}

/** Whether a key of the auth worker alone is uploaded: only where it has none. */
function isToUpload(name: KeyName, { file, workers, database, renew }: KeySituation): boolean {
  const exists = workers.auth?.secrets.has(secretOf[name]) ?? false
  if (exists && renew.includes(name)) {
    throw new PushFault('usage', `the auth worker has ${secretOf[name]}, and a push never replaces it: ${kept[name]}`)
  }
  if (exists) return false
  const isLost = database.isUsed && file?.keys[name] === undefined && !renew.includes(name)
  if (!isLost) return true
  throw new PushFault(
    'refused',
    `this stack is in use, and its ${secretOf[name]} is neither at Cloudflare nor in the file of its keys: ${kept[name]}. Restore the file from a copy. If there is none, --new-keys ${name} goes on without what is lost`,
  )
}
