/** The project's own wrangler.toml: settings for the deployment of its worker (contract 1.3). */
import * as fs from 'node:fs'
import path from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { compatibilityDate } from '../../src/wire/compatibility.ts'
import { secretNameFault } from '../../src/wire/secrets.ts'
import { PushFault } from './fault.ts'

export interface ProjectConfiguration {
  /** The account, where the file names one. */
  account?: string
  /** Plain-text variables of the backend worker. */
  variables: Record<string, unknown>
  /** Variables of the auth worker: where the providers of a sign-in are. */
  authVariables: Record<string, unknown>
  /** Every other setting, for the backend worker. */
  settings: Record<string, unknown>
  /** Sentences about settings that have no effect. */
  notes: string[]
}

/** Settings that a push decides itself, for every stack alike. */
const own: ReadonlySet<string> = new Set([
  ...[
    '$schema',
    'name',
    'main',
    'env',
    'no_bundle',
    'base_dir',
    'find_additional_modules',
    'rules',
    'upload_source_maps',
  ],
  ...['compatibility_date', 'compatibility_flags', 'workers_dev', 'preview_urls', 'triggers', 'build', 'dev', 'minify'],
  ...['account_id', 'vars', 'secrets', 'send_metrics', 'tsconfig', 'keep_vars', 'route'],
])

/** Variables of this form belong to the auth worker: the address of a provider in a national cloud. */
const authVariable = /^OAUTH_[A-Z]+_ISSUER$/

/**
 * Reads the file of a project, with the part `[env.<environment>]` in place of the same settings above it.
 * @param root absolute path of the project. @throws PushFault with file, line and column.
 */
export function readProjectConfiguration(root: string, environment: string): ProjectConfiguration {
  const file = path.join(root, 'wrangler.toml')
  const { env, ...top } = fs.existsSync(file) ? parsed(file) : {}
  const part = env !== undefined && isTable(env) ? env[environment] : undefined
  const all: Record<string, unknown> = { ...top, ...(isTable(part) ? part : {}) }
  const variables = isTable(all['vars']) ? all['vars'] : {}
  for (const name of Object.keys(variables)) {
    if (authVariable.test(name)) continue
    const fault = secretNameFault(name)
    if (fault) throw new PushFault('usage', `wrangler.toml cannot set this variable: ${fault}`)
  }
  const of = (isAuth: boolean) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => authVariable.test(name) === isAuth))
  const { account_id: account, compatibility_date: date } = all
  return {
    ...(typeof account === 'string' ? { account } : {}),
    variables: of(false),
    authVariables: of(true),
    settings: settingsOf(root, all),
    notes:
      date === undefined || date === compatibilityDate
        ? []
        : [
            `wrangler.toml names the compatibility date ${String(date)}: the stack is built, tested and deployed for ${compatibilityDate}`,
          ],
  }
}

/** The configuration of a push is in another folder, so a path of the project becomes absolute. */
function settingsOf(root: string, all: Record<string, unknown>): Record<string, unknown> {
  const settings = Object.fromEntries(Object.entries(all).filter(([name]) => !own.has(name)))
  const { assets } = settings
  if (!isTable(assets) || typeof assets['directory'] !== 'string') return settings
  return { ...settings, assets: { ...assets, directory: path.resolve(root, assets['directory']) } }
}

function parsed(file: string): Record<string, unknown> {
  try {
    return parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [reason = ''] = error.message.split('\n')
    throw new PushFault('usage', `wrangler.toml:${error.line}:${error.column} is not valid TOML: ${reason}`)
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
