/**
 * Providers of sign-in: their names, the fields of their client records, and the checks of documents about them (contract 9.5). The
 * auth module and the command line refuse the same documents.
 */
import type { FieldError } from './envelope.ts'
import { Faults, isObject, unknownReason } from './faults.ts'
import { isLoopback } from './loopback.ts'

/** In the order in which they are listed. */
export const providerNames = ['google', 'apple', 'microsoft', 'github', 'email', 'phone'] as const

export type ProviderName = (typeof providerNames)[number]

/** The providers that have client records. `email` and `phone` keep settings of their own. */
export type OAuthProvider = Exclude<ProviderName, 'email' | 'phone'>

export type Platform = 'web' | 'ios' | 'android'

/** Neutral names of the providers with client records. */
const synonyms: Record<string, OAuthProvider> = {
  provider_a: 'google',
  provider_b: 'apple',
  provider_c: 'microsoft',
  provider_d: 'github',
}

/** A client of the stack at a provider. Beside `key` to `variant` it has the fields of its provider and platform. */
export interface ProviderClient {
  /** Unique among all clients of the provider. */
  key: string
  enabled: boolean
  application_key: string
  platform: Platform
  variant: string
  /** Name of the credential that a browser client proves itself with. The default is the key. */
  credential_ref?: string
  /** Addresses that a browser client may be sent back to. Each is compared exactly. */
  return_uris?: string[]
  web_client_id?: string
  services_id?: string
  application_id?: string
  directory?: 'common' | 'organizations' | 'consumers' | 'tenant'
  tenant_id?: string
  bundle_id?: string
  package_name?: string
  ios_client_id?: string
  android_client_id?: string
  /** The `web_client_id` of a browser client of the same provider. */
  server_client_id?: string
  /** 40 lowercase hexadecimal digits. */
  signing_certificate_sha1?: string
  redirect_uri?: string
}

export interface ClientLists {
  browser_clients: ProviderClient[]
  native_clients: ProviderClient[]
}

/** A configuration document. A list replaces the stored one whole, and what is left out stays as it is. */
export interface ProviderConfig extends Partial<ClientLists> {
  /** Scopes that a sign-in asks for beside those that it needs. */
  scopes?: string[]
  /** Whether an address that the provider has verified leads to the account with that confirmed address. */
  link_policy?: 'verified_email' | 'never'
}

/** The form of a client's key and of a credential's name. `auth.provider_clients` checks the same. */
export const recordName = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** Clients of one list: a provider's console holds a few dozen at most. */
const mostClients = 100

/** Addresses of one client: each sign-in compares with all of them. */
const mostReturnUris = 50

/** Scopes beside the needed ones: they all travel in the query of one address. */
const mostScopes = 20

/** Fields after those of every client. `?` marks those that may be left out. Contract 9.5 has the same table. */
const matrix: Record<OAuthProvider, Partial<Record<Platform, string>>> = {
  google: {
    web: 'web_client_id credential_ref? return_uris?',
    ios: 'bundle_id ios_client_id redirect_uri',
    android: 'package_name android_client_id server_client_id signing_certificate_sha1 redirect_uri',
  },
  apple: { web: 'services_id credential_ref? return_uris?', ios: 'bundle_id redirect_uri?' },
  microsoft: {
    web: 'application_id directory tenant_id? credential_ref? return_uris?',
    ios: 'application_id directory tenant_id? bundle_id redirect_uri',
    android: 'application_id directory tenant_id? package_name signing_certificate_sha1? redirect_uri',
  },
  github: { web: 'web_client_id credential_ref? return_uris?' },
}

const everyClient = 'key enabled application_key platform variant'

interface Field {
  name: keyof ProviderClient
  isOptional: boolean
}

/** @returns the fields of such a client in the order in which they are shown, or nothing where the provider has none. */
export function fieldsOf(provider: OAuthProvider, platform: Platform): Field[] {
  const own = matrix[provider][platform]
  if (own === undefined) return []
  return `${everyClient} ${own}`.split(' ').map((word) => ({
    name: word.replace('?', '') as keyof ProviderClient,
    isOptional: word.endsWith('?'),
  }))
}

/** @param text a name or one of its synonyms. */
export function providerNamed(text: string): ProviderName | undefined {
  if (Object.hasOwn(synonyms, text)) return synonyms[text]
  return providerNames.find((name) => name === text)
}

export function hasClients(provider: ProviderName): provider is OAuthProvider {
  return Object.hasOwn(matrix, provider)
}

/**
 * Checks a configuration document by itself. `checkClients` checks the lists that it results in.
 *
 * @returns the known fields in the form in which they are stored.
 */
