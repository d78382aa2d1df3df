/** `stack serve`: a stack in production on this machine, until SIGTERM or Ctrl-C (contract 10.5). */
import * as fs from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { DatabaseUnreachable, UrlFault } from '../../deploy/postgres/connection.ts'
import { KeysDiffer } from '../../deploy/postgres/login-keys.ts'
import { BuildRefused } from '../../deploy/serve/builds.ts'
import type { LogFields } from '../../deploy/serve/log-lines.ts'
import type { ServeOptions } from '../../deploy/serve/options.ts'
import { trustedNetworks } from '../../deploy/serve/proxies.ts'
import { readVariable, SecretFault } from '../../deploy/serve/secrets.ts'
import { type ServedStack, serveStack } from '../../deploy/serve/stack.ts'
import { StorageFault, storageTarget } from '../../deploy/storage/target.ts'
import { LockHeld, lockHolder } from '../../local/lock.ts'
import { PortTaken } from '../../local/ports.ts'
import { isPrivateHost } from '../../src/wire/network.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { fixCommandOf } from '../project/fix-command.ts'
import { Failure } from '../shared/failure.ts'
import { writeOut } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { renderRefusals } from '../shared/refusals.ts'
import { workingDirectory } from '../shared/working-directory.ts'

export interface ServeFlags {
  project?: string
  host: string
  port: number
  workers?: number
  out?: string
  storage?: string
  state?: string
  vars?: string
  trustProxy?: string
  grace: number
  metricsHost: string
  metricsPort: number
  metrics: boolean
  accessLog: boolean
  takeOver?: boolean
  reload?: boolean
  printConfig?: 'workerd' | 'dockerfile' | 'systemd' | 'all'
}

export async function runServe(flags: ServeFlags): Promise<void> {
  // The reader of an output may end first. The stack is served on then.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const { root } = locateProject(flags.project)
  const state = path.resolve(workingDirectory(), flags.state ?? path.join(root, projectPaths.generated, 'serve'))
  if (flags.reload) return askToReload(state)
  if (flags.printConfig !== undefined) return print(flags, root, state)
  const options = optionsOf(flags, state)
  const interruption = new AbortController()
  const signals = followSignals(interruption)
  let stack: ServedStack
  try {
    stack = await serveStack(options, interruption.signal)
  } catch (error) {
    if (interruption.signal.aborted)
      throw new Failure('interrupted', 'interrupted: everything that was started is ended')
    throw failureOf(error, root, flags)
  }
  sayReady(options, stack)
  signals.onReload(() => reload(stack, options, flags, root))
  await signals.ended
  options.say(`stopping: requests in flight have ${flags.grace} s`)
  signals.onSecond(() => stack.kill())
  const isWhole = await stack.stop()
  options.say(
    isWhole
      ? 'everything is ended, every request was finished'
      : 'everything is ended, and requests that took too long were cut off',
  )
}

function optionsOf(flags: ServeFlags, state: string): ServeOptions {
  const { env } = process
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  try {
    if (readVariable(env, 'DATABASE_URL') === undefined) {
      throw new Failure(
        'usage',
        'DATABASE_URL is not set: give the URL of the database’s owner, postgresql://owner:password@host:5432/database, in DATABASE_URL or in the file that DATABASE_URL_FILE names. `stack start` brings a Postgres of its own',
      )
    }
    return {
      locate: () => locateProject(flags.project),
      built: flags.out === undefined ? undefined : path.resolve(workingDirectory(), flags.out),
      host: flags.host,
      port: flags.port,
      workers: flags.workers ?? availableParallelism(),
      stackUrl: stackUrlOf(flags, env),
      state,
      storage: storageTarget(flags.storage ?? path.join(state, 'storage'), workingDirectory(), withFiles(env)),
      graceMs: flags.grace * 1000,
      metrics: flags.metrics ? { host: flags.metricsHost, port: flags.metricsPort } : undefined,
      trusted: trustedNetworks(flags.trustProxy ?? ''),
      logsRequests: flags.accessLog,
      takesOver: flags.takeOver ?? false,
      variables: () => variablesIn(flags.vars),
      environment: env,
      log,
      say,
    }
  } catch (error) {
    if (error instanceof SecretFault || error instanceof StorageFault || error instanceof RangeError) {
      throw new Failure('usage', error.message)
    }
    throw error
  }
}

/** The environment with the keys of S3 that are in files. */
function withFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
  return { ...environment, ...Object.fromEntries(names.map((name) => [name, readVariable(environment, name)])) }
}

/** @throws Failure for an address that is not valid, or that would send tokens over an open network (contract 9.14). */
function stackUrlOf({ host }: ServeFlags, environment: NodeJS.ProcessEnv): string | undefined {
  const text = readVariable(environment, 'STACK_URL')
  if (text === undefined) {
    if (isPrivateHost(host)) return undefined
    throw new Failure(
      'usage',
      'STACK_URL is not set: give the public address of the stack, like https://api.example.com',
    )
  }
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Failure('usage', `STACK_URL is no address of a stack: ${text}`)
  }
  if (url.protocol === 'http:' && !isPrivateHost(url.hostname.replace(/^\[|\]$/g, ''))) {
    throw new Failure('usage', `STACK_URL is ${text}: http is for loopback and private networks only, so use https`)
  }
  return url.href.replace(/\/+$/, '')
}

