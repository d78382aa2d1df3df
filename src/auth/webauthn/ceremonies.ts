import { Database, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import type { User } from '../users/rows.ts'
import { type CreationOptions, creationOptions, type RequestOptions, requestOptions } from './options.ts'
import { relyingParty, userHandleOf } from './relying-party.ts'
import { type Ceremony, Credentials, WebauthnChallenges } from './rows.ts'

/** The beginning of a ceremony: the answer that a browser gives to its authenticator. */
export interface Begun<Options> {
  challenge_id: string
  options: Options
}

@Injectable()
export class Ceremonies {
  constructor(
    private readonly challenges: WebauthnChallenges,
    private readonly credentials: Credentials,
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
  ) {}

  /** Counts a request for options against the client's network, because each one writes a row. @throws HttpError 429 `rate_limited` */
  async admit(client: ClientInfo): Promise<Settings> {
    const network = networkOf(client)
    const { document, refused } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const refused = network && (await this.limits.take(sql, 'passkey_options_per_address', network, document))
      return { document, refused }
    })
    if (refused) throw refused
    return document
  }

  /** @throws HttpError 409 `too_many_passkeys` */
  async beginEnrolment(
    settings: Settings,
    user: User,
    sessionId: string,
    label: string,
  ): Promise<Begun<CreationOptions>> {
    if (await this.credentials.isFull(user.id)) throw authError('too_many_passkeys')
    const party = relyingParty(settings)
    const { id, challenge } = await this.challenges.begin(
      { purpose: 'enrol', userId: user.id, boundTo: sessionId },
      label,
    )
    const known = await this.credentials.ofUser(user.id, party.id)
    const named = { handle: await userHandleOf(user.id), name: user.email ?? user.phone ?? user.id }
    return { challenge_id: id, options: creationOptions(party, named, challenge, known) }
  }

  /** Nothing in the answer depends on an account. */
  async beginSignIn(settings: Settings): Promise<Begun<RequestOptions>> {
    const { id, challenge } = await this.challenges.begin({ purpose: 'sign_in' }, '')
    return { challenge_id: id, options: requestOptions(relyingParty(settings), challenge, [], 'preferred') }
  }

  /** Asks for one of the account's passkeys. @throws HttpError 404 `factor_not_found` where there is none. */
  async beginProof(
    settings: Settings,
    ceremony: Ceremony & { userId: string },
    userVerification: RequestOptions['userVerification'],
  ): Promise<Begun<RequestOptions>> {
    const party = relyingParty(settings)
    const allowed = await this.credentials.ofUser(ceremony.userId, party.id)
    if (allowed.length === 0) throw authError('factor_not_found', 'this account has no passkey')
    const { id, challenge } = await this.challenges.begin(ceremony, '')
    return { challenge_id: id, options: requestOptions(party, challenge, allowed, userVerification) }
  }
}