export function readProviderConfig(
  provider: ProviderName,
  json: unknown,
): { config: ProviderConfig; faults: FieldError[] } {
  const faults = new Faults()
  const config: ProviderConfig = {}
  if (!hasClients(provider)) {
    const where = provider === 'phone' ? 'its settings are those of GET and PUT /providers/phone/settings' : undefined
    faults.add([], `"${provider}" has no configuration: ${where ?? 'it is only enabled and disabled'}`)
  } else if (!isObject(json)) faults.add([], 'the configuration must be an object')
  else {
    for (const [name, value] of Object.entries(json)) {
      if (faults.isFull) break
      if (name === 'browser_clients' || name === 'native_clients') {
        config[name] = readClients(provider, name, value, faults)
      } else if (name === 'scopes') config.scopes = readScopes(value, faults)
      else if (name === 'link_policy') {
        if (value === 'verified_email' || value === 'never') config.link_policy = value
        else faults.add([name], 'must be "verified_email" or "never"')
      } else faults.add([name], unknownReason(name, ['browser_clients', 'native_clients', 'scopes', 'link_policy']))
    }
  }
  return { config, faults: faults.list }
}

/** Checks both lists together: keys are unique, and an Android client names the web client of its server. */
export function checkClients({ browser_clients, native_clients }: ClientLists): FieldError[] {
  const faults = new Faults()
  const keys = new Map<string, string>()
  for (const [list, clients] of Object.entries({ browser_clients, native_clients })) {
    for (const [index, { key }] of clients.entries()) {
      const before = keys.get(key)
      if (before === undefined) keys.set(key, `${list}.${index}`)
      else faults.add([list, index, 'key'], `is the key of ${before} already: a key names one client of the provider`)
    }
  }
  const serverIds = new Set(browser_clients.map(({ web_client_id }) => web_client_id))
  for (const [index, { server_client_id }] of native_clients.entries()) {
    if (server_client_id === undefined || serverIds.has(server_client_id)) continue
    const path = ['native_clients', index, 'server_client_id']
    faults.add(path, 'must be the web_client_id of a browser client of this provider: configure that client too')
  }
  return faults.list
}

function readClients(provider: OAuthProvider, list: keyof ClientLists, value: unknown, faults: Faults) {
  const clients: ProviderClient[] = []
  if (!Array.isArray(value) || value.length > mostClients) {
    faults.add([list], `must be a list of at most ${mostClients} clients`)
    return clients
  }
  for (const [index, item] of value.entries()) {
    if (faults.isFull) break
    const client = readClient(provider, list, item, [list, index], faults)
    if (client) clients.push(client)
  }
  return clients
}

function readClient(
  provider: OAuthProvider,
  list: keyof ClientLists,
  json: unknown,
  path: (string | number)[],
  faults: Faults,
): ProviderClient | undefined {
  if (!isObject(json)) {
    faults.add(path, 'must be an object')
    return undefined
  }
  const allowed = list === 'browser_clients' ? (['web'] as const) : (['ios', 'android'] as const)
  const platforms = allowed.filter((platform) => matrix[provider][platform] !== undefined)
  const platform = platforms.find((one) => one === json['platform'])
  if (!platform) {
    const wanted = platforms.map((one) => `"${one}"`).join(' or ')
    if (wanted === '') faults.add(path, `is a native client, and "${provider}" has browser clients only`)
    else faults.add([...path, 'platform'], `must be ${wanted} for one of the ${list} of "${provider}"`)
    return undefined
  }
  const fields = fieldsOf(provider, platform)
  for (const name of Object.keys(json)) {
    if (faults.isFull) return undefined
    if (!fields.some((field) => field.name === name)) {
      faults.add([...path, name], foreignReason(name, provider, platform))
    }
  }
  const client: Record<string, unknown> = {}
  for (const { name, isOptional } of fields) {
    if (!Object.hasOwn(json, name)) {
      if (!isOptional) faults.add([...path, name], 'is missing')
      continue
    }
    const value = json[name]
    if (name === 'return_uris') checkReturnUris(value, [...path, name], faults)
    else {
      const reason = forms[name](value)
      if (reason) faults.add([...path, name], reason)
    }
    client[name] = name === 'signing_certificate_sha1' || name === 'tenant_id' ? lowered(value) : value
  }
  checkDirectory(client, path, faults)
  if (list === 'browser_clients') {
    client['credential_ref'] ??= client['key']
    client['return_uris'] ??= []
  }
  const present = fields.filter(({ name }) => client[name] !== undefined)
  return Object.fromEntries(present.map(({ name }) => [name, client[name]])) as unknown as ProviderClient
}

/** Contract 9.5: `tenant_id` goes with `tenant` alone. */
function checkDirectory({ directory, tenant_id }: Record<string, unknown>, path: (string | number)[], faults: Faults) {
  if (directory === 'tenant' && tenant_id === undefined)
    faults.add([...path, 'tenant_id'], 'is missing: the directory is "tenant"')
  if (directory !== 'tenant' && tenant_id !== undefined)
    faults.add([...path, 'tenant_id'], 'goes with the directory "tenant" alone')
}

function checkReturnUris(value: unknown, path: (string | number)[], faults: Faults): void {
  if (!Array.isArray(value) || value.length > mostReturnUris) {
    faults.add(path, `must be a list of at most ${mostReturnUris} URLs`)
    return
  }
  for (const [index, uri] of value.entries()) {
    const reason = uriFault(uri, false) ?? (value.indexOf(uri) < index ? 'is in the list already' : undefined)
    if (reason) faults.add([...path, index], reason)
  }
}

