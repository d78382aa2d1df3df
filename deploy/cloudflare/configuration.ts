/**
 * The configuration with which wrangler deploys the two workers of an environment. It has no secret. It gives the workers at
 * Cloudflare what `local/worker.ts` gives them on one machine.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { bindingsOf } from '../../build/emit/bindings.ts'
import { writeTogether } from '../../build/emit/write.ts'
import type { RouteTable } from '../../runtime/table.ts'
import { compatibilityDate, compatibilityFlags } from '../../src/wire/compatibility.ts'
import { keys as keyOperations } from '../../src/wire/operations.ts'
import { authPaths } from '../../src/wire/reserved-paths.ts'
import type { Zone } from './api.ts'
import type { Placement } from './placement.ts'
import type { Plan } from './plan.ts'
import type { ProjectConfiguration } from './project-configuration.ts'

/** The secrets that each worker must have. A deployment without one of them fails. */
export const requiredSecrets = {
  auth: [
    ...['CLAIMS_KEY', 'DATABASE_URL', 'DATABASE_SERVICE_URL', 'SERVICE_ROLE_KEY'],
    ...['SEALING_KEY', 'PASSWORD_PEPPER', 'REFRESH_KEY'],
  ],
  backend: ['CLAIMS_KEY', 'DATABASE_URL', 'DATABASE_SERVICE_URL', 'SERVICE_ROLE_KEY'],
} as const

/**
 * Longest cpu time of a request of the auth worker, in milliseconds: the longest that Workers Paid gives unless it is asked for
 * more. Workers Free refuses the setting itself, so that no stack is deployed whose sign-ins would all fail.
 */
const authCpuMs = 30_000

export type WorkerName = 'auth' | 'backend'

/** The names of the workers at Cloudflare. The ref makes them unique in an account. */
export function workerNames(ref: string): Record<WorkerName, string> {
  return { backend: `stack-${ref}`, auth: `stack-${ref}-auth` }
}

export interface Deployment {
  /** Absolute path of the project. */
  root: string
  /** The project's name. */
  project: string
  environment: string
  ref: string
  /** Base URL of the stack, without a slash at its end. */
  baseUrl: string
  tables: Record<WorkerName, RouteTable>
  configuration: ProjectConfiguration
  /** `undefined` in a dry run without a database. */
  placement: Placement | undefined
  plan: Plan
  /** Variables that name what is deployed, for the next push. */
  facts: Record<WorkerName, Record<string, string>>
  /** Absent in a dry run, which does not ask Cloudflare. */
  account?: string
  zone?: Zone
}

/** Writes the configuration of both workers. @returns their absolute paths. */
export function writeConfigurations(deployment: Deployment, { isUnbound = false } = {}): Record<WorkerName, string> {
  const folder = path.join(deployment.root, '.stack/deploy', deployment.environment)
  const files = { auth: path.join(folder, 'auth.json'), backend: path.join(folder, 'backend.json') }
  const text = (configuration: object) => `${JSON.stringify(configuration, undefined, 2)}\n`
  writeTogether([
    { file: files.auth, contents: text(authConfiguration(deployment, isUnbound)) },
    { file: files.backend, contents: text(backendConfiguration(deployment)) },
  ])
  return files
}

function authConfiguration(deployment: Deployment, isUnbound: boolean): object {
  const { ref, plan, configuration, facts, tables } = deployment
  const { auth } = workerNames(ref)
  const out = path.join(deployment.root, '.stack/auth/out')
  const parts = bindingsOf(tables.auth, hasDriver(out), `${ref} auth`)
  return {
    ...common(
      deployment,
      'auth',
      out,
      authPaths.flatMap((path) => [path, `${path}/*`]),
    ),
    ...(plan === 'paid' ? { limits: { cpu_ms: authCpuMs } } : {}),
    vars: { ...configuration.authVariables, ...variablesOf(deployment, 'auth'), ...facts.auth },
    services: isUnbound ? [] : [{ binding: 'AUTH', service: auth }],
    ...parts,
  }
}

function backendConfiguration(deployment: Deployment): object {
  const { ref, project, configuration, facts, tables } = deployment
  const { auth } = workerNames(ref)
  const out = path.join(deployment.root, '.stack/out')
  const { settings } = configuration
  const parts = bindingsOf(tables.backend, hasDriver(out), `${project} ${ref}`)
  const own = common(deployment, 'backend', out, ['/*'])
  const list = (name: string) => (Array.isArray(settings[name]) ? (settings[name] as unknown[]) : [])
  const objects = settings['durable_objects'] as { bindings?: unknown[] } | undefined
  return {
    ...settings,
    ...own,
    routes: [...list('routes'), ...own.routes],
    vars: { ...configuration.variables, ...variablesOf(deployment, 'backend'), ...facts.backend },
    services: [...without(list('services'), 'binding', ['AUTH']), { binding: 'AUTH', service: auth }],
    durable_objects: {
      bindings: [...without(objects?.bindings ?? [], 'name', ['STACK_POOL']), ...parts.durable_objects.bindings],
    },
    migrations: [
      ...without(
        list('migrations'),
        'tag',
        parts.migrations.map(({ tag }) => tag),
      ),
      ...parts.migrations,
    ],
    ratelimits: [
      ...without(
        list('ratelimits'),
        'name',
        parts.ratelimits.map(({ name }) => name),
      ),
      ...parts.ratelimits,
    ],
    triggers: parts.triggers,
  }
}

/** The entries of a list of tables whose field has none of the names. */
function without(entries: readonly unknown[], field: string, names: readonly string[]): unknown[] {
  return entries.filter((entry) => !names.includes((entry as Record<string, string>)[field]!))
}

function common(
  { ref, baseUrl, account, zone, placement, configuration }: Deployment,
  worker: WorkerName,
  out: string,
  paths: readonly string[],
) {
  const { hostname } = new URL(baseUrl)
  const place = configuration.settings['placement'] ?? placement
  return {
    name: workerNames(ref)[worker],
    ...(account === undefined ? {} : { account_id: account }),
    main: path.join(out, 'worker.js'),
    base_dir: out,
    no_bundle: true,
    find_additional_modules: true,
    rules: [
      { type: 'ESModule', globs: ['**/*.js'], fallthrough: false },
      { type: 'CompiledWasm', globs: ['**/*.wasm'], fallthrough: false },
    ],
    upload_source_maps: true,
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags,
    // Both are reached by the host of the stack alone: on another host the paths of the two would not be divided.
    workers_dev: false,
    preview_urls: false,
    routes: paths.map((path) => ({ pattern: `${hostname}${path}`, zone_id: zone?.id ?? 'unknown' })),
    secrets: { required: requiredSecrets[worker] },
    dependencies_instrumentation: { enabled: false }, // wrangler would report the packages of the project
    ...(place === undefined ? {} : { placement: place }),
  }
}

function variablesOf({ baseUrl, ref }: Deployment, worker: WorkerName): Record<string, string> {
  return {
    STACK_URL: baseUrl,
    AUTH_JWKS_URL: `${baseUrl}${keyOperations.keySet.path}`,
    AUTH_ISSUER: `${baseUrl}/auth`,
    AUTH_AUDIENCE: ref,
    STACK_WORKER: worker,
  }
}

/** A bundle with the database driver exports the class of the pool. */
function hasDriver(out: string): boolean {
  return fs.existsSync(path.join(out, 'driver.js'))
}
