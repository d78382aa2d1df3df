import { Body, Controller, HttpError, Post, Req, RequestId, User, type UserT } from '@stack/backend'
import type * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { FactorChanges } from '../mfa/changes.ts'
import { Challenges, type Factor, Factors, Recovery } from '../mfa/rows.ts'
import { SecondStep, type SignInAnswer } from '../mfa/second-step.ts'
import { Sessions } from '../sessions/rows.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import { requireConfirmed, Users } from '../users/rows.ts'
import { Assertions, asksForVerification, methodsOf, type Refused } from '../webauthn/assertions.ts'
import { type Begun, Ceremonies } from '../webauthn/ceremonies.ts'
import type { CreationOptions, RequestOptions } from '../webauthn/options.ts'
import { Credentials } from '../webauthn/rows.ts'
import { assertion, registration } from '../webauthn/schemas.ts'
import { enrolment, waiting } from './schemas.ts'
import { PasskeySignIns } from './sign-in.ts'

/** New passkeys of the caller. */
@Controller('/auth/passkeys', { auth: true })
export class PasskeysController {
  constructor(
    private readonly assertions: Assertions,
    private readonly audit: Audit,
    private readonly ceremonies: Ceremonies,
    private readonly changes: FactorChanges,
    private readonly credentials: Credentials,
    private readonly factors: Factors,
    private readonly recovery: Recovery,
    private readonly secondStep: SecondStep,
    private readonly sessions: Sessions,
    private readonly users: Users,
  ) {}

  /** The options of a new passkey, for `navigator.credentials.create()`. */
  @Post('enrol')
  async enrol(
    @Body(enrolment) { label }: v.InferOutput<typeof enrolment>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Begun<CreationOptions>> {
    await requireRecent()
    const settings = await this.ceremonies.admit(clientOf(request, requestId))
    await this.secondStep.requireProof(id)
    const user = await this.users.byId(id)
    if (!user) throw authError('user_not_found', `there is no user "${id}"`)
    requireConfirmed(user)
    return this.ceremonies.beginEnrolment(settings, user, await this.sessions.current(), label)
  }

  /** The passkey counts from here on, and this session becomes `aal2`. Recovery codes are given with the account's first factor. */
  @Post('verify')
  async verify(
    @Body(registration) body: v.InferOutput<typeof registration>,
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ factor: Factor; recovery_codes: string[] | null } | HttpError> {
    await requireRecent()
    const client = clientOf(request, requestId)
    const session = await this.sessions.current()
    const made = await this.assertions.register({ purpose: 'enrol', userId: id, boundTo: session }, body)
    if ('reason' in made) return this.failed(id, made, client)
    await this.secondStep.requireProof(id)
    const added = await this.credentials.add(id, made.label, made.registration)
    if (added === 'exists') throw authError('passkey_exists')
    if (added === 'full') throw authError('too_many_passkeys')
    await this.sessions.raise(session, methodsOf(made.registration))
    const factor = (await this.factors.ofUser(id)).find((one) => one.id === added.id)!
    await this.changes.enrolled(id, factor, client)
    return { factor, recovery_codes: await this.recovery.begin(id) }
  }

  /** @returns the error, which is not thrown: the entry of the audit trail is committed. */
  private async failed(id: string, { reason }: Refused, client: ClientInfo): Promise<HttpError> {
    const actor = { type: 'user', id } as const
    await this.audit.record({ event: 'mfa.failed', outcome: 'failure', reason, actor, target: actor, client })
    return authError('invalid_passkey')
  }
}

/** Sign-in without a user name: the passkey tells whose it is. */
@Controller('/auth/sign-in/passkey', { auth: false })
export class PasskeySignInController {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly secondStep: SecondStep,
    private readonly signIns: PasskeySignIns,
  ) {}

  /** The options for `navigator.credentials.get()`. They depend on no account. */
  @Post('options')
  async signInOptions(@Req() request: Request, @RequestId() requestId: string): Promise<Begun<RequestOptions>> {
    return this.ceremonies.beginSignIn(await this.ceremonies.admit(clientOf(request, requestId)))
  }

  /** A passkey that verified its user is two factors. Another one is the first step of a sign-in, like a password. */
  @Post()
  async signIn(
    @Body(assertion) body: v.InferOutput<typeof assertion>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SignInAnswer | HttpError> {
    const client = clientOf(request, requestId)
    const proved = await this.signIns.prove(body, client)
    return proved instanceof HttpError ? proved : this.secondStep.finish(proved.user, proved.amr, client)
  }
}

/** Options of the passkeys that `POST /auth/mfa/challenge` and `POST /auth/mfa/step-up` take. */
@Controller('/auth/mfa')
export class PasskeyOptionsController {
  constructor(
    private readonly ceremonies: Ceremonies,
    private readonly challenges: Challenges,
    private readonly sessions: Sessions,
  ) {}

  /** The options for the second step of a sign-in. */
  @Post('passkey/options', { auth: false })
  async secondFactorOptions(
    @Body(waiting) { mfa_challenge_id }: v.InferOutput<typeof waiting>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Begun<RequestOptions>> {
    const settings = await this.ceremonies.admit(clientOf(request, requestId))
    const known = await this.challenges.read(mfa_challenge_id)
    if (!known) throw authError('invalid_challenge')
    const ceremony = { purpose: 'second_factor', userId: known.user_id, boundTo: mfa_challenge_id } as const
    return this.ceremonies.beginProof(settings, ceremony, asksForVerification(known.amr) ? 'required' : 'preferred')
  }

  /** The options for raising this session. */
  @Post('step-up/passkey/options')
  async stepUpOptions(
    @User() { id }: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<Begun<RequestOptions>> {
    const settings = await this.ceremonies.admit(clientOf(request, requestId))
    const ceremony = { purpose: 'step_up', userId: id, boundTo: await this.sessions.current() } as const
    return this.ceremonies.beginProof(settings, ceremony, 'preferred')
  }
}
