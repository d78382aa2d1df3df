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
import type { ProviderName } from '../../wire/providers.ts'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Notices } from '../mail/notices.ts'
import { ProviderStates } from '../providers/rows.ts'
import { Sessions } from '../sessions/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { SettingsRows } from '../settings/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { type AuthErrorCode, authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { inRequest } from '../shared/sql.ts'
import { requireWayIn } from '../shared/ways-in.ts'
import { Users } from '../users/rows.ts'
import { Assertions, asksForVerification, methodsOf } from '../webauthn/assertions.ts'
import { relyingParty } from '../webauthn/relying-party.ts'
import type { Ceremony } from '../webauthn/rows.ts'
import { FactorChanges } from './changes.ts'
import { Challenges, type Factor, Factors, Recovery, type RecoveryCodes } from './rows.ts'
import { answer, enrolment, type Proof, stepUp, verification } from './schemas.ts'
import { SecondStep } from './second-step.ts'
import { newEnrolment } from './totp.ts'

/** A proof that held, as the audit trail names it and as the session does. */
interface Proved {
  method: 'totp' | 'recovery_code' | 'webauthn'
  amr: string[]
}

/** Second factors: enrolled, verified, asked for at sign-in, and removed. */
@Controller('/auth/mfa')
export class MfaController {
  constructor(
    private readonly assertions: Assertions,
    private readonly audit: Audit,
    private readonly challenges: Challenges,
    private readonly changes: FactorChanges,
    private readonly factors: Factors,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly providers: ProviderStates,
    private readonly recovery: Recovery,
    private readonly secondStep: SecondStep,
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
    await this.secondStep.requireProof(user.id)
    if (await this.factors.hasVerified(user.id, 'totp')) throw authError('factor_exists')
    const { hostname } = new URL(Secrets.get('STACK_URL'))
    const { secret, uri } = newEnrolment(hostname, user.email ?? user.id)
    return { factor_id: await this.factors.enrol(user.id, label, secret), secret, uri, qr_svg: renderSVG(uri) }
  }

  /** The first code of a new factor. This session becomes `aal2`: a refresh gives a token that says so. The first factor gives codes. */
  @Post('totp/verify')
  async verify(
    @Body(verification) { factor_id, code }: v.InferOutput<typeof verification>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ factor_id: string; recovery_codes: string[] | null } | HttpError> {
    const client = clientOf(request, requestId)
    await requireRecent()
    await this.count(id, client)
    await this.secondStep.requireProof(id)
    if (!(await this.factors.verify(id, factor_id, code))) return this.failed(id, client)
    await this.sessions.raise(await this.sessions.current(), ['otp'])
    await this.changes.enrolled(id, { id: factor_id, type: 'totp' }, client)
    return { factor_id, recovery_codes: await this.recovery.begin(id) }
  }

  /** Raises this session to `aal2`, for what asks for a fresh proof. */
  @Post('step-up')
  async stepUp(
    @Body(stepUp) proof: v.InferOutput<typeof stepUp>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<undefined | HttpError> {
    const client = clientOf(request, requestId)
    await this.count(id, client)
    const session = await this.sessions.current()
    const proved = await this.prove(id, proof, { purpose: 'step_up', userId: id, boundTo: session }, client)
    if (!('amr' in proved)) return proved
    await this.sessions.raise(session, proved.amr)
    await this.note('mfa.verified', id, client, { method: proved.method })
  }

  /** The second step of a sign-in: a code of the app, a passkey, or a recovery code. */
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
      if (attempted?.origin) await this.providers.requireEnabled(attempted.origin.provider as ProviderName, sql)
      if (attempted?.amr.includes('sms')) await this.providers.requireEnabled('phone', sql)
      return attempted
    })
    if (!known) throw authError('invalid_challenge')
    await this.count(known.user_id, client)
    const ceremony: Ceremony = { purpose: 'second_factor', userId: known.user_id, boundTo: body.challenge_id }
    const proved = await this.prove(known.user_id, body, ceremony, client, known.amr)
    if (!('amr' in proved)) return proved
    if (!(await this.challenges.consume(body.challenge_id))) throw authError('invalid_challenge')
    const user = await this.users.byId(known.user_id)
    if (!user || user.disabled_at) throw authError('invalid_challenge')
    await this.limits.forget(inRequest, 'second_factor_per_account', user.id)
    await this.note('mfa.verified', user.id, client, { method: proved.method })
    if (proved.method === 'recovery_code') {
      const { remaining } = (await this.recovery.countOf(user.id)) ?? { remaining: 0 }
      await this.notices.toUser(user, 'recovery_code_used', client, { remaining: String(remaining) })
    }
    const amr = [...new Set([...known.amr, ...proved.amr, 'mfa'])]
    return this.signIns.begin(user, amr, client, known.origin ?? undefined)
  }

  /** New recovery codes: the old ones are worth nothing from then on. */
  @Post('recovery-codes')
  async renewRecoveryCodes(
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ recovery_codes: string[] }> {
    await this.secondStep.requireProof(id)
    if (!(await this.factors.hasVerified(id))) throw authError('factor_not_found', 'there is no second factor yet')
    await this.note('mfa.recovery_codes_renewed', id, clientOf(request, requestId))
    return { recovery_codes: await this.recovery.renew(id) }
  }

  /** The recovery codes go with the last verified factor. A passkey that is the only way to sign in stays. */
  @Delete(':factor_id')
  async remove(
    @Param('factor_id') factorId: string,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    await this.secondStep.requireProof(id)
    const type = await this.factors.remove(id, factorId)
    if (!type) throw authError('factor_not_found')
    if (type === 'webauthn') await requireWayIn(id, relyingParty((await this.settings.read()).document).id)
    if (!(await this.factors.hasVerified(id))) await this.recovery.remove(id)
    await this.changes.removed(id, { id: factorId, type }, clientOf(request, requestId))
  }

  /**
   * @param amr methods of the first step. After a passkey that has not verified its user, another passkey must: holding two devices is one
   * factor. @returns what was proved, or the error to return.
   */
  private async prove(
    userId: string,
    proof: Proof,
    ceremony: Ceremony,
    client: ClientInfo,
    amr: readonly string[] = [],
  ): Promise<Proved | HttpError> {
    if ('code' in proof) {
      if (await this.factors.check(userId, proof.code)) return { method: 'totp', amr: ['otp'] }
      return this.failed(userId, client)
    }
    if ('recovery_code' in proof) {
      if (await this.recovery.use(userId, proof.recovery_code)) return { method: 'recovery_code', amr: ['recovery'] }
      return this.failed(userId, client)
    }
    const verified = await this.assertions.verify(ceremony, proof.passkey)
    if ('reason' in verified) return this.failed(userId, client, verified.reason, 'invalid_passkey')
    if (!verified.isUserVerified && asksForVerification(amr)) {
      return this.failed(userId, client, 'user_not_verified', 'invalid_passkey')
    }
    const refused = await this.assertions.use(verified, client)
    if (refused) return this.failed(userId, client, refused.reason, 'invalid_passkey')
    return { method: 'webauthn', amr: methodsOf(verified) }
  }

  /** Counts an attempt against the account, also one that fails. @throws HttpError 429 */
  private async count(userId: string, client: ClientInfo): Promise<void> {
    const limit = 'second_factor_per_account'
    const refused = await Database.$apart(async (sql) => {
      const { document } = await this.settings.read(sql)
      const refused = await this.limits.take(sql, limit, userId, document)
      if (refused && (await this.limits.isFirstRefusal(sql, limit, userId, document))) {
        const target = { type: 'user', id: userId } as const
        await this.audit.record(
          { event: 'user.locked', outcome: 'failure', reason: limit, actor: { type: 'system' }, target, client },
          sql,
        )
      }
      return refused
    })
    if (refused) throw refused
  }

  /** @returns the error, which is not thrown: the entry of the audit trail is committed. */
  private async failed(
    id: string,
    client: ClientInfo,
    reason = 'wrong_code',
    code: AuthErrorCode = 'invalid_code',
  ): Promise<HttpError> {
    await this.audit.record({
      event: 'mfa.failed',
      outcome: 'failure',
      reason,
      actor: { type: 'anonymous' },
      target: { type: 'user', id },
      client,
    })
    return authError(code)
  }

  private note(
    event: 'mfa.verified' | 'mfa.recovery_codes_renewed',
    id: string,
    client: ClientInfo,
    details: Record<string, unknown> = {},
  ): Promise<void> {
    return this.audit.record({ event, actor: { type: 'user', id }, target: { type: 'user', id }, client, details })
  }
}
