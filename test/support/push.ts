/** A project, a stand-in of Cloudflare and a database, for tests of `stack push`. */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { findPort } from '../../local/ports.ts'
import { packageRoot } from './command.ts'
import { createOwned, dropOwned, useExternalPostgres } from './external-postgres.ts'
import { type Platform, startPlatform } from './platform.ts'
import { copyProject } from './project.ts'
import { type Answer, type CallOptions, call } from './stack.ts'

export const ref = 'abcd1234m'

export interface PushSetting {
  /** The folder of the project's copy. */
  root: string
  /** XDG_CONFIG_HOME of the commands. */
  home: string
  platform: Platform
  /** URL of the database's owner. */
  database: string
  /** Runs `stack push --env staging`, with nothing on standard input. */
  push(args?: string[], env?: Record<string, string | undefined>, run?: PushRun): Promise<Pushed>
  /** Runs SQL as the superuser, in the database of the stack. */
  sql<T = Record<string, unknown>>(text: string): Promise<T[]>
  /** Sends a request to the edge. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** Writes a file of the project. */
  write(name: string, contents: string): void
  /** Replaces a text of a file of the project. @throws Error where it is not there. */
  replace(name: string, from: string, to: string): void
  /** The secrets of a worker's current version, by name. */
  secrets(worker: 'auth' | 'backend'): Record<string, string>
  /** The keys that the commands keep. */
  keys(): { keys: Record<string, string>; pending: string[] }
}

interface PushRun {
  input?: string
  /** Kills the process when it aborts. */
  kill?: AbortSignal
  /** Words before the command, such as `unshare -rn`. */
  before?: string[]
}

export interface Pushed {
  code: number | null
  stdout: string
  stderr: string
}

/** Makes a platform and a database before the file's tests, and ends them after. */
export function usePush(project: string): PushSetting {
  const external = useExternalPostgres()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-push-test-'))
  const root = path.join(folder, 'project')
  const home = path.join(folder, 'home')
  const test = { root, home } as PushSetting
  const file = (name: string) => path.join(root, name)
  beforeAll(async () => {
    copyProject(path.join(packageRoot, project), root)
    fs.mkdirSync(home)
    const port = await findPort()
    const declared = JSON.parse(fs.readFileSync(file('stack/project.json'), 'utf8'))
    const environments = { staging: { ref, url: `http://127.0.0.1:${port}` } }
    test.write('stack/project.json', JSON.stringify({ ...declared, environments }))
    test.platform = await startPlatform(port)
    test.database = await createOwned(external)
  })
  afterAll(async () => {
    await test.platform?.stop()
    if (test.database) await dropOwned(external, test.database)
    fs.rmSync(folder, { recursive: true, force: true })
  })
  test.push = (args = [], env = {}, options = {}) => run(test, ['push', '--env', 'staging', ...args], env, options)
  test.sql = (text) => external.sql(text, new URL(test.database).pathname.slice(1))
  test.call = (path, options) => call(`${test.platform.edge}${path}`, options)
  test.write = (name, contents) => {
    fs.mkdirSync(path.dirname(file(name)), { recursive: true })
    fs.writeFileSync(file(name), contents)
  }
  test.replace = (name, from, to) => {
    const text = fs.readFileSync(file(name), 'utf8')
    if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`)
    fs.writeFileSync(file(name), text.replace(from, to))
  }
  test.secrets = (worker) => {
    const name = worker === 'auth' ? `stack-${ref}-auth` : `stack-${ref}`
    return Object.fromEntries(test.platform.workers.get(name)?.current?.secrets ?? [])
  }
  test.keys = () => JSON.parse(fs.readFileSync(path.join(home, `stack/${ref}.json`), 'utf8'))
  return test
}

function run(
  { root, home, platform, database }: PushSetting,
  args: string[],
  env: Record<string, string | undefined>,
  { input = '', kill, before = [] }: PushRun,
): Promise<Pushed> {
  const { INIT_CWD: _npm, FORCE_COLOR: _colour, ...inherited } = process.env
  const given: Record<string, string | undefined> = {
    ...inherited,
    HOME: home,
    XDG_CONFIG_HOME: home,
    CLOUDFLARE_API_BASE_URL: platform.api,
    CLOUDFLARE_API_TOKEN: platform.token,
    DATABASE_URL: database,
    ...env,
  }
  const words = [...before, process.execPath, path.join(packageRoot, 'bin/stack.cjs'), ...args]
  const child = spawn(words[0]!, words.slice(1), {
    cwd: root,
    env: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  child.stdin.on('error', () => {}) // a command that reads no input closes the pipe
  child.stdin.end(input)
  kill?.addEventListener('abort', () => child.kill('SIGKILL'))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
