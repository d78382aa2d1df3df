import { Body, Controller, Database, type HttpError, Post, Req, RequestId } from '@stack/backend'
import * as v from 'valibot'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { SignUps } from '../limits/sign-ups.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { PendingActions } from '../mail/pending.ts'
import { Challenges } from '../mfa/rows.ts'
import { SecondStep, type SignInAnswer } from '../mfa/second-step.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { Users } from '../users/rows.ts'
import { Breaches } from './breaches.ts'
import { PasswordChecks } from './checks.ts'
import { hashPassword, isCurrent, requirePasswordFits } from './hash.ts'
import { Passwords } from './rows.ts'
import { credentials, passwordChange, signUpBody } from './schemas.ts'

/** RFC 8176: the user proved to know a password. */
const byPassword = ['pwd']

@Controller('/auth', { auth: false })
export class PasswordsController {
  constructor(
    private readonly audit: Audit,
    private readonly breaches: Breaches,
    private readonly challenges: Challenges,
    private readonly checks: PasswordChecks,
    private readonly delivery: Delivery,
    private readonly notices: Notices,
    private readonly passwords: Passwords,
    private readonly pending: PendingActions,
    private readonly secondStep: SecondStep,
    private readonly providers: ProviderStates,
    private readonly sessions: Sessions,
    private readonly signIns: SignIn,
    private readonly signUps: SignUps,
    private readonly users: Users,
  ) {}

  /** Where addresses must be confirmed, a new and a known one get the same answer. Elsewhere 409 tells that an address is known. */
  @Post('sign-up')
  async signUp(
    @Body(signUpBody) { email, password, data }: v.InferOutput<typeof signUpBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | { status: 'confirmation_required' }> {
    const client = clientOf(request, requestId)
    const settings = await this.admit(client, password)
    const phc = await hashPassword(password)
    const user = await this.users.create(email, data)
    if (user) {
      await this.passwords.set(user.id, phc)
      await this.note('user.signed_up', user.id, client)
    }
    await this.welcome(email, user?.id)
    if (settings.confirm_email_required) return { status: 'confirmation_required' }
    if (!user) throw authError('email_taken')
    return this.signIns.begin(user, byPassword, client)
  }

  /** Whether the address is confirmed is told to those alone who know the password. */
  @Post('sign-in/password')
  async signIn(
    @Body(credentials) { email, password }: v.InferOutput<typeof credentials>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SignInAnswer | HttpError> {
    const client = clientOf(request, requestId)
    const find = async (users: Users, sql: Parameters<Users['byEmail']>[1]) => {
      await this.providers.requireEnabled('email', sql)
      return users.byEmail(email, sql)
    }
    const { user: checked, phc, settings, account } = await this.checks.check(password, email, client, find)
    const renewed = isCurrent(phc) ? undefined : await hashPassword(password)
    // the password was checked without a lock: it may have been changed, or the user disabled or deleted, while it was hashed
    const user = await this.users.lockWithPassword(checked.id, phc)
    if (!user) throw authError('invalid_credentials')
    await this.checks.forgive(account)
    // returned and not thrown, so that the attempts before the right password stay forgotten
    if (user.disabled_at) return authError('user_disabled')
    if (settings.confirm_email_required && !user.email_confirmed_at) return authError('email_not_confirmed')
    if (renewed) await this.passwords.replace(user.id, phc, renewed)
    return this.secondStep.finish(user, byPassword, client)
  }

  /** Makes an account of a guest, under the same id. The guest's sessions end with the upgrade. */
  @Post('upgrade')
  async upgrade(
    @Body(signUpBody) { email, password, data }: v.InferOutput<typeof signUpBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | { status: 'confirmation_required' }> {
    const { id, isGuest } = await Database.$apart((sql) => this.sessions.caller(sql))
    if (!isGuest) throw authError('not_anonymous')
    const client = clientOf(request, requestId)
    const settings = await this.admit(client, password)
    const phc = await hashPassword(password)
    const user = await this.users.upgrade(id, { email, isConfirmed: false, data })
    if (user === 'not_anonymous') throw authError('not_anonymous')
    const isTaken = user === 'taken'
    if (isTaken && !settings.confirm_email_required) throw authError('email_taken')
    if (!isTaken) {
      await this.passwords.set(id, phc)
      await this.note('user.upgraded', id, client)
    }
    await this.welcome(email, isTaken ? undefined : id)
    await this.sessions.endAll(id, 'signed_out')
    if (isTaken || settings.confirm_email_required) return { status: 'confirmation_required' }
    return this.signIns.begin(user, byPassword, client)
  }

  /** Sets a new password and ends every other session, because another person may have known the old password. */
  @Post('password/change', { auth: true })
  async change(
    @Body(passwordChange) { current_password, password }: v.InferOutput<typeof passwordChange>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const client = clientOf(request, requestId)
    const { id, sessionId } = await Database.$apart((sql) => this.sessions.caller(sql))
    const find = (users: Users, sql: Parameters<Users['byId']>[1]) => users.byId(id, sql)
    const { user, phc, settings } = await this.checks.require(current_password, id, client, find)
    requirePasswordFits(password, settings)
    await this.breaches.refuse(password, settings)
    const next = await hashPassword(password)
    if (!(await this.passwords.replace(id, phc, next))) throw authError('invalid_credentials')
    await this.challenges.forget(id) // they were begun with the old password
    await this.pending.void(id)
    await this.sessions.endAll(id, 'password_changed', sessionId)
    await this.notices.toUser(user, 'password_changed', client)
    await this.note('password.changed', id, client)
  }

  /** @throws HttpError 403 `provider_disabled` or `sign_up_disabled`, 400 `invalid_password`, 429 `rate_limited` */
  private async admit(client: ClientInfo, password: string): Promise<Settings> {
    const settings = await this.signUps.admit(client, async (document, sql) => {
      await this.providers.requireEnabled('email', sql)
      requirePasswordFits(password, document)
    })
    await this.breaches.refuse(password, settings)
    return settings
  }

  /** Queues the mail of a sign-up: one row for a new and for a known address, so that the work is the same. */
  private async welcome(email: string, newUserId: string | undefined): Promise<void> {
    const template = newUserId === undefined ? 'existing_account' : 'confirm_email'
    await this.delivery.queue({ template, recipient: email, userId: newUserId ?? null })
  }

  private note(
    event: 'user.signed_up' | 'user.upgraded' | 'password.changed',
    id: string,
    client: ClientInfo,
  ): Promise<void> {
    return this.audit.record({ event, actor: { type: 'user', id }, target: { type: 'user', id }, client })
  }
}
