/** `stack push`: deploys an environment to Cloudflare. The result is JSON on stdout, and what was done is on stderr. */
import * as fs from 'node:fs'
import path from 'node:path'
import { dryRun } from '../../deploy/cloudflare/dry-run.ts'
import { PushFault } from '../../deploy/cloudflare/fault.ts'
import type { KeyName } from '../../deploy/cloudflare/keys.ts'
import type { Plan } from '../../deploy/cloudflare/plan.ts'
import { BuildRefused } from '../../deploy/cloudflare/preparation.ts'
import { push } from '../../deploy/cloudflare/push.ts'
import { DatabaseUnreachable, UrlFault } from '../../deploy/postgres/connection.ts'
import { isLoopback } from '../../src/wire/loopback.ts'
import { credentialsFile, storeCredential } from '../shared/credentials.ts'
import { Failure } from '../shared/failure.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { renderRefusals } from '../shared/refusals.ts'
import { readSelection } from '../shared/selection.ts'
import { standardInput } from '../shared/standard-input.ts'
import { type Choice, environmentOf, knownCredential } from '../shared/target.ts'

export interface PushFlags {
  project?: string
  env?: string
  dryRun?: boolean
  databaseUrlStdin?: boolean
  plan: Plan
  newKeys?: KeyName[]
  /** Seconds. */
  wait?: number
}

/** Longest wait for what was uploaded to be in force, in seconds. Cloudflare needs seconds, and a new route up to a minute. */
const defaultWait = 60

/** Largest URL of a database, in bytes. */
const longestUrl = 4_096

export async function runPush(flags: PushFlags): Promise<void> {
  const choice = chooseEnvironment(flags)
  requireHost(choice)
  process.stderr.write(`${choice.name}\n`)
  const databaseUrl = await ownerUrlFrom(flags)
  const { root, project, roles, templates, environment, ref, baseUrl } = choice
  const options = {
    ...{ root, project, roles, templates, environment, ref, baseUrl, plan: flags.plan },
    ca: certificateAuthority(),
    keyFile: path.join(path.dirname(credentialsFile()), `${ref}.json`),
    say: (line: string) => void process.stderr.write(`  ${line}\n`),
  }
  try {
    if (flags.dryRun) return await printJson(await dryRun({ ...options, databaseUrl }))
    const token = requireToken()
    if (databaseUrl === undefined) throw new Failure('usage', missingUrl)
    const result = await push({
      ...options,
      databaseUrl,
      token,
      account: process.env['CLOUDFLARE_ACCOUNT_ID'] || undefined,
      renew: flags.newKeys ?? [],
      credential: () => knownCredential(ref),
      onServiceRoleKey: (key) => storeCredential(ref, { service_role_key: key }),
      waitMs: (flags.wait ?? defaultWait) * 1000,
    })
    await printJson(result)
  } catch (error) {
    throw failureOf(error, root)
  }
}

const missingUrl =
  "the database's owner is not known: set DATABASE_URL to postgresql://owner:password@host:5432/database, or pipe it in with --database-url-stdin"

/** The environment that `--env` names, else the one that was chosen: the local stack is none that is deployed. */
function chooseEnvironment({ project: named, env }: PushFlags): Choice {
  const located = locateProject(named)
  if (env !== undefined) return environmentOf(located, env, '--env')
  const selected = readSelection(located.root)
  if (selected !== undefined) return environmentOf(located, selected, 'stack env use')
  const names = Object.keys(located.project.environments)
  throw new Failure(
    'no stack',
    names.length > 0
      ? `no environment is chosen: --env names one of ${names.join(', ')}`
      : 'stack/project.json names no environment: `stack env create <name> --url https://…` adds one',
  )
}

/** Refuses an address that Cloudflare cannot route. A loopback address is for a stand-in of the platform on this machine. */
function requireHost({ baseUrl, environment }: Choice): void {
  const { protocol, hostname, pathname, port } = new URL(baseUrl)
  const api = process.env['CLOUDFLARE_API_BASE_URL']
  if (isLoopback(hostname) && api !== undefined && URL.canParse(api) && isLoopback(new URL(api).hostname)) return
  if (protocol !== 'https:' || port !== '' || isLoopback(hostname))
    throw new Failure('usage', `the url of ${environment} is ${baseUrl}: Cloudflare serves https://<host> alone`)
  if (pathname !== '/')
    throw new Failure(
      'usage',
      `the url of ${environment} has the path ${pathname}: on Cloudflare a stack has a host of its own`,
    )
}

async function ownerUrlFrom({ databaseUrlStdin }: PushFlags): Promise<string | undefined> {
  if (!databaseUrlStdin) return process.env['DATABASE_URL']?.trim() || undefined
  const text = (await standardInput(longestUrl)).trim()
  if (text === '') throw new Failure('usage', '--database-url-stdin found nothing on standard input')
  return text
}

function certificateAuthority(): string | undefined {
  const file = process.env['DATABASE_CA_FILE']
  if (!file) return undefined
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure('usage', `DATABASE_CA_FILE cannot be read: ${(error as Error).message}`)
  }
}

function requireToken(): string {
  const token = process.env['CLOUDFLARE_API_TOKEN']?.trim()
  if (token && /^[!-~]+$/.test(token)) return token
  throw new Failure(
    'unauthorized',
    token
      ? 'CLOUDFLARE_API_TOKEN holds a character that no token has'
      : 'CLOUDFLARE_API_TOKEN is not set: make a token at https://dash.cloudflare.com/profile/api-tokens with "Workers Scripts: Edit", "Workers Routes: Edit" and "Zone: Read", and set the variable to it',
  )
}

function failureOf(error: unknown, root: string): unknown {
  if (error instanceof BuildRefused) {
    return new Failure('refused', renderRefusals(root, error.result.refusals, { consequence: 'nothing was deployed' }))
  }
  if (error instanceof PushFault) return new Failure(error.kind, error.message, false)
  if (error instanceof UrlFault) return new Failure('usage', error.message)
  if (error instanceof DatabaseUnreachable) return new Failure('unreachable', error.message)
  if (error instanceof Failure || !(error instanceof Error) || 'syscall' in error) return error
  return new Failure('refused', `error: ${error.message}`)
}
