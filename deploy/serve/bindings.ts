/** The bindings of both workers of a served stack, and the environment of workerd, which holds their values. */
import { keys as keyOperations } from '../../src/wire/operations.ts'
import type { WorkerUrls } from '../postgres/connection.ts'
import { variableOf } from './config.ts'
import type { MadeName } from './secrets.ts'

export interface WorkerBindings {
  backend: Record<string, string>
  auth: Record<string, string>
}

export interface BindingOptions {
  /** The public address, without a slash at its end. */
  stackUrl: string
  secrets: Record<MadeName, string>
  urls: WorkerUrls
  /** Largest number of connections of one login and process. */
  connections: number
  /** The project's own, which win in the backend worker. */
  project: Record<string, string>
  environment: NodeJS.ProcessEnv
}

/** Optional settings of both workers that are passed on. */
const sharedNames = ['AUTH_JWKS', 'STACK_IDLE_MS', 'STACK_TRANSACTION_MS', 'STACK_POOL_CONNECTIONS']
/** Optional settings of the auth worker that are passed on, and `OAUTH_…`. */
const authNames = ['SEALING_KEY_PREVIOUS']

/** Names of every binding, also of those that have no value here. */
export const bindingNames = {
  backend: [
    ...['CLAIMS_KEY', 'DATABASE_URL', 'DATABASE_SERVICE_URL', 'STACK_URL', 'STACK_PUBLIC_URL', 'AUTH_JWKS_URL'],
    ...['AUTH_ISSUER', 'AUTH_AUDIENCE', 'SERVICE_ROLE_KEY', ...sharedNames],
  ],
  auth: [
    ...['CLAIMS_KEY', 'DATABASE_URL', 'DATABASE_SERVICE_URL', 'STACK_URL', 'STACK_PUBLIC_URL', 'AUTH_JWKS_URL'],
    ...[
      'AUTH_ISSUER',
      'AUTH_AUDIENCE',
      'SERVICE_ROLE_KEY',
      'PUBLISHABLE_KEY',
      'SEALING_KEY',
      'PASSWORD_PEPPER',
      'REFRESH_KEY',
    ],
    ...[...sharedNames, ...authNames],
  ],
}

export function workerBindings(options: BindingOptions): WorkerBindings {
  const { stackUrl, secrets, urls, connections, project, environment } = options
  const passed = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]!] as const] : [])))
  const common = {
    STACK_PUBLIC_URL: stackUrl,
    STACK_POOL_CONNECTIONS: String(connections),
    ...passed(sharedNames),
    CLAIMS_KEY: secrets.CLAIMS_KEY,
    DATABASE_URL: urls.backend,
    STACK_URL: stackUrl,
    AUTH_JWKS_URL: `${stackUrl}${keyOperations.keySet.path}`,
    AUTH_ISSUER: `${stackUrl}/auth`,
    AUTH_AUDIENCE: secrets.AUTH_AUDIENCE,
    SERVICE_ROLE_KEY: secrets.SERVICE_ROLE_KEY,
  }
  return {
    backend: { ...common, DATABASE_SERVICE_URL: urls.backendService, ...project },
    auth: {
      ...passed([...authNames, ...Object.keys(environment).filter((name) => /^OAUTH_[A-Z0-9_]+$/.test(name))]),
      ...common,
      DATABASE_SERVICE_URL: urls.auth,
      PUBLISHABLE_KEY: secrets.PUBLISHABLE_KEY,
      SEALING_KEY: secrets.SEALING_KEY,
      PASSWORD_PEPPER: secrets.PASSWORD_PEPPER,
      REFRESH_KEY: secrets.REFRESH_KEY,
    },
  }
}

/** The whole environment of workerd: nothing of this process's own. */
export function workerdEnvironment(
  { backend, auth }: WorkerBindings,
  storage: Record<string, string>,
): NodeJS.ProcessEnv {
  const named = (worker: 'backend' | 'auth', bindings: Record<string, string>) =>
    Object.entries(bindings).map(([name, value]) => [variableOf(worker, name), value] as const)
  return { ...Object.fromEntries([...named('backend', backend), ...named('auth', auth)]), ...storage }
}
