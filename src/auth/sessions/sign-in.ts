import { Injectable } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { Notices } from '../mail/notices.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { type User, Users } from '../users/rows.ts'
import { type Origin, Sessions } from './rows.ts'
import { type TokenAnswer, Tokens } from './tokens.ts'

/** The last step of every way in: a session, its tokens and the entry of the audit trail, in the transaction of the request. */
@Injectable()
export class SignIn {
  constructor(
    private readonly audit: Audit,
    private readonly notices: Notices,
    private readonly sessions: Sessions,
    private readonly tokens: Tokens,
    private readonly users: Users,
  ) {}

  /** @param amr methods that the user proved, as RFC 8176 names them. @param origin the provider that vouched for the user. */
  async begin(user: User, amr: string[], client: ClientInfo, origin?: Origin): Promise<TokenAnswer> {
    if (!(await this.users.signedIn(user))) throw authError('invalid_credentials')
    const { isNewDevice, ...session } = await this.sessions.begin(user.id, amr, client, origin)
    await this.audit.record({
      event: 'user.signed_in',
      actor: { type: 'user', id: user.id },
      target: { type: 'user', id: user.id },
      sessionId: session.id,
      client,
      details: { amr, ...origin },
    })
    // who made the account may not own its address, and must not fill another person's mailbox
    if (isNewDevice && user.email_confirmed_at) await this.notices.toUser(user, 'new_sign_in', client)
    return this.tokens.issue(user, session)
  }
}
