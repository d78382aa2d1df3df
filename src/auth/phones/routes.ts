import {
  Body,
  Controller,
  Database,
  Delete,
  type HttpError,
  Post,
  Req,
  RequestId,
  User,
  type UserT,
} from '@stack/backend'
import type * as v from 'valibot'
import { Audit, type Entry } from '../audit/rows.ts'
import { Delivery } from '../mail/delivery.ts'
import { Notices } from '../mail/notices.ts'
import { OneTimeTokens } from '../mail/tokens.ts'
import { Challenges } from '../mfa/rows.ts'
import { PhoneSettingsReader } from '../providers/phone-settings.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { requireWayIn } from '../shared/ways-in.ts'
import { requireConfirmed, Users } from '../users/rows.ts'
import { relyingParty } from '../webauthn/relying-party.ts'
import { TextAdmission } from './admission.ts'
import { Phones } from './rows.ts'
import { confirmation, phoneBody } from './schemas.ts'

/** The phone number of the caller's own account: added, changed and removed. */
@Controller('/auth/phone', { auth: true })
export class PhonesController {
  constructor(
    private readonly admission: TextAdmission,
    private readonly audit: Audit,
    private readonly challenges: Challenges,
    private readonly delivery: Delivery,
    private readonly notices: Notices,
    private readonly phones: Phones,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly providers: ProviderStates,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** Asks for another number. It counts once its code has come back. Whether another account has the number is not told here. */
  @Post('change', { status: 202 })
  async change(
    @Body(phoneBody) { phone }: v.InferOutput<typeof phoneBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'sent' }> {
    const client = clientOf(request, requestId)
    const id = await this.admission.admit(phone, client, async (sql) => {
      const { id } = await this.sessions.caller(sql)
      await requireRecent(sql)
      const user = await this.users.byId(id, sql)
      if (!user) throw authError('user_not_found')
      requireConfirmed(user)
      if (user.phone === phone && user.phone_confirmed_at) throw authError('same_phone')
      return id
    })
    await this.delivery.queue({ template: 'phone_change_otp', channel: 'sms', recipient: phone, userId: id })
    await this.note('phone.change_requested', id, client)
    return { status: 'sent' }
  }

  /** The code has come back: the number is the account's from now on. A code works for the account that has asked for it alone. */
  @Post('change/confirm')
  async confirmChange(
    @Body(confirmation) { phone, code }: v.InferOutput<typeof confirmation>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ status: 'changed'; phone: string } | HttpError> {
    const client = clientOf(request, requestId)
    const { id, most } = await Database.$apart(async (sql) => {
      await this.providers.requireEnabled('phone', sql)
      const { max_attempts: most } = await this.phoneSettings.read(sql)
      return { id: (await this.sessions.caller(sql)).id, most }
    })
    const found = await this.tokens.find('phone_change', { target: phone, code }, { most, userId: id })
    const user = await this.users.lock(id)
    if (!found || !user || user.disabled_at || !(await this.tokens.use(found))) {
      await this.note('phone.changed', id, client, 'wrong_code')
      return authError('invalid_code')
    }
    if (!(await this.phones.move(id, phone))) throw authError('phone_taken')
    await this.forget(id, user.phone)
    await this.notices.toUser(user, 'phone_changed', client, { phone, old_phone: user.phone ?? '' })
    await this.note('phone.changed', id, client)
    return { status: 'changed', phone }
  }

  /** Removes the number. An account without one stays as it is, and the last way into an account stays as well. */
  @Delete('')
  async remove(@User() { id }: UserT, @Req() request: Request, @RequestId() requestId: string): Promise<void> {
    await this.providers.requireEnabled('phone')
    await requireRecent()
    const user = await this.users.lock(id)
    if (!user?.phone) return
    await this.users.removePhone(id)
    await requireWayIn(id, relyingParty((await this.settings.read()).document).id)
    await this.forget(id, user.phone)
    const client = clientOf(request, requestId)
    await this.notices.toUser(user, 'identity_unlinked', client, { provider_name: `the phone number ${user.phone}` })
    await this.note('phone.removed', id, client)
  }

  /** Voids what was begun with the former number: its codes, and sign-ins that wait for their second factor. */
  private async forget(id: string, formerPhone: string | null): Promise<void> {
    await this.tokens.forgetUser(id, ['phone_change'])
    if (formerPhone !== null) await this.tokens.forget('phone_sign_in', formerPhone)
    await this.challenges.forget(id)
  }

  private note(event: Entry['event'], id: string, client: ClientInfo, failure?: string): Promise<void> {
    const outcome = failure === undefined ? {} : ({ outcome: 'failure', reason: failure } as const)
    return this.audit.record({ event, ...outcome, actor: { type: 'user', id }, target: { type: 'user', id }, client })
  }
}
