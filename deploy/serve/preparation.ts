/** Prepares what is served, at the start and at each reload: the build, the migrated database and a first run of both workers. */
import * as fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { hasDebugDevices, webhooksIn } from '../../local/bundle.ts'
import { declareAll, whenAnswering } from '../../local/management.ts'
import { newestServiceRoleKey } from '../../local/rotated.ts'
import { configOf, loginPasswords, prepareDatabase, urlsOf, withOwner } from '../database.ts'
import { workerBindings } from './bindings.ts'
import { bundlesOf, requireBuild } from './builds.ts'
import { type Bundles, type WrittenGeneration, writeGeneration } from './generations.ts'
import { createEntries } from './log-lines.ts'
import { databaseOptions, type ServeOptions } from './options.ts'
import { keepDigests, requireSameSecrets } from './same-secrets.ts'
import { readVariable, type Secrets, secretsAt } from './secrets.ts'
import type { WorkerSources } from './worker-sources.ts'
import { startWorkerd } from './workerd.ts'

/** Values that a reload does not change. */
export interface ServeContext {
  options: ServeOptions
  /** Folder of the files that workerd reads. Other users cannot enter it. */
  directory: string
  sources: WorkerSources
  /** The public address. */
  url: string
  storageSocket: string
}

/**
 * Builds, migrates and tries what is to be served. The migrations are committed when both bundles have started. What the project
 * declares is given to the auth worker.
 *
 * @throws Error when it cannot be served. Nothing is migrated then, unless the message says so.
 */
export async function prepare(
  context: ServeContext,
  number: number,
  signal?: AbortSignal,
): Promise<{ generation: WrittenGeneration; applied: readonly string[] }> {
  const { options } = context
  const located = options.locate()
  if (options.built !== undefined) requireBuild(options.built)
  const secrets = secretsAt(path.join(options.state, 'secrets.json'), options.environment)
  const config = configOf(databaseOptions(options))
  const replace = options.takesOver && number === 1
  // before the build, which takes longer: a database that cannot be reached, and secrets that are not those of the database
  const connections = await connectionsOf(options)
  await requireSameSecrets(config, { values: secrets.values, previous: secrets.previousSealingKey, replace })
  const bundles = await bundlesOf({ ...located, built: options.built })
  signal?.throwIfAborted()
  const { values } = secrets
  const passwords = loginPasswords(values.DATABASE_LOGIN_KEY)
  const keys = { passwords, claimsKey: values.CLAIMS_KEY, replace }
  const database = await prepareDatabase(databaseOptions(options), keys)
  const generation = await write(context, number, { bundles, secrets, connections }).catch(async (error: unknown) => {
    await database.rollback()
    throw error
  })
  try {
    if (hasDebugDevices(generation.outs.auth)) admitDebugDevices(options)
    const probe = await startProbe(generation, options)
    try {
      signal?.throwIfAborted()
      secrets.save() // they must not be lost once the database depends on them
      sayFresh(options, secrets)
      const gaps = await database.commit()
      await keepDigests(config, secrets)
      if (number === 1) for (const gap of gaps) options.say(`not covered: ${gap}`)
      const baseUrl = `http://127.0.0.1:${probe.port}`
      await whenAnswering(baseUrl).catch((error: Error) => {
        const kept = database.applied.length > 0 ? `; the migrations ${database.applied.join(', ')} are applied` : ''
        throw new Error(`${error.message}${kept}`)
      })
      await declareAll(baseUrl, { apikey: await serviceRoleKey(config, secrets) }, located)
    } finally {
      probe.kill()
      await probe.ended
    }
    return { generation, applied: database.applied }
  } catch (error) {
    await database.rollback()
    generation.remove()
    throw error
  }
}

/**
 * A build of `stack build --env <name> --out <folder>` may have debug devices, and the operator is told.
 * @throws Error where the bundle was built here: another command has put one with debug devices in its place.
 */
