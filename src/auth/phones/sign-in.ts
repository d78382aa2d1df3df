import { Body, Controller, Database, type HttpError, Post, Req, RequestId } from '@stack/backend'
import type * as v from 'valibot'
import type { Settings } from '../../wire/settings.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { SignUps } from '../limits/sign-ups.ts'
import { Delivery } from '../mail/delivery.ts'
import { OneTimeTokens } from '../mail/tokens.ts'
import { SecondStep, type SignInAnswer } from '../mfa/second-step.ts'
import { PhoneSettingsReader } from '../providers/phone-settings.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, clientOf, networkOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import type { User } from '../users/rows.ts'
import { prefixLength, TextAdmission } from './admission.ts'
import { Phones } from './rows.ts'
import { phoneBody, verification } from './schemas.ts'

/** RFC 8176: the user proved to read text messages to a number. */
const bySms = ['sms']

/** Sign-in with a code that is sent to a phone number. A number that no account has makes one. */
@Controller('/auth/sign-in/phone', { auth: false })
export class PhoneSignInController {
  constructor(
    private readonly admission: TextAdmission,
    private readonly audit: Audit,
    private readonly delivery: Delivery,
    private readonly limits: Limits,
    private readonly phones: Phones,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly providers: ProviderStates,
    private readonly secondStep: SecondStep,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly signIns: SignIn,
    private readonly signUps: SignUps,
    private readonly tokens: OneTimeTokens,
  ) {}

  /** No account is looked for: neither the answer nor its time tells whether there is one. */
  @Post('', { status: 202 })
  async requestCode(
    @Body(phoneBody) { phone }: v.InferOutput<typeof phoneBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    const client = clientOf(request, requestId)
    await this.admission.admit(phone, client, async () => {})
    await this.delivery.queue({ template: 'phone_otp', channel: 'sms', recipient: phone, userId: null })
    const details = { prefix: phone.slice(0, prefixLength) }
    await this.audit.record({ event: 'phone.code_requested', actor: { type: 'anonymous' }, client, details })
    return { status: 'sent' }
  }

  /** Whether an account has the number, and what is wrong with it, is told to those alone who have read the code. */
  @Post('verify')
  async verify(
    @Body(verification) { phone, code, data }: v.InferOutput<typeof verification>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SignInAnswer | HttpError> {
    const client = clientOf(request, requestId)
    const { caller, most, settings } = await this.begin(client)
    const found = await this.tokens.find('phone_sign_in', { target: phone, code }, { most })
    if (!found) return this.failed(phone, client)
    const isKnown = (await Database.$apart((sql) => this.phones.ownerOf(phone, sql))) !== undefined
    if (!isKnown) await this.signUps.admit(client)
    const user = await this.phones.lockOwner(phone) // before the token, as a change of the number locks them
    if (!(await this.tokens.use(found))) return this.failed(phone, client)
    if (user) return this.resume(user, settings, client)
    // the account was deleted meanwhile, and a sign-up that was not counted is not admitted
    if (isKnown) throw authError('invalid_code')
    return this.welcome(phone, data, caller?.isGuest ? caller.id : undefined, client)
  }

  private async begin(
    client: ClientInfo,
  ): Promise<{ caller: { id: string; isGuest: boolean } | undefined; most: number; settings: Settings }> {
    const network = networkOf(client)
    const { refused, ...known } = await Database.$apart(async (sql) => {
      await this.providers.requireEnabled('phone', sql)
      const { max_attempts: most } = await this.phoneSettings.read(sql)
      const { document: settings } = await this.settings.read(sql)
      const refused = network && (await this.limits.take(sql, 'sign_in_per_address', network, settings))
      return { refused, caller: await this.sessions.callerIfAny(sql), most, settings }
    })
    if (refused) throw refused
    return known
  }

  private async resume(user: User, settings: Settings, client: ClientInfo): Promise<SignInAnswer> {
    if (user.disabled_at) throw authError('user_disabled')
    if (settings.confirm_email_required && user.email !== null && !user.email_confirmed_at)
      throw authError('email_not_confirmed')
    await this.phones.confirm(user.id)
    return this.secondStep.finish(user, bySms, client)
  }

  /** @param guestId the guest whose session the caller has: the guest becomes the account, and the guest's sessions end. */
  private async welcome(
    phone: string,
    data: object,
    guestId: string | undefined,
    client: ClientInfo,
  ): Promise<TokenAnswer> {
    const user = guestId ? await this.phones.upgrade(guestId, phone, data) : await this.phones.create(phone, data)
    if (user === 'not_anonymous') throw authError('not_anonymous')
    if (user === undefined || user === 'taken') throw authError('phone_taken')
    const { id } = user
    await this.audit.record({
      event: guestId ? 'user.upgraded' : 'user.signed_up',
      actor: { type: 'user', id },
      target: { type: 'user', id },
      client,
      details: { method: 'sms' },
    })
    if (guestId) await this.sessions.endAll(guestId, 'signed_out')
    return this.signIns.begin(user, bySms, client)
  }

  /** @returns the error, which is not thrown: the entry of the audit trail is committed. */
  private async failed(phone: string, client: ClientInfo): Promise<HttpError> {
    const owner = await this.phones.ownerOf(phone)
    await this.audit.record({
      event: 'user.sign_in_failed',
      outcome: 'failure',
      reason: 'wrong_code',
      actor: { type: 'anonymous' },
      ...(owner ? { target: { type: 'user', id: owner } as const } : {}),
      client,
      details: { method: 'sms' },
    })
    return authError('invalid_code')
  }
}