function variablesIn(file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  const found = path.resolve(workingDirectory(), file)
  if (!fs.existsSync(found))
    throw new Failure('usage', `${found} does not exist: --vars names a file of NAME=value lines`)
  return parseEnv(fs.readFileSync(found, 'utf8')) as Record<string, string>
}

function log(fields: LogFields): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`)
}

function sayReady(
  { say, storage, trusted, workers, host }: ServeOptions,
  { url, port, metricsPort, applied }: ServedStack,
): void {
  const place = storage.kind === 'folder' ? `the folder ${storage.directory}` : storage.bucketUrl
  if (applied.length > 0) say(`migrated: ${applied.join(', ')}`)
  say(`serving ${url} on ${host}:${port}, ${workers} process${workers === 1 ? '' : 'es'}`)
  if (metricsPort !== undefined) say(`metrics on port ${metricsPort}: /metrics and /health`)
  say(`Storage keeps its objects in ${place}`)
  say('@Controller limits count in each process for itself, and are forgotten at a reload')
  if (trusted.length === 0)
    say('no proxy is trusted: behind one, every client counts as that proxy until --trust-proxy names it')
}

async function reload(stack: ServedStack, { log, say }: ServeOptions, flags: ServeFlags, root: string): Promise<void> {
  try {
    await stack.reload()
    log({ level: 'info', worker: 'serve', message: 'reloaded' })
  } catch (error) {
    const { message } = failureOf(error, root, flags) as Error
    log({
      level: 'error',
      worker: 'serve',
      message: 'the reload failed, and the earlier build serves on',
      error: message,
    })
    say(`the reload failed, and the earlier build serves on:\n${message}`)
  }
}

function failureOf(error: unknown, root: string, { project, takeOver }: ServeFlags): unknown {
  if (error instanceof Failure) return error
  if (error instanceof BuildRefused) {
    const consequence = 'nothing was migrated, and nothing new is served'
    return new Failure(
      'refused',
      renderRefusals(root, error.result.refusals, { consequence, fixCommand: fixCommandOf(project) }),
    )
  }
  const { message } = error as Error
  if (error instanceof PortTaken)
    return new Failure('port taken', `${message}: name another with --port or --metrics-port`)
  if (error instanceof LockHeld)
    return new Failure('no stack', `${message}. A second stack of this machine needs a --state of its own`)
  if (error instanceof SecretFault || error instanceof StorageFault || error instanceof UrlFault)
    return new Failure('usage', message)
  if (error instanceof DatabaseUnreachable) return new Failure('unreachable', message)
  if (error instanceof KeysDiffer && !takeOver) {
    const names = error.which.map((one) => (one === 'passwords' ? 'DATABASE_LOGIN_KEY' : 'CLAIMS_KEY'))
    return new Failure(
      'refused',
      `error: ${message}. Give this machine its ${names.join(' and ')}, or pass --take-over to cut that machine off`,
    )
  }
  return new Failure('refused', `error: ${message}`)
}

/** Time in milliseconds within which a second signal counts as the first: Ctrl-C arrives from the terminal and from npm. */
const sameSignalMs = 1_000

/** SIGTERM and SIGINT end the stack, SIGHUP reloads it. */
function followSignals(interruption: AbortController) {
  let first = 0
  let second = () => {}
  let reloads = () => {}
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (first && Date.now() - first > sameSignalMs) {
        second()
        process.exit(130)
      }
      first ||= Date.now()
      interruption.abort()
      resolve()
    })
  }
  process.on('SIGHUP', () => reloads())
  return {
    ended,
    onReload(work: () => void) {
      reloads = work
    },
    onSecond(work: () => void) {
      second = work
    },
  }
}

function askToReload(state: string): void {
  const pid = lockHolder(path.join(state, 'lock.json'))
  if (pid === undefined) throw new Failure('no stack', `no stack is served from ${state}: --state names its folder`)
  process.kill(pid, 'SIGHUP')
  process.stderr.write(`process ${pid} builds and serves anew: its log says how that ends\n`)
}

async function print(flags: ServeFlags, root: string, state: string): Promise<void> {
  const { printedConfig } = await import('../../deploy/serve/print.ts')
  const { project, roles } = locateProject(flags.project)
  const storage = storageTarget(
    flags.storage ?? path.join(state, 'storage'),
    workingDirectory(),
    withFiles(process.env),
  )
  try {
    const text = await printedConfig(flags.printConfig!, {
      ...flags,
      project,
      roles,
      name: project.project,
      storage,
      root,
    })
    await writeOut(text)
  } catch (error) {
    throw failureOf(error, root, flags)
  }
}
