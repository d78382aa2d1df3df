/**
 * Runs wrangler, which uploads the workers. A command counts as done only where its exit code and its own record of the
 * deployment agree: either alone has been wrong.
 */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { PushFault } from './fault.ts'

/** Longest time of a command, in milliseconds. An upload of 10 MiB over a slow line takes minutes. */
const longestMs = 600_000

/** Number of last lines of an output that an error repeats. */
const shownLines = 30

export interface WranglerOptions {
  /** Absolute path of the folder in which wrangler runs: a `.env` or a `wrangler.toml` there would be read. */
  directory: string
  token?: string
  /** Longest time of the command, in milliseconds. Default: 10 minutes. */
  timeoutMs?: number
  /** Absolute path of wrangler's script. The default is that of the installed package. */
  script?: string
  /** Sent as the secrets of the version that is uploaded. They are on no command line and in no file that has a name. */
  secrets?: Readonly<Record<string, string>>
}

interface Ended {
  code: number | null
  output: string
  record: WranglerRecord[]
}

/** One line of the file that WRANGLER_OUTPUT_FILE_PATH names. */
interface WranglerRecord {
  type: string
  version_id?: string | null
  message?: string
}

export interface Deployed {
  /** Id of the version at Cloudflare. */
  version: string
}

/** Uploads a worker and gives it all traffic. @throws PushFault with wrangler's own words. */
export async function deployWorker(configuration: string, options: WranglerOptions): Promise<Deployed> {
  const ended = await run(['deploy', '--config', configuration, '--secrets-file'], options)
  const deployed = ended.record.find(({ type }) => type === 'deploy')
  const failed = ended.record.find(({ type }) => type === 'command-failed')
  if (ended.code === 0 && !failed && typeof deployed?.version_id === 'string') return { version: deployed.version_id }
  throw new PushFault('refused', `${disagreement(ended, deployed, failed)}\n${lastLines(ended.output)}`)
}

function disagreement(
  { code }: Ended,
  deployed: WranglerRecord | undefined,
  failed: WranglerRecord | undefined,
): string {
  if (code !== 0 && deployed && !failed) {
    return `wrangler recorded a deployment and ended with ${codeText(code)}: the worker may or may not be deployed, and the next push repeats it`
  }
  if (code !== 0) return `wrangler ended with ${codeText(code)}`
  if (failed)
    return `wrangler ended with exit 0 and recorded a failure: ${stripVTControlCharacters(failed.message ?? '')}`
  return 'wrangler ended with exit 0 and recorded no deployment'
}

/** Bundles as a deployment would, without any network. @param bundle the file that receives what would be uploaded. */
export async function rehearse(configuration: string, bundle: string, options: WranglerOptions): Promise<void> {
  const { code, output } = await run(['deploy', '--config', configuration, '--dry-run', '--outfile', bundle], options)
  if (code !== 0)
    throw new PushFault('refused', `wrangler deploy --dry-run ended with ${codeText(code)}\n${lastLines(output)}`)
}

/**
 * Starts a bundle in workerd and measures the time until it has been loaded.
 *
 * @returns the milliseconds of cpu, or the reason why they could not be measured on this machine.
 */
export async function measureStartup(bundle: string, options: WranglerOptions): Promise<number | { reason: string }> {
  const profile = `${bundle}.cpuprofile`
  const { code, output } = await run(['check', 'startup', '--worker', bundle, '--outfile', profile], options)
  const active = /Active: ([\d.]+) ms/.exec(output)?.[1]
  if (code === 0 && active !== undefined) return Number(active)
  const reason = lastLines(output)
    .split('\n')
    .map((line) => line.replace(/^.*?\[?ERROR\]?\s*/, '').trim())
    .find((line) => /[a-z]{3}/i.test(line) && !/^[├│└]/.test(line))
  return { reason: reason ?? `wrangler check startup ended with ${codeText(code)}` }
}

async function run(args: string[], options: WranglerOptions): Promise<Ended> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-push-'))
  const recordFile = path.join(folder, 'record.ndjson')
  const input = args.includes('--secrets-file') ? secretsInput(folder, options.secrets ?? {}) : undefined
  try {
    const all = input ? [...args, input.name] : args
    const { code, output } = await runProcess(all, input?.handle ?? 'ignore', environment(options, recordFile), options)
    return { code, output, record: readRecord(recordFile) }
  } finally {
    if (input) fs.closeSync(input.handle)
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The secrets as a file without a name, which wrangler reads as its standard input. A push that is killed leaves none of them
 * on the disk. Windows cannot remove an open file: there it keeps its name, in a folder of this user, until wrangler has ended.
 */
function secretsInput(folder: string, secrets: Readonly<Record<string, string>>): { handle: number; name: string } {
  const name = path.join(folder, 'secrets.json')
  const handle = fs.openSync(name, 'wx+', 0o600)
  const isNamed = process.platform === 'win32'
  if (!isNamed) fs.rmSync(name)
  fs.writeSync(handle, JSON.stringify(secrets), 0) // a position keeps the offset of the handle, which wrangler reads from, at 0
  return { handle, name: isNamed ? name : '/dev/stdin' }
}

function environment({ token }: WranglerOptions, recordFile: string): NodeJS.ProcessEnv {
  const { DATABASE_URL: _owner, STACK_SERVICE_ROLE_KEY: _key, STACK_ACCESS_TOKEN: _token, ...inherited } = process.env
  return {
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_WRITE_LOGS: 'false', // its log files repeat requests
    ...inherited,
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_OUTPUT_FILE_PATH: recordFile,
    XDG_CONFIG_HOME: path.dirname(recordFile), // wrangler would leave files in the folder of the person
    CI: 'true', // no prompt: every question of wrangler has its default then
    NO_COLOR: '1',
    ...(token === undefined ? {} : { CLOUDFLARE_API_TOKEN: token }),
  }
}

function runProcess(
  args: readonly string[],
  input: number | 'ignore',
  env: NodeJS.ProcessEnv,
  { directory, timeoutMs, script }: WranglerOptions,
): Promise<{ code: number | null; output: string }> {
  // wrangler's own launcher turns a signal into exit 0, so its script runs directly
  const entry = script ?? createRequire(import.meta.url).resolve('wrangler')
  const child = spawn(process.execPath, ['--no-warnings', '--import', orphanModule, entry, ...args], {
    cwd: directory,
    env,
    stdio: [input, 'pipe', 'pipe', 'ipc'],
    timeout: timeoutMs ?? longestMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout!.on('data', keep)
  child.stderr!.on('data', keep)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output: stripVTControlCharacters(output) }))
  })
}

/** This room is TypeScript in a clone, and JavaScript in the published package. */
const orphanModule = new URL(`./orphan${path.extname(import.meta.filename)}`, import.meta.url).href

function readRecord(file: string): WranglerRecord[] {
  if (!fs.existsSync(file)) return []
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as WranglerRecord]
      } catch {
        return [] // the last line of a wrangler that was killed
      }
    })
}

function codeText(code: number | null): string {
  return code === null ? 'a signal' : `exit ${code}`
}

function lastLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return lines
    .slice(-shownLines)
    .map((line) => `  ${line}`)
    .join('\n')
}
