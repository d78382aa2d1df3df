import { Body, Controller, Database, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { Identities } from '../identities/rows.ts'
import { Limits } from '../limits/rows.ts'
import { MailAdmission } from '../mail/admission.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { OneTimeTokens } from '../mail/tokens.ts'
import { Challenges } from '../mfa/rows.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { Breaches } from './breaches.ts'
import { hashPassword, requirePasswordFits } from './hash.ts'
import { Passwords } from './rows.ts'
import { forgotten, resetBody } from './schemas.ts'

/** A password that was forgotten: a mail is sent, and what comes back with it sets another one. */
@Controller('/auth/password', { auth: false })
export class PasswordResetController {
  constructor(
    private readonly admission: MailAdmission,
    private readonly audit: Audit,
    private readonly breaches: Breaches,
    private readonly challenges: Challenges,
    private readonly delivery: Delivery,
    private readonly identities: Identities,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly passwords: Passwords,
    private readonly providers: ProviderStates,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** The account is only looked for when the mail is sent: neither the answer nor its time tells whether there is one. */
  @Post('forgot', { status: 202 })
  async forgot(
    @Body(forgotten) { email }: v.InferOutput<typeof forgotten>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    const client = clientOf(request, requestId)
    await this.admission.admit(email, client)
    await this.providers.requireEnabled('email')
    await this.delivery.queue({ template: 'reset_password', recipient: email, userId: null })
    const actor = { type: 'anonymous' } as const
    await this.audit.record({ event: 'password.reset_requested', actor, client })
    return { status: 'sent' }
  }

  /**
   * Sets the password, ends every session and every challenge, and confirms the address, which has proved itself. A second factor is
   * asked for at the next sign-in as before.
   */
  @Post('reset')
  async reset(
    @Body(resetBody) body: v.InferOutput<typeof resetBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'reset' }> {
    const client = clientOf(request, requestId)
    const { document } = await Database.$apart(async (sql) => {
      await this.providers.requireEnabled('email', sql)
      return this.settings.read(sql)
    })
    requirePasswordFits(body.password, document)
    const presented = 'token' in body ? { token: body.token } : { target: body.email, code: body.code }
    const found = await this.tokens.find('reset_password', presented)
    if (!found?.user_id) throw authError('invalid_token')
    await this.breaches.refuse(body.password, document)
    const phc = await hashPassword(body.password)
    const { user_id: id, target } = found
    const user = await this.users.lock(id)
    if (!user || user.disabled_at || user.email !== target || !(await this.tokens.use(found)))
      throw authError('invalid_token')
    await this.passwords.set(id, phc)
    // who made the account had not proved the address: an identity from before may be a stranger's
    const unlinked = user.email_confirmed_at ? [] : await this.identities.removeAll(id)
    await this.users.confirmEmail(id, target)
    await this.tokens.forgetUser(id, ['confirm_email', 'reset_password', 'email_change'])
    await this.challenges.forget(id)
    await this.sessions.endAll(id, 'password_changed')
    await this.limits.forgetAccount(target)
    await this.notices.toUser(user, 'password_changed', client)
    const actor = { type: 'user', id } as const
    const details = unlinked.length > 0 ? { unlinked } : {}
    await this.audit.record({ event: 'password.reset', actor, target: { type: 'user', id }, client, details })
    return { status: 'reset' }
  }
}
