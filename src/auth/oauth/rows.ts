import { Cron, HttpError, Injectable } from '@stack/backend'
import type { OAuthProvider } from '../../wire/providers.ts'
import { type Person, titleOf } from '../identities/rows.ts'
import { authError } from '../shared/errors.ts'
import { open, seal } from '../shared/seal.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { ProviderClient } from './client.ts'
import { digestOf, randomToken } from './secrets.ts'

@Injectable()
export class ProviderClients {
  /**
   * Reads the record as it is now, so that a client that was disabled or removed serves no further step of a sign-in.
   * @returns the error to answer where the provider or the client is disabled, or the client is not there.
   */
  async find(provider: OAuthProvider, key: string, sql: Sql): Promise<ProviderClient | HttpError> {
    const [row] = await sql<{ enabled: boolean; client: (ProviderClient & { enabled: boolean }) | null }>`
      select providers.enabled, case when key is not null then to_jsonb(provider_clients)
          || jsonb_build_object('scopes', coalesce(config -> 'scopes', '[]')) end as client
      from auth.providers left join auth.provider_clients on provider = name and key = ${key}
      where name = ${provider}`
    if (!row?.enabled) return authError('provider_disabled', `signing in with ${titleOf(provider)} is switched off`)
    return row.client?.enabled ? row.client : authError('client_not_found')
  }

  /** Like `find`, for one of the two kinds: a browser client has a return address, a native one an ID token. */
  async findOf(kind: ProviderClient['kind'], provider: OAuthProvider, key: string, sql: Sql) {
    const client = await this.find(provider, key, sql)
    return client instanceof HttpError || client.kind === kind ? client : authError('client_not_found')
  }
}

/** Minutes that a person has for the provider's pages. */
const flowMinutes = 10

/** A sign-in that has gone to the provider. */
export interface Flow {
  provider: OAuthProvider
  clientKey: string
  redirectTo: string
  /** PKCE of the application (RFC 7636): the hand-off code needs its verifier. */
  appChallenge: string
  /** The user who adds an identity to their account. */
  linkUserId: string | null
  /** PKCE and nonce between the stack and the provider. */
  verifier: string
  nonce: string
}

/** The row that a sealed value belongs to. Moved to another row, it does not open. */
export const placeOf = (digest: string) => `provider sign-in ${digest}`

@Injectable()
export class Flows {
  /** @returns the `state` that the provider brings back. The table has its digest alone. */
  async begin(flow: Flow, sql: Sql): Promise<string> {
    const state = randomToken()
    const digest = await digestOf(state)
    const { verifier, nonce } = flow
    await sql`insert into auth.oauth_flows
        (state_digest, provider, client_key, sealed, redirect_to, app_challenge, link_user_id, expires_at)
      values (${digest}, ${flow.provider}, ${flow.clientKey}, ${await seal(JSON.stringify({ verifier, nonce }), placeOf(digest))},
        ${flow.redirectTo}, ${flow.appChallenge}, ${flow.linkUserId}, now() + make_interval(mins => ${flowMinutes}))`
    return state
  }

  /** One of the answers in parallel with one `state` gets the flow. @returns `undefined` where it was used, is over or unknown. */
  async consume(provider: OAuthProvider, state: string, sql: Sql): Promise<Flow | undefined> {
    const digest = await digestOf(state)
    const [row] = await sql<Omit<Flow, 'provider' | 'verifier' | 'nonce'> & { sealed: string }>`
      update auth.oauth_flows set consumed_at = now()
      where state_digest = ${digest} and provider = ${provider} and consumed_at is null and expires_at > now()
      returning client_key as "clientKey", redirect_to as "redirectTo", app_challenge as "appChallenge",
        link_user_id as "linkUserId", sealed`
    if (!row) return undefined
    const { sealed, ...rest } = row
    return {
      ...rest,
      provider,
      ...(JSON.parse(await open(sealed, placeOf(digest))) as Pick<Flow, 'verifier' | 'nonce'>),
    }
  }

  @Cron('5 * * * *')
  async forgetExpired(): Promise<void> {
    await inRequest`delete from auth.oauth_flows where expires_at < now()`
    await inRequest`delete from auth.handoff_codes where expires_at < now()`
    await inRequest`delete from auth.used_id_tokens where expires_at < now()`
  }
}

/** Seconds in which an application exchanges its code: it does so as soon as it is called back. */
const handoffSeconds = 60

/** A person whom the provider has vouched for, until the application has proved that it began the sign-in. */
export interface Handoff {
  person: Person & { provider: OAuthProvider }
  clientKey: string
  appChallenge: string
  linkUserId: string | null
}

@Injectable()
export class HandoffCodes {
  async issue({ person, clientKey, appChallenge, linkUserId }: Handoff, sql: Sql): Promise<string> {
    const code = randomToken()
    await sql`insert into auth.handoff_codes
        (code_digest, provider, client_key, app_challenge, person, link_user_id, expires_at)
      values (${await digestOf(code)}, ${person.provider}, ${clientKey}, ${appChallenge}, ${JSON.stringify(person)},
        ${linkUserId}, now() + make_interval(secs => ${handoffSeconds}))`
    return code
  }

  /** A code is good for one attempt, also for one with a wrong verifier. */
  async consume(code: string, sql: Sql): Promise<Handoff | undefined> {
    const [row] = await sql<Handoff>`
      update auth.handoff_codes set consumed_at = now()
      where code_digest = ${await digestOf(code)} and consumed_at is null and expires_at > now()
      returning person, client_key as "clientKey", app_challenge as "appChallenge", link_user_id as "linkUserId"`
    return row
  }
}

@Injectable()
export class UsedIdTokens {
  /** @param expiry Unix time in seconds. @returns whether the token is used for the first time. */
  async use(idToken: string, expiry: number, sql: Sql): Promise<boolean> {
    const signed = idToken.slice(0, idToken.lastIndexOf('.'))
    const rows = await sql`
      insert into auth.used_id_tokens (digest, expires_at)
      values (${await digestOf(signed)}, to_timestamp(${expiry}) + interval '5 minutes')
      on conflict (digest) do nothing returning digest`
    return rows.length > 0
  }
}
