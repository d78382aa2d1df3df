import {
  Body,
  Controller,
  Database,
  Delete,
  Get,
  type HttpError,
  Param,
  Post,
  Req,
  RequestId,
  Secrets,
  User,
  type UserT,
} from '@stack/backend'
import { renderSVG } from 'uqr'
import type * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Notices } from '../mail/notices.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { inRequest } from '../shared/sql.ts'
import { Users } from '../users/rows.ts'
import { Challenges, type Factor, Factors, Recovery, type RecoveryCodes } from './rows.ts'
import { answer, enrolment, stepUp, verification } from './schemas.ts'
import { newEnrolment } from './totp.ts'

/** Second factors: enrolled, verified, asked for at sign-in, and removed. */
@Controller('/auth/mfa')
export class MfaController {
  constructor(
    private readonly audit: Audit,
    private readonly challenges: Challenges,
    private readonly factors: Factors,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly providers: ProviderStates,
    private readonly recovery: Recovery,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly signIns: SignIn,
    private readonly users: Users,
  ) {}

  @Get()
  async read(@User() { id }: UserT): Promise<{ factors: Factor[]; recovery_codes: RecoveryCodes | null }> {
    return { factors: await this.factors.ofUser(id), recovery_codes: await this.recovery.countOf(id) }
  }

  /** A secret for an authenticator app. It counts once its first code was verified. It is shown here and never again. */
  @Post('totp/enrol')
  async enrol(
    @Body(enrolment) { label }: v.InferOutput<typeof enrolment>,
    @User() user: UserT,
  ): Promise<{ factor_id: string; secret: string; uri: string; qr_svg: string }> {
    await requireRecent()
    if (await this.factors.hasVerified(user.id)) throw authError('factor_exists')
    const { hostname } = new URL(Secrets.get('STACK_URL'))
    const { secret, uri } = newEnrolment(hostname, user.email ?? user.id)
    return { factor_id: await this.factors.enrol(user.id, label, secret), secret, uri, qr_svg: renderSVG(uri) }
  }

  /** The first code of a new factor. This session becomes `aal2`: a refresh gives a token that says so. */
  @Post('totp/verify')
  async verify(
    @Body(verification) { factor_id, code }: v.InferOutput<typeof verification>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ factor_id: string; recovery_codes: string[] } | HttpError> {
    await requireRecent()
    await this.count(id)
    if (!(await this.factors.verify(id, factor_id, code))) return this.failed(id, clientOf(request, requestId))
    await this.sessions.raise(await this.sessions.current(), 'otp')
    const client = clientOf(request, requestId)
    await this.note('mfa.enrolled', id, client, { factor_id })
    await this.tell(id, 'mfa_enrolled', client, { factor_type: 'an authenticator app' })
    return { factor_id, recovery_codes: await this.recovery.renew(id) }
  }

