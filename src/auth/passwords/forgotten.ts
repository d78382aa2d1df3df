import { Database, Injectable } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { MailAdmission } from '../mail/admission.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { PendingActions } from '../mail/pending.ts'
import { type Found, OneTimeTokens, type Presented } from '../mail/tokens.ts'
import { Challenges } from '../mfa/rows.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { Breaches } from './breaches.ts'
import { hashPassword, requirePasswordFits } from './hash.ts'
import { Reclaim } from './reclaim.ts'
import { Passwords } from './rows.ts'

/** A forgotten password that may be replaced, and the hash of the next one. */
export interface Replacement {
  found: Found & { user_id: string }
  phc: string
}

/** The way from a forgotten password to the next one. The JSON routes and the pages share it. */
@Injectable()
export class ForgottenPasswords {
  constructor(
    private readonly admission: MailAdmission,
    private readonly audit: Audit,
    private readonly breaches: Breaches,
    private readonly challenges: Challenges,
    private readonly delivery: Delivery,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly passwords: Passwords,
    private readonly pending: PendingActions,
    private readonly providers: ProviderStates,
    private readonly reclaim: Reclaim,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** The account is only looked for when the mail is sent: neither the answer nor its time tells whether there is one. */
  async request(email: string, client: ClientInfo): Promise<void> {
    await this.admission.admit(email, client)
    await this.providers.requireEnabled('email')
    await this.delivery.queue({ template: 'reset_password', recipient: email, userId: null })
    const actor = { type: 'anonymous' } as const
    await this.audit.record({ event: 'password.reset_requested', actor, client })
  }

  /** All that is slow, while no connection is held. Nothing is used up. @throws HttpError 400 `invalid_password`, `invalid_token` */
  async prepare(presented: Presented, password: string): Promise<Replacement> {
    const { document } = await Database.$apart(async (sql) => {
      await this.providers.requireEnabled('email', sql)
      return this.settings.read(sql)
    })
    requirePasswordFits(password, document)
    const found = await this.tokens.find('reset_password', presented)
    if (!found?.user_id) throw authError('invalid_token')
    await this.breaches.refuse(password, document)
    return { found: { ...found, user_id: found.user_id }, phc: await hashPassword(password) }
  }

  /**
   * Sets the password, ends every session and every challenge, and confirms the address, which has proved itself. A second factor is
   * asked for at the next sign-in as before.
   *
   * @throws HttpError 400 `invalid_token`
   */
  async replace({ found, phc }: Replacement, client: ClientInfo): Promise<void> {
    const { user_id: id, target } = found
    const user = await this.users.lock(id)
    if (!user || user.disabled_at || user.email !== target || !(await this.tokens.use(found)))
      throw authError('invalid_token')
    await this.passwords.set(id, phc)
    // the address was not proved: a stranger may have made the account and wait for its owner
    if (!user.email_confirmed_at) await this.reclaim.removeWaysIn(id)
    await this.users.confirmEmail(id, target)
    await this.pending.void(id)
    await this.challenges.forget(id)
    await this.sessions.endAll(id, 'password_changed')
    await this.limits.forgetAccount(target)
    await this.notices.toUser(user, 'password_changed', client)
    const actor = { type: 'user', id } as const
    await this.audit.record({ event: 'password.reset', actor, target: actor, client })
  }
}
