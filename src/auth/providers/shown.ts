/** Providers and credentials as the management surface shows them: never with a secret. */
import { hasClients, type ProviderClient, type ProviderConfig } from '../../wire/providers.ts'
import type { Provider, StoredCredential } from './rows.ts'

export interface ShownCredential extends StoredCredential {
  /** Keys of the clients that prove themselves with it, `settings.mail`, or `phone.settings`. */
  referenced_by: string[]
}

export interface ShownProvider {
  name: Provider['name']
  kind: Provider['kind']
  enabled: boolean
  state: 'enabled' | 'disabled'
  etag: string
  browser_clients: ProviderClient[]
  native_clients: ProviderClient[]
  /** Present where the provider has clients. */
  scopes?: string[]
  /** Present where the provider has clients. */
  link_policy?: NonNullable<ProviderConfig['link_policy']>
  credentials: ShownCredential[]
  /** Whether it has clients, or settings. `email` needs none. */
  configured: boolean
  /** Reasons why a sign-in cannot work, as `<code>` or `<code>:<client or credential>`. */
  problems: string[]
  updated_at: Date
}

export function shown(provider: Provider): ShownProvider {
  const { name, kind, enabled, browser_clients, native_clients, config, updated_at } = provider
  return {
    name,
    kind,
    enabled,
    state: enabled ? 'enabled' : 'disabled',
    etag: etagOf(provider),
    browser_clients,
    native_clients,
    ...(hasClients(name) ? { scopes: config.scopes ?? [], link_policy: config.link_policy ?? 'verified_email' } : {}),
    credentials: provider.credentials.map((credential) => shownCredential(provider, credential)),
    configured: isConfigured(provider),
    problems: problemsOf(provider),
    updated_at,
  }
}

export function shownCredential(provider: Provider, credential: StoredCredential): ShownCredential {
  return { ...credential, referenced_by: referencesTo(provider, credential.name) }
}

/** The entity tag of a provider, and of the settings of `phone`, which are a part of it. */
export function etagOf({ revision }: Pick<Provider, 'revision'>): string {
  return `"${revision}"`
}

/** @returns the clients or the settings that name the credential. */
export function referencesTo(
  { name, browser_clients, config, mail_credential }: Provider,
  credential: string,
): string[] {
  if (name === 'email') return mail_credential === credential ? ['settings.mail'] : []
  if (name === 'phone') return config['credential_ref'] === credential ? ['phone.settings'] : []
  return browser_clients.filter(({ credential_ref }) => credential_ref === credential).map(({ key }) => key)
}

function isConfigured({ name, browser_clients, native_clients, config }: Provider): boolean {
  if (name === 'email') return true
  if (name === 'phone') return Object.keys(config).length > 0
  return browser_clients.length + native_clients.length > 0
}

const guid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

function problemsOf(provider: Provider): string[] {
  const { name, browser_clients, native_clients, config, credentials, mail_credential } = provider
  const isMissing = (ref: unknown) => typeof ref === 'string' && !credentials.some((one) => one.name === ref)
  if (name === 'email') return isMissing(mail_credential) ? [`credential_missing:${mail_credential}`] : []
  if (name === 'phone') {
    const ref = config['credential_ref']
    return [
      ...(isConfigured(provider) ? [] : ['sender_unset']),
      ...(isMissing(ref) ? [`credential_missing:${ref}`] : []),
    ]
  }
  const enabled = [...browser_clients, ...native_clients].filter((client) => client.enabled)
  const browsers = enabled.filter(({ platform }) => platform === 'web')
  const missing = browsers.map(({ credential_ref }) => credential_ref).filter(isMissing)
  return [
    ...(enabled.length === 0 ? ['no_enabled_client'] : []),
    ...[...new Set(missing)].map((ref) => `credential_missing:${ref}`),
    ...browsers.filter(({ return_uris }) => !return_uris?.length).map(({ key }) => `redirect_unset:${key}`),
    // tokens name the directory by its id, so a domain name matches no token
    ...enabled
      .filter(({ tenant_id }) => tenant_id !== undefined && !guid.test(tenant_id))
      .map(({ key }) => `tenant_id_not_a_guid:${key}`),
  ]
}