  /** Raises this session to `aal2`, for what asks for a fresh proof. */
  @Post('step-up')
  async stepUp(
    @Body(stepUp) { code }: v.InferOutput<typeof stepUp>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<undefined | HttpError> {
    const client = clientOf(request, requestId)
    await this.count(id)
    if (!(await this.factors.check(id, code))) return this.failed(id, client)
    await this.sessions.raise(await this.sessions.current(), 'otp')
    await this.note('mfa.verified', id, client)
  }

  /** The second step of a sign-in: a code of the app, or a recovery code. */
  @Post('challenge', { auth: false })
  async challenge(
    @Body(answer) body: v.InferOutput<typeof answer>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | HttpError> {
    const client = clientOf(request, requestId)
    const known = await Database.$apart(async (sql) => {
      const attempted = await this.challenges.attempt(body.challenge_id, sql)
      if (attempted?.amr.includes('pwd')) await this.providers.requireEnabled('email', sql)
      if (attempted?.amr.includes('sms')) await this.providers.requireEnabled('phone', sql)
      return attempted
    })
    if (!known) throw authError('invalid_challenge')
    await this.count(known.user_id)
    const isRight =
      'code' in body
        ? await this.factors.check(known.user_id, body.code)
        : await this.recovery.use(known.user_id, body.recovery_code)
    if (!isRight) return this.failed(known.user_id, client)
    if (!(await this.challenges.consume(body.challenge_id))) throw authError('invalid_challenge')
    const user = await this.users.byId(known.user_id)
    if (!user || user.disabled_at) throw authError('invalid_challenge')
    await this.limits.forget(inRequest, 'second_factor_per_account', user.id)
    await this.note('mfa.verified', user.id, client, { method: 'code' in body ? 'totp' : 'recovery_code' })
    if ('recovery_code' in body) {
      const { remaining } = (await this.recovery.countOf(user.id)) ?? { remaining: 0 }
      await this.notices.toUser(user, 'recovery_code_used', client, { remaining: String(remaining) })
    }
    return this.signIns.begin(user, [...known.amr, 'code' in body ? 'otp' : 'recovery', 'mfa'], client)
  }

  /** New recovery codes: the old ones are worth nothing from then on. */
  @Post('recovery-codes')
  async renewRecoveryCodes(
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ recovery_codes: string[] }> {
    await this.requireProof(id)
    if (!(await this.factors.hasVerified(id))) throw authError('factor_not_found', 'there is no second factor yet')
    await this.note('mfa.recovery_codes_renewed', id, clientOf(request, requestId))
    return { recovery_codes: await this.recovery.renew(id) }
  }

  /** The recovery codes go with the last verified factor. */
  @Delete(':factor_id')
  async remove(
    @Param('factor_id') factorId: string,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    await this.requireProof(id)
    if (!(await this.factors.remove(id, factorId))) throw authError('factor_not_found')
    if (!(await this.factors.hasVerified(id))) await this.recovery.remove(id)
    const client = clientOf(request, requestId)
    await this.note('mfa.removed', id, client, { factor_id: factorId })
    await this.tell(id, 'mfa_removed', client, { factor_type: 'an authenticator app', actor: 'you' })
  }

  /**
   * A thief with an older session must not replace the owner's second factor.
   * @throws HttpError 403 `recent_sign_in_required`, or `second_factor_required` where the session has not proved the factor.
   */
  private async requireProof(userId: string): Promise<void> {
    await requireRecent()
    if (!(await this.factors.hasVerified(userId)) || (await this.sessions.isRaised(await this.sessions.current())))
      return
    throw authError('second_factor_required')
  }

  /** Counts an attempt against the account, also one that fails. @throws HttpError 429 */
  private async count(userId: string): Promise<void> {
    const refused = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      return this.limits.take(sql, 'second_factor_per_account', userId, document)
    })
    if (refused) throw refused
  }

  /** @returns the error, which is not thrown: the entry of the audit trail is committed. */
  private async failed(id: string, client: ClientInfo): Promise<HttpError> {
    await this.audit.record({
      event: 'mfa.failed',
      outcome: 'failure',
      reason: 'wrong_code',
      actor: { type: 'anonymous' },
      target: { type: 'user', id },
      client,
    })
    return authError('invalid_code')
  }

  private async tell(
    id: string,
    template: 'mfa_enrolled' | 'mfa_removed',
    client: ClientInfo,
    variables: Record<string, string>,
  ): Promise<void> {
    const user = await this.users.byId(id)
    if (user) await this.notices.toUser(user, template, client, variables)
  }

  private note(
    event: 'mfa.enrolled' | 'mfa.verified' | 'mfa.removed' | 'mfa.recovery_codes_renewed',
    id: string,
    client: ClientInfo,
    details: Record<string, unknown> = {},
  ): Promise<void> {
    return this.audit.record({ event, actor: { type: 'user', id }, target: { type: 'user', id }, client, details })
  }
}
