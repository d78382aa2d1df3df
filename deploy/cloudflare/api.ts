/** Reads from Cloudflare's API. A push writes through wrangler alone. */
import { PushFault } from './fault.ts'

/** Longest time of one call, in milliseconds. The API answers within a few seconds. */
const timeoutMs = 30_000

/** Number of attempts of a call that failed on the way or with 5xx. Each call here reads, so that a second one does no harm. */
const attempts = 3

/** Largest number of accounts or zones of one page, which the API allows. */
const pageSize = 50

export interface Zone {
  id: string
  name: string
}

/** A worker as it is deployed now. */
export interface DeployedWorker {
  /** Names of all secrets. Their values cannot be read back. */
  secrets: ReadonlySet<string>
  /** Plain-text variables by name. */
  variables: Readonly<Record<string, string>>
}

interface Envelope {
  success?: boolean
  result?: unknown
  errors?: { code: number; message: string }[]
}

/** The API has no such worker. */
const notFound: ReadonlySet<number> = new Set([10007, 10090, 10092])

export class CloudflareApi {
  readonly #base: string
  readonly #token: string

  /** @param token of the variable CLOUDFLARE_API_TOKEN. */
  constructor(token: string, base = process.env['CLOUDFLARE_API_BASE_URL']) {
    this.#base = (base || 'https://api.cloudflare.com/client/v4').replace(/\/+$/, '')
    this.#token = token
  }

  /** @returns the id of the account that the token is for. @throws PushFault where it is for several and none is named. */
  async account(named: string | undefined): Promise<string> {
    if (named !== undefined) return named
    const accounts = (await this.#list('/accounts')) as { id: string; name: string }[]
    if (accounts.length === 1) return accounts[0]!.id
    if (accounts.length === 0) {
      throw new PushFault(
        'unauthorized',
        'CLOUDFLARE_API_TOKEN reaches no account: set CLOUDFLARE_ACCOUNT_ID, or give the token "Account Settings: Read"',
      )
    }
    const names = accounts.map(({ id, name }) => `${id} (${name})`).join(', ')
    throw new PushFault(
      'usage',
      `CLOUDFLARE_API_TOKEN reaches several accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${names}`,
    )
  }

  /** @returns the zone of the account that holds a host. @throws PushFault where there is none. */
  async zoneOf(account: string, host: string): Promise<Zone> {
    const labels = host.split('.')
    for (let from = 0; from < labels.length - 1; from++) {
      const name = labels.slice(from).join('.')
      const query = new URLSearchParams({ name, 'account.id': account })
      const [zone] = (await this.#list(`/zones?${query}`)) as Zone[]
      if (zone) return { id: zone.id, name: zone.name }
    }
    throw new PushFault(
      'usage',
      `no zone of this Cloudflare account holds ${host}: add its domain there, give the token "Zone: Read", or change the url of the environment`,
    )
  }

  /** @returns `undefined` where the account has no worker of this name. */
  async worker(account: string, name: string): Promise<DeployedWorker | undefined> {
    const path = `/accounts/${account}/workers/scripts/${name}`
    const settings = (await this.#optional(`${path}/settings`)) as { bindings?: Binding[] } | undefined
    const secrets = settings && ((await this.#optional(`${path}/secrets`)) as { name: string }[] | undefined)
    if (!settings || !secrets) return undefined
    const variables = (settings.bindings ?? []).flatMap(({ type, name, text }) =>
      type === 'plain_text' && text !== undefined ? [[name, text] as const] : [],
    )
    return { secrets: new Set(secrets.map((one) => one.name)), variables: Object.fromEntries(variables) }
  }

  async #list(path: string): Promise<unknown[]> {
    const result = await this.#optional(`${path}${path.includes('?') ? '&' : '?'}per_page=${pageSize}`)
    return Array.isArray(result) ? result : []
  }

  /** @returns the result, or `undefined` where the API has nothing of that name. */
  async #optional(path: string): Promise<unknown> {
    const { status, body } = await this.#get(path)
    if (status === 200 && body?.success === true) return body.result
    const errors = body?.errors ?? []
    if (status === 404 && errors.some(({ code }) => notFound.has(code))) return undefined
    const reason = errors.map(({ code, message }) => `${message} [code: ${code}]`).join(', ') || `status ${status}`
    if (status === 401 || status === 403) {
      throw new PushFault(
        'unauthorized',
        `Cloudflare refused CLOUDFLARE_API_TOKEN for ${shownPath(path)}: ${reason}. The token needs "Workers Scripts: Edit", "Workers Routes: Edit" and "Zone: Read"`,
      )
    }
    const kind = status >= 500 || status === 429 ? 'unreachable' : 'refused'
    throw new PushFault(kind, `Cloudflare did not answer ${shownPath(path)}: ${reason}`)
  }

  async #get(path: string): Promise<{ status: number; body: Envelope | undefined }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(`${this.#base}${path}`, {
          headers: { authorization: `Bearer ${this.#token}` },
          redirect: 'error', // the token is for the API alone
          signal: AbortSignal.timeout(timeoutMs),
        })
        const text = await response.text()
        if (response.status < 500 || attempt === attempts) return { status: response.status, body: parsed(text) }
      } catch (error) {
        if (attempt < attempts) continue
        const { name, message, cause } = error as Error
        const reason = name === 'TimeoutError' ? `nothing within ${timeoutMs / 1000} s` : (cause as Error)?.message
        throw new PushFault('unreachable', `Cloudflare's API is not reachable: ${reason ?? message}`)
      }
    }
  }
}

interface Binding {
  type: string
  name: string
  text?: string
}

function parsed(text: string): Envelope | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? json : undefined
  } catch {
    return undefined
  }
}

/** The path without its query, which repeats the account. */
function shownPath(path: string): string {
  return `GET ${path.split('?')[0]}`
}