/** RFC 6749 section 3.3: the form of one scope. */
function readScopes(value: unknown, faults: Faults): string[] {
  if (!Array.isArray(value) || value.length > mostScopes)
    faults.add(['scopes'], `must be a list of at most ${mostScopes} scopes`)
  else {
    for (const [index, scope] of value.entries()) {
      if (typeof scope !== 'string' || !/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope)) {
        faults.add(['scopes', index], 'must be 1 to 200 visible ASCII characters without quotes and backslashes')
      } else if (value.indexOf(scope) < index) faults.add(['scopes', index], 'is in the list already')
    }
  }
  return value as string[]
}

type Form = (value: unknown) => string | undefined

const matching =
  (pattern: RegExp, reason: string): Form =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : reason

const name: Form = matching(
  recordName,
  'must be 1 to 63 lowercase letters, digits, dots, dashes and underscores, and begin with a letter or digit',
)
const line: Form = matching(
  /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}(?<!\s)$/u,
  'must be one line of 1 to 200 characters without white space around it',
)
const clientId: Form = matching(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')

/** The form of each field. A reason completes a sentence that begins with the field. */
const forms: Record<Exclude<keyof ProviderClient, 'return_uris'>, Form> = {
  key: name,
  enabled: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  application_key: line,
  platform: () => undefined, // it was checked before the fields of its platform were known
  variant: line,
  credential_ref: name,
  web_client_id: clientId,
  services_id: clientId,
  application_id: clientId,
  ios_client_id: clientId,
  android_client_id: clientId,
  server_client_id: clientId,
  directory: matching(
    /^(?:common|organizations|consumers|tenant)$/,
    'must be "common", "organizations", "consumers" or "tenant"',
  ),
  tenant_id: matching(
    /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/,
    'must be the id or a domain name of the directory',
  ),
  bundle_id: matching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,154}$/, 'must be 1 to 155 letters, digits, dots and dashes'),
  package_name: matching(
    /^(?=.{3,255}$)[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+$/,
    'must be the application id of an Android app, like com.example.app',
  ),
  signing_certificate_sha1: matching(
    /^[0-9a-fA-F]{40}$/,
    'must be 40 hexadecimal digits without colons: the SHA-1 of the signing certificate',
  ),
  redirect_uri: (value) => uriFault(value, true),
}

/** Schemes that a browser or a system runs or opens itself: no app receives what is sent there. */
const ownSchemes =
  /^(?:javascript|data|vbscript|file|filesystem|blob|about|view-source|intent|content|ftp|wss?|mailto|tel|sms|chrome):/i

/** @param isNative whether a scheme of an app is allowed (RFC 8252 section 7.1). */
function uriFault(value: unknown, isNative: boolean): string | undefined {
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,2000}$/.test(value)) {
    return 'must be an absolute URL of 1 to 2000 visible ASCII characters'
  }
  if (value.includes('#')) return 'has a fragment, and a redirect cannot have one'
  if (/[\\*]/.test(value)) return 'holds a backslash or a wildcard: addresses are compared exactly'
  if (!URL.canParse(value)) return 'is no absolute URL'
  const { protocol, hostname, username, password } = new URL(value)
  if (protocol !== 'https:' && protocol !== 'http:') {
    if (!isNative) return 'must be an https URL'
    if (ownSchemes.test(value)) return `cannot have the scheme ${protocol}`
    return /^[a-z][a-z0-9+.-]*:./i.test(value) ? undefined : 'has nothing after its scheme'
  }
  if (!/^https?:\/\/[^/?]/.test(value)) return 'must begin with https:// and a host'
  if (username || password) return 'holds a user name or a password'
  if (protocol === 'http:' && !isLoopback(hostname)) return 'must be an https URL: http is for loopback addresses'
  return undefined
}

/** Names of secrets, which people write into a configuration by mistake. */
const secretNames = ['client_secret', 'private_key', 'secret', 'password']

/** Names the kind of client that a field belongs to, where there is one. */
function foreignReason(given: string, provider: OAuthProvider, platform: Platform): string {
  if (secretNames.includes(given)) return 'is a secret, which is no part of the configuration: write it as a credential'
  const has = (other: OAuthProvider, one: Platform) => fieldsOf(other, one).some(({ name }) => name === given)
  const platforms = (['web', 'ios', 'android'] as const).filter((one) => has(provider, one))
  if (platforms.length > 0) return `belongs to clients for ${platforms.join(' and ')}, and this one is for ${platform}`
  const others = (Object.keys(matrix) as OAuthProvider[]).filter(
    (other) => has(other, 'web') || has(other, 'ios') || has(other, 'android'),
  )
  if (others.length > 0) return `is a field of ${others.join(' and ')}, and "${provider}" has none of that name`
  return unknownReason(
    given,
    fieldsOf(provider, platform).map(({ name }) => name),
  )
}

function lowered(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}
