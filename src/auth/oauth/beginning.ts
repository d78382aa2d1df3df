import { Database, HttpError, Injectable, Log } from '@stack/backend'
import type { OAuthProvider } from '../../wire/providers.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import { authorizationUrl } from './answer.ts'
import { reasonOf } from './provider-fetch.ts'
import { redirectFault } from './redirects.ts'
import { Flows, ProviderClients } from './rows.ts'
import { randomToken } from './secrets.ts'

export interface Asked {
  client_key: string
  redirect_to: string
  code_challenge: string
}

/** The first step of a sign-in with a provider, and of adding an identity to an account. */
@Injectable()
export class Beginning {
  constructor(
    private readonly clients: ProviderClients,
    private readonly flows: Flows,
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
  ) {}

  /**
   * @param linkUserId the user who adds an identity. @returns the address of the provider's pages, or `undefined` where the provider
   * cannot be reached.
   * @throws HttpError 400 `invalid_redirect`, 403 `provider_disabled`, 404 `client_not_found`, 429 `rate_limited`
   */
  async begin(
    provider: OAuthProvider,
    { client_key, redirect_to, code_challenge }: Asked,
    from: ClientInfo,
    linkUserId: string | null = null,
  ): Promise<string | undefined> {
    const secrets = { verifier: randomToken(), nonce: randomToken() }
    const begun = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const network = networkOf(from)
      const refused = network && (await this.limits.take(sql, 'provider_sign_in_per_address', network, document))
      if (refused) return refused
      const client = await this.clients.findOf('browser', provider, client_key, sql)
      if (client instanceof HttpError) return client
      const fault = redirectFault(redirect_to, client, document)
      if (fault) return fault
      const flow = {
        provider,
        clientKey: client_key,
        redirectTo: redirect_to,
        appChallenge: code_challenge,
        linkUserId,
      }
      return { client, state: await this.flows.begin({ ...flow, ...secrets }, sql) }
    })
    if (begun instanceof HttpError) throw begun
    try {
      return await authorizationUrl(begun.client, { provider, ...secrets }, begun.state)
    } catch (error) {
      Log.warn('a sign-in with a provider could not begin', { provider, client_key, ...reasonOf(error) })
      return undefined
    }
  }
}
