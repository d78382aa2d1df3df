import { Injectable } from '@stack/backend'
import { Audit, type Entry } from '../audit/rows.ts'
import { MailAdmission } from '../mail/admission.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { PendingActions } from '../mail/pending.ts'
import { type Found, OneTimeTokens } from '../mail/tokens.ts'
import { Challenges } from '../mfa/rows.ts'
import { Reclaim } from '../passwords/reclaim.ts'
import { Passwords } from '../passwords/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import type { Sql } from '../shared/sql.ts'
import { Users } from '../users/rows.ts'

/** The actions behind the messages about an address. The JSON routes and the pages share them. Each takes what `OneTimeTokens.find` found. */
@Injectable()
export class Addresses {
  constructor(
    private readonly admission: MailAdmission,
    private readonly audit: Audit,
    private readonly challenges: Challenges,
    private readonly delivery: Delivery,
    private readonly notices: Notices,
    private readonly passwords: Passwords,
    private readonly pending: PendingActions,
    private readonly reclaim: Reclaim,
    private readonly sessions: Sessions,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** @returns the confirmed address. @throws HttpError 400 `invalid_token` */
  async confirm(found: Found | undefined, client: ClientInfo): Promise<string> {
    if (!found?.user_id || !(await this.tokens.use(found))) throw authError('invalid_token')
    if (!(await this.users.confirmEmail(found.user_id, found.target))) throw authError('invalid_token')
    await this.note('user.email_confirmed', found.user_id, client)
    return found.target
  }

  /**
   * The holder of the token has read the mail, so this tells nothing new: the address that the token was sent to is confirmed.
   * @param token of a confirmation, also one that was used. @returns the address, or `undefined` where it is not confirmed.
   */
  async confirmedBy(token: string, sql: Sql): Promise<string | undefined> {
    const sent = await this.tokens.recall('confirm_email', token, sql)
    const user = sent?.user_id ? await this.users.byId(sent.user_id, sql) : undefined
    return user?.email_confirmed_at && user.email === sent!.target ? sent!.target : undefined
  }

  /** The work is the same for every address. @throws HttpError 429 `rate_limited` */
  async resend(email: string, client: ClientInfo): Promise<void> {
    await this.admission.admit(email, client)
    await this.delivery.queue({ template: 'confirm_email', recipient: email, userId: null })
  }

  /** @returns the new address. @throws HttpError 400 `invalid_token`, 409 `email_taken` */
  async change(found: Found | undefined, client: ClientInfo): Promise<string> {
    if (!found?.user_id || !(await this.tokens.use(found))) throw authError('invalid_token')
    const { user_id: id, target } = found
    const user = await this.users.byId(id)
    if (!user || user.disabled_at) throw authError('invalid_token')
    if (!(await this.users.moveToEmail(id, target))) throw authError('email_taken')
    await this.pending.void(id)
    await this.notices.toUser(user, 'email_changed', client, { new_email: target })
    await this.note('user.email_changed', id, client)
    return target
  }

  /**
   * The owner of the former address takes the account back: the person who changed the address has known the password, and may have
   * added other ways in. All of them go, and all sessions end. A mail with which to choose another password is sent.
   *
   * @returns the address. @throws HttpError 400 `invalid_token`, 409 `email_taken`
   */
  async undo(found: Found | undefined, client: ClientInfo): Promise<string> {
    if (!found?.user_id || !(await this.tokens.use(found))) throw authError('invalid_token')
    const { user_id: id, target } = found
    await this.users.freeUnproved(target)
    if (!(await this.users.moveToEmail(id, target))) throw authError('email_taken')
    await this.pending.voidAfter({ ...found, user_id: id })
    await this.passwords.remove(id)
    await this.reclaim.removeWaysIn(id)
    await this.challenges.forget(id)
    await this.sessions.endAll(id, 'revoked')
    await this.delivery.queue({ template: 'reset_password', recipient: target, userId: id })
    await this.note('user.email_change_undone', id, client)
    return target
  }

  private note(event: Entry['event'], id: string, client: ClientInfo): Promise<void> {
    return this.audit.record({ event, actor: { type: 'user', id }, target: { type: 'user', id }, client })
  }
}
