/** The workers of a stack: started, connected to the migrated database, and ready for the first request. */
import { keys as keyOperations } from '../src/wire/operations.ts'
import { type Crons, startCrons } from './cron.ts'
import type { DatabaseUrls } from './database.ts'
import { admitAllDevices } from './devices.ts'
import type { StackFiles } from './files.ts'
import type { Keys } from './keys.ts'
import { noteWorkerd } from './lock.ts'
import { installKeys } from './logins.ts'
import { type Declarations, declareAll, whenAnswering } from './management.ts'
import type { OpenMigrations } from './migrate.ts'
import { choosePort, PortTaken } from './ports.ts'
import { adoptServiceRoleKey, tellsOfRotation } from './rotated.ts'
import { namesInVault } from './vault.ts'
import { startWorkers, type Workers, type WorkersOptions } from './worker.ts'

export interface ServeOptions extends Declarations {
  files: StackFiles
  keys: Keys
  urls: DatabaseUrls
  /** Committed when both bundles start: from there on, nothing of the project can be refused. */
  migrations: OpenMigrations
  /** The address that takes the stack's messages. */
  mailbox: string
  /** Bindings of the backend worker beside the stack's own. */
  variables: Record<string, string>
  /** Bindings of the auth worker beside the stack's own, which win. Default: none. */
  authVariables?: Record<string, string>
  port: number
  /** The address that clients reach through a proxy, which strips its path. Default: the address of the port. */
  publicUrl?: string | undefined
  /** The person named the port. Otherwise another one is taken where this one is lost to another process. */
  isPortFixed: boolean
  signal: AbortSignal
  say: (line: string) => void
  onLog: (line: string) => void
  /** Called when `keys` holds another service-role key, because the auth worker has rotated it. */
  onRotated: () => void
  /** Receives the function that ends the workers, as soon as they run. Where `serve` fails afterwards, the caller must call it. */
  onStarted: (stop: () => Promise<void>) => void
}

export interface Serving {
  baseUrl: string
  /** Names in the vault. */
  secrets: string[]
  /** Serves the backend's bundle as it is on the disk now. @returns whether anything was new. */
  update(variables: Record<string, string>): Promise<boolean>
  /** From then on no scheduled method is started. */
  stopCrons(): Promise<void>
}

/** @throws PortTaken, or an Error with a sentence. Nothing is migrated where a bundle does not start. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { files, keys, urls, migrations, signal, say } = options
  let crons: Crons | undefined
  let adopted: Promise<unknown> = Promise.resolve()
  const adopt = async () => {
    try {
      if (await adoptServiceRoleKey(urls.owner, keys, files.keys)) options.onRotated()
    } catch (error) {
      say(`the rotated service-role key is not in ${files.keys}: ${(error as Error).message}`)
    }
  }
  const { workers, baseUrl, bindings } = await startOnFreePort({
    ...options,
    onLog(line) {
      options.onLog(line)
      crons?.logged(line)
      if (tellsOfRotation(line)) adopted = adopted.then(adopt) // one after the other, so that the newest key stays
    },
    onCron: async (request) => (crons ? crons.answer(request) : { status: 503, body: notReady }),
  })
  options.onStarted(workers.stop)
  noteWorkerd(files.lock)
  signal.throwIfAborted()
  await migrations.commit()
  const { postgres: _owner, ...passwords } = keys.passwords
  await installKeys(urls.owner, { claimsKey: keys.claims_key, passwords })
  await admitAllDevices(urls.owner)
  await adoptServiceRoleKey(urls.owner, keys, files.keys) // a stack that was killed may not have followed the last rotation
  await whenAnswering(baseUrl).catch((error: Error) => {
    const { applied } = migrations
    const kept = applied.length > 0 ? `; the migrations ${applied.join(', ')} are applied` : ''
    throw new Error(`${error.message}${kept}`)
  })
  await declareAll(baseUrl, { apikey: keys.service_role_key }, options)
  const secrets = await namesInVault({ base_url: baseUrl, ...keys })
  const serviceRoleKey = () => keys.service_role_key
  const running = startCrons({ served: workers.crons, run: workers.runScheduled, serviceRoleKey, say })
  crons = running
  options.onStarted(running.stop)
  return {
    baseUrl,
    secrets,
    stopCrons: running.stop,
    async update(variables) {
      const isNew = await workers.update({ ...bindings, ...variables })
      if (isNew) noteWorkerd(files.lock)
      running.update()
      return isNew
    },
  }
}

/** The answer to a request that comes before the stack is ready. */
const notReady = { error: 'unavailable', error_description: 'the stack is starting', status: 503 }

interface Started {
  workers: Workers
  baseUrl: string
  /** The stack's own bindings of the backend worker. */
  bindings: Record<string, string>
}

type StartOptions = ServeOptions & Pick<WorkersOptions, 'onCron'>

/** Starts the workers. A default port that another process has taken since it was found free is replaced by the next one. */
async function startOnFreePort(options: StartOptions): Promise<Started> {
  try {
    return await start(options, options.port)
  } catch (error) {
    if (!(error instanceof PortTaken) || options.isPortFixed) throw error
    return start(options, await choosePort(undefined, false, options.say))
  }
}

async function start(
  { files, keys, urls, mailbox, publicUrl, variables, authVariables, say, onLog, onCron }: StartOptions,
  port: number,
): Promise<Started> {
  const baseUrl = `http://127.0.0.1:${port}`
  const stackUrl = publicUrl ?? baseUrl
  const common = {
    CLAIMS_KEY: keys.claims_key,
    DATABASE_URL: urls.backend,
    STACK_URL: stackUrl,
    AUTH_JWKS_URL: `${stackUrl}${keyOperations.keySet.path}`,
    AUTH_ISSUER: `${stackUrl}/auth`,
    AUTH_AUDIENCE: keys.ref,
    SERVICE_ROLE_KEY: keys.service_role_key,
  }
  const bindings = { ...common, DATABASE_SERVICE_URL: urls.backendService }
  const workers = await startWorkers({
    port,
    storage: files.storage,
    backend: { out: files.backend, bindings: { ...bindings, ...variables } },
    auth: {
      out: `${files.auth}/out`,
      bindings: {
        ...authVariables,
        ...common,
        DATABASE_SERVICE_URL: urls.auth,
        SEALING_KEY: keys.sealing_key,
        ...(keys.sealing_key_previous === undefined ? {} : { SEALING_KEY_PREVIOUS: keys.sealing_key_previous }),
        PASSWORD_PEPPER: keys.password_pepper,
        REFRESH_KEY: keys.refresh_key,
        STACK_MAILBOX_URL: mailbox,
        STACK_LOCAL: 'true',
      },
    },
    onRestart() {
      noteWorkerd(files.lock)
      say('workerd ended by itself and was started again')
    },
    onLog,
    onCron,
  })
  return { workers, baseUrl, bindings }
}
