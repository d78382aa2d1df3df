import { Database, type HttpError, Injectable } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { type User, Users } from '../users/rows.ts'
import { Assertions, methodsOf, type Refused } from '../webauthn/assertions.ts'
import type { Assertion } from '../webauthn/schemas.ts'

/** The first step of a sign-in with a passkey. The JSON route and the hand-off to an application share it. */
@Injectable()
export class PasskeySignIns {
  constructor(
    private readonly assertions: Assertions,
    private readonly audit: Audit,
    private readonly limits: Limits,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  /**
   * @returns the user and the methods that they proved, or one error for every reason why the passkey was refused. That one is not
   * thrown: the entry of the audit trail is committed. @throws HttpError 403 `user_disabled`, `email_not_confirmed`, 429 `rate_limited`
   */
  async prove(body: Assertion, client: ClientInfo): Promise<{ user: User; amr: string[] } | HttpError> {
    const settings = await this.admit(client)
    const verified = await this.assertions.verify({ purpose: 'sign_in' }, body)
    if ('reason' in verified) return this.failed(verified, client)
    const user = await this.users.lock(verified.userId)
    const refused = await this.assertions.use(verified, client)
    if (refused) return this.failed(refused, client)
    if (!user) return this.failed({ reason: 'unknown_passkey' }, client)
    if (user.disabled_at) throw authError('user_disabled')
    const isUnconfirmed = user.email !== null && !user.email_confirmed_at
    if (settings.confirm_email_required && isUnconfirmed) throw authError('email_not_confirmed')
    const amr = methodsOf(verified)
    return { user, amr: verified.isUserVerified ? [...amr, 'mfa'] : amr }
  }

  /** Counts the attempt against the client's network. @throws HttpError 429 `rate_limited` */
  private async admit(client: ClientInfo): Promise<Settings> {
    const network = networkOf(client)
    const { document, refused } = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      return { document, refused: network && (await this.limits.take(sql, 'sign_in_per_address', network, document)) }
    })
    if (refused) throw refused
    return document
  }

  /** @returns one error for every reason. It is not thrown: the entry of the audit trail is committed. */
  private async failed({ reason, userId }: Refused, client: ClientInfo): Promise<HttpError> {
    const target = userId === undefined ? {} : { target: { type: 'user', id: userId } as const }
    const actor = { type: 'anonymous' } as const
    await this.audit.record({ event: 'user.sign_in_failed', outcome: 'failure', reason, actor, ...target, client })
    return authError('invalid_passkey')
  }
}