function admitDebugDevices({ built, say }: ServeOptions): void {
  if (built === undefined) {
    throw new Error('another command has built the auth worker with debug devices at the same time: start again')
  }
  say(`the build in ${built} takes debug devices: a key of theirs proves nothing about a device`)
}

/** The key that the auth worker accepts now: a rotation may have ended the one that is bound (contract 9.15). */
async function serviceRoleKey(config: pg.ClientConfig, secrets: Secrets): Promise<string> {
  const { values, previousSealingKey: previous } = secrets
  const sealingKeys = [values.SEALING_KEY, ...(previous === undefined ? [] : [previous])]
  const rotated = await newestServiceRoleKey(config, sealingKeys)
  if (rotated !== undefined) secrets.adoptServiceRoleKey(rotated)
  return rotated ?? values.SERVICE_ROLE_KEY
}

function sayFresh({ say, state }: ServeOptions, { fresh }: Secrets): void {
  if (fresh.length === 0) return
  say(`made ${fresh.join(', ')}, which are not set, and kept them in ${path.join(state, 'secrets.json')}`)
  say('keep a copy of that file: without it no password and no sealed value of this database can be used')
}

interface Prepared {
  bundles: Bundles
  secrets: Secrets
  /** Largest number of connections of one login and process. */
  connections: number
}

async function write(
  context: ServeContext,
  number: number,
  { bundles, secrets, connections }: Prepared,
): Promise<WrittenGeneration> {
  const { options, directory, sources, url, storageSocket } = context
  const { environment } = options
  const database = databaseOptions(options)
  const extra = environment['NODE_EXTRA_CA_CERTS']
  const certificates = [database.ca, extra ? fs.readFileSync(extra, 'utf8') : undefined]
  const declared = webhooksIn(bundles.backend).flatMap(({ secret }) => Object.values(secret))
  const given = declared.flatMap((name) => {
    const value = readVariable(environment, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const { previousSealingKey: previous } = secrets
  const bindings = workerBindings({
    stackUrl: url,
    secrets: secrets.values,
    urls: urlsOf(database.url, loginPasswords(secrets.values.DATABASE_LOGIN_KEY)),
    connections,
    project: { ...Object.fromEntries(given), ...options.variables() },
    environment: { ...environment, ...(previous === undefined ? {} : { SEALING_KEY_PREVIOUS: previous }) },
  })
  return writeGeneration({
    ...{ number, directory, bundles, bindings, sources, storageSocket },
    front: { trusted: options.trusted, logsRequests: options.logsRequests },
    storage: options.storage,
    certificates: certificates.flatMap((one) => one?.match(oneCertificate) ?? []),
  })
}

/** workerd reads ten certificates of one text at most, and a bundle has more. */
const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Number of connections that stay free for the owner and for other programs. */
const spareConnections = 10
/** Largest number of connections of one login and process: the runtime's own default. */
const mostConnections = 20
/** Each worker has a login for requests and one for its service. */
const loginsOfProcess = 4

/** A share of what the server admits, so that all processes of this machine together cannot exhaust it. */
async function connectionsOf(options: ServeOptions): Promise<number> {
  const { rows } = await withOwner(configOf(databaseOptions(options)), (client) =>
    client.query<{ most: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`,
    ),
  )
  const share = Math.floor((rows[0]!.most - spareConnections) / (options.workers * loginsOfProcess))
  return Math.max(2, Math.min(share, mostConnections))
}

/** Starts both bundles on a port of loopback. @throws Error in workerd's words when one of them does not start. */
async function startProbe(generation: WrittenGeneration, { log }: ServeOptions) {
  const entries = createEntries(generation.outs)
  const onLine = (line: string) => {
    const entry = entries(line)
    if (entry['level'] === 'error' || entry['level'] === 'warn') log({ process: 'probe', ...entry })
  }
  const { environment } = generation
  return startWorkerd({ ...generation.probe(), environment, onLine }).catch((error: Error) => {
    throw new Error(`the bundles do not start: ${error.message}`)
  })
}
