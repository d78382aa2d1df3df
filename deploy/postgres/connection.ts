/** The connection of a database's owner, and the URLs of the logins, for a Postgres that another party runs. */
import { rootCertificates } from 'node:tls'
import type pg from 'pg'
import { connect } from '../../local/database.ts'
import { isLoopback } from '../../src/wire/loopback.ts'

/** The passwords of the login roles (contract 5.1), by login. */
export type LoginPasswords = Record<'stack_backend' | 'stack_backend_service' | 'stack_auth', string>

/** The URLs of the logins, for the bindings of the workers. */
export interface WorkerUrls {
  /** `DATABASE_URL` of both workers. */
  backend: string
  /** `DATABASE_SERVICE_URL` of the backend worker. */
  backendService: string
  /** `DATABASE_SERVICE_URL` of the auth worker. */
  auth: string
}

/** The URL of the owner cannot be used: its text is wrong, not the server. */
export class UrlFault extends Error {
  override name = 'UrlFault'
}

/** The server does not answer, or does not let the owner in. */
export class DatabaseUnreachable extends Error {
  override name = 'DatabaseUnreachable'
}

/** Longest wait for a connection, in milliseconds. Neon and Aurora wake a sleeping database within a few seconds. */
const connectMs = 15_000

/** Parameters of a URL that are kept for the workers, or that change nothing for them. */
const knownParameters: ReadonlySet<string> = new Set([
  'sslmode',
  'channel_binding',
  'options',
  'application_name',
  'connect_timeout',
])

/** @throws UrlFault with a sentence that holds no part of the password. */
export function ownerUrl(text: string): URL {
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    throw new UrlFault('DATABASE_URL is no URL: it reads postgresql://owner:password@host:5432/database')
  }
  const fault = urlFault(url)
  if (fault) throw new UrlFault(`DATABASE_URL ${fault}`)
  return url
}

function urlFault(url: URL): string | undefined {
  if (!/^postgres(?:ql)?:$/.test(url.protocol)) return `begins with ${url.protocol}//: it must begin with postgresql://`
  if (url.hostname === '') return 'names no host: the workers reach Postgres over TCP only'
  if (url.username === '') return "names no user: it must hold the owner's name"
  if (!/^\/[^/]+$/.test(url.pathname)) return 'names no database: write its name behind the host, like /app'
  const unknown = [...url.searchParams.keys()].find((name) => !knownParameters.has(name))
  if (unknown === undefined) return undefined
  const advice = unknown.startsWith('ssl')
    ? 'give the certificate of its authority in DATABASE_CA_FILE'
    : 'remove it from the URL'
  return `holds the parameter ${unknown}, which the workers do not know: ${advice}`
}

/** Whether connections of this URL use TLS. The owner and the workers decide it alike (contract 5.4). */
function hasTls(url: URL): boolean {
  return !isLoopback(url.hostname) && url.searchParams.get('sslmode') !== 'disable'
}

/**
 * The driver's settings for the owner. The certificate is checked under every `sslmode` of the URL, as the workers do.
 * @param ca certificates in PEM form that are trusted beside those of Node.
 */
export function ownerConfig(url: URL, ca?: string): pg.ClientConfig {
  const options = url.searchParams.get('options')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    application_name: 'stack',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    ssl: hasTls(url) ? (ca === undefined ? true : { ca: [...rootCertificates, ca] }) : false,
    ...(options === null ? {} : { options }),
  }
}

/** Connects as the owner. @throws DatabaseUnreachable with a sentence. */
export async function connectOwner(config: pg.ClientConfig): Promise<pg.Client> {
  try {
    return await connect(config)
  } catch (error) {
    throw new DatabaseUnreachable(unreachable(error as Error & { code?: string }, config))
  }
}

function unreachable({ code, message }: Error & { code?: string }, { host, port, user, database }: pg.ClientConfig) {
  const where = `the database at ${host}:${port}`
  if (code === '28P01' || code === '28000')
    return `${where} does not let ${user} in: check user and password in DATABASE_URL`
  if (code === '3D000') return `${where} has no database named ${database}: create it, or change DATABASE_URL`
  if (code === '53300') return `${where} has no connection left: ${message}`
  if (/does not support SSL/.test(message)) {
    return `${where} does not offer TLS: turn it on there, or add sslmode=disable to DATABASE_URL`
  }
  if (code !== undefined && /CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) {
    return `the certificate of ${where} is not trusted (${message}): give that of its authority in DATABASE_CA_FILE`
  }
  return `${where} is not reachable: ${message || code}`
}

/** @returns the URLs of the logins on the owner's server. */
export function workerUrls(owner: URL, passwords: LoginPasswords): WorkerUrls {
  const urlOf = (login: keyof LoginPasswords) => {
    const url = new URL(owner.href)
    url.protocol = 'postgresql:'
    url.username = login
    url.password = encodeURIComponent(passwords[login])
    url.search = ''
    url.searchParams.set('sslmode', hasTls(owner) ? 'verify-full' : 'disable')
    const options = owner.searchParams.get('options')
    if (options !== null) url.searchParams.set('options', options)
    return url.href
  }
  return { backend: urlOf('stack_backend'), backendService: urlOf('stack_backend_service'), auth: urlOf('stack_auth') }
}
