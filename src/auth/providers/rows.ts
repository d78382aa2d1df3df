import { Injectable } from '@stack/backend'
import type { CredentialDocument } from '../../wire/provider-credentials.ts'
import {
  type ClientLists,
  fieldsOf,
  hasClients,
  type OAuthProvider,
  type ProviderClient,
  type ProviderConfig,
  type ProviderName,
} from '../../wire/providers.ts'
import { authError } from '../shared/errors.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

/** A credential without its secret. */
export interface StoredCredential {
  name: string
  kind: CredentialDocument['kind']
  fingerprint: string
  /** Fields that are no secret: a signing key's `team_id` and `key_id`. */
  public_fields: Record<string, string>
  created_at: string
  rotated_at: string
}

/** A provider as it is configured now. */
export interface Provider extends ClientLists {
  name: ProviderName
  kind: 'oauth' | 'email' | 'phone'
  enabled: boolean
  /** Grows with every change of the provider, its clients, its credentials or its settings. */
  revision: number
  updated_at: Date
  /** `scopes` and `link_policy` of a provider with clients, or the settings of `phone`. */
  config: Pick<ProviderConfig, 'scopes' | 'link_policy'> & Record<string, unknown>
  credentials: StoredCredential[]
  /** The credential that the settings of mail name, for `email`. */
  mail_credential: string | null
}

/** A client as its row has it: `fields` are those of its provider and platform that have no column. */
type ClientRow = Pick<ProviderClient, 'key' | 'enabled' | 'application_key' | 'platform' | 'variant'> & {
  credential_ref: string | null
  fields: Partial<ProviderClient>
}

type ProviderRow = Omit<Provider, keyof ClientLists> & { clients: ClientRow[] }

@Injectable()
export class Providers {
  /** All of them, in their fixed order. */
  async list(sql: Sql = inRequest): Promise<Provider[]> {
    return (await rowsOf(sql, null)).map(providerOf)
  }

  async read(name: ProviderName, sql: Sql = inRequest): Promise<Provider> {
    const [row] = await rowsOf(sql, name)
    return providerOf(row!)
  }

  /** Waits for a change that is under way. @returns the revision, which stays until the request ends. */
  async lock(name: ProviderName): Promise<number> {
    const [row] = await inRequest<{ revision: number }>`
      select revision::int from auth.providers where name = ${name} for update`
    return row!.revision
  }

  /** Stores the columns of a locked provider under its next revision. @returns the provider as it is now. */
  async save(provider: Provider): Promise<Provider> {
    const { name, enabled, config } = provider
    const [row] = await inRequest<Pick<Provider, 'revision' | 'updated_at'>>`
      update auth.providers set enabled = ${enabled}, config = ${JSON.stringify(config)}, revision = revision + 1,
        updated_at = now() where name = ${name} returning revision::int, updated_at`
    return { ...provider, ...row! }
  }

  /** The lists that are given replace the stored ones whole. */
  async replaceClients(name: ProviderName, lists: Partial<ClientLists>): Promise<void> {
    const { browser_clients, native_clients } = lists
    const kinds = [...(browser_clients ? ['browser'] : []), ...(native_clients ? ['native'] : [])]
    if (kinds.length === 0) return
    await inRequest`delete from auth.provider_clients where provider = ${name} and kind = any (${kinds}::text[])`
    const all = [...(browser_clients ?? []), ...(native_clients ?? [])]
    if (all.length === 0) return
    const rows = all.map((client, position) => {
      const { key, enabled, application_key, platform, variant, credential_ref = null, ...fields } = client
      return { key, enabled, application_key, platform, variant, credential_ref, fields, position }
    })
    await inRequest`
      insert into auth.provider_clients
        (provider, key, kind, platform, enabled, application_key, variant, credential_ref, fields, position)
      select ${name}, key, case platform when 'web' then 'browser' else 'native' end, platform, enabled, application_key,
        variant, credential_ref, fields, position
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as client (key text, platform text, enabled boolean,
        application_key text, variant text, credential_ref text, fields jsonb, position smallint)`
  }

  /** Writes the credential, or replaces it whole. */
  async putCredential(
    provider: ProviderName,
    credential: Omit<StoredCredential, 'created_at' | 'rotated_at'>,
    sealed: string,
  ): Promise<StoredCredential> {
    const { name, kind, fingerprint, public_fields } = credential
    const [row] = await inRequest<Pick<StoredCredential, 'created_at' | 'rotated_at'>>`
      insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint, public_fields)
      values (${provider}, ${name}, ${kind}, ${sealed}, ${fingerprint}, ${JSON.stringify(public_fields)})
      on conflict (provider, name) do update set kind = excluded.kind, sealed = excluded.sealed,
        fingerprint = excluded.fingerprint, public_fields = excluded.public_fields, rotated_at = now()
      returning to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
        to_char(rotated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as rotated_at`
    return { ...credential, ...row! }
  }

  async removeCredential(provider: ProviderName, name: string): Promise<void> {
    await inRequest`delete from auth.provider_credentials where provider = ${provider} and name = ${name}`
  }
}

/** Whether a way to sign in is open. Read at each use, so that a change is in force when its call returns. */
@Injectable()
export class ProviderStates {
  async isEnabled(name: ProviderName, sql: Sql = inRequest): Promise<boolean> {
    const [row] = await sql<{ enabled: boolean }>`select enabled from auth.providers where name = ${name}`
    return row!.enabled
  }

  /** @throws HttpError 403 `provider_disabled` */
  async requireEnabled(name: ProviderName, sql: Sql = inRequest): Promise<void> {
    if (!(await this.isEnabled(name, sql))) throw authError('provider_disabled')
  }
}

/** One statement, so that a provider and its clients are of one moment. @param name `null` for all of them. */
function rowsOf(sql: Sql, name: ProviderName | null): Promise<ProviderRow[]> {
  return sql<ProviderRow>`
    select name, kind, enabled, config, revision::int, updated_at,
      (select coalesce(json_agg(json_build_object('key', key, 'enabled', enabled, 'application_key', application_key,
          'platform', platform, 'variant', variant, 'credential_ref', credential_ref, 'fields', fields)
          order by position), '[]')
        from auth.provider_clients where provider = providers.name) as clients,
      (select coalesce(json_agg(json_build_object('name', held.name, 'kind', held.kind, 'fingerprint', fingerprint,
          'public_fields', public_fields,
          'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'rotated_at', to_char(rotated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          order by held.name collate "C"), '[]')
        from auth.provider_credentials as held where provider = providers.name) as credentials,
      (select document -> 'mail' ->> 'credential_ref' from auth.settings) as mail_credential
    from auth.providers where ${name}::text is null or name = ${name} order by position`
}

function providerOf({ clients, ...row }: ProviderRow): Provider {
  const { name } = row
  const own = hasClients(name) ? clients.map((client) => clientOf(name, client)) : []
  return {
    ...row,
    browser_clients: own.filter(({ platform }) => platform === 'web'),
    native_clients: own.filter(({ platform }) => platform !== 'web'),
  }
}

/** `jsonb` keeps no order: the fields stand in the order of contract 9.5. */
function clientOf(provider: OAuthProvider, { fields, credential_ref, ...columns }: ClientRow): ProviderClient {
  const all: Record<string, unknown> = { ...columns, ...fields, ...(credential_ref === null ? {} : { credential_ref }) }
  const shown = fieldsOf(provider, columns.platform).filter(({ name }) => all[name] !== undefined)
  return Object.fromEntries(shown.map(({ name }) => [name, all[name]])) as unknown as ProviderClient
}
