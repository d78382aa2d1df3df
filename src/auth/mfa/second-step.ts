import { Injectable } from '@stack/backend'
import { type Origin, Sessions } from '../sessions/rows.ts'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireRecent } from '../shared/recent.ts'
import type { User } from '../users/rows.ts'
import { Challenges, type Factor, Factors } from './rows.ts'

/** The first step of a sign-in succeeded, and `POST /auth/mfa/challenge` is the second one. */
interface SecondFactorAsked {
  mfa_required: true
  challenge_id: string
  factors: Pick<Factor, 'id' | 'type' | 'label'>[]
}

/** 200 with tokens, or 202 where the account has a second factor. */
export type SignInAnswer = TokenAnswer | JsonResponse<SecondFactorAsked>

/** Where a second factor is asked for: at the end of the first step of a sign-in, and before factors are changed. */
@Injectable()
export class SecondStep {
  constructor(
    private readonly challenges: Challenges,
    private readonly factors: Factors,
    private readonly sessions: Sessions,
    private readonly signIns: SignIn,
  ) {}

  /**
   * Ends the first step of every way in. @param amr methods that the user proved; with `mfa` among them they are enough.
   * @param origin the provider that vouched for the user.
   * @returns the tokens, or 202 with a challenge where the account has a second factor: there is no session yet.
   */
  async finish(user: User, amr: string[], client: ClientInfo, origin?: Origin): Promise<SignInAnswer> {
    const factors = amr.includes('mfa') ? [] : await this.factors.ofUser(user.id)
    const asked = factors.filter(({ status }) => status === 'verified')
    if (asked.length === 0) return this.signIns.begin(user, amr, client, origin)
    const challenge_id = await this.challenges.begin(user.id, amr, origin)
    const shown = asked.map(({ id, type, label }) => ({ id, type, label }))
    return jsonResponse(
      { mfa_required: true, challenge_id, factors: shown },
      { status: 202, headers: { 'cache-control': 'no-store' } },
    )
  }

  /**
   * A thief with an older session must neither replace the owner's second factor nor add one.
   * @throws HttpError 403 `recent_sign_in_required`, or `second_factor_required` where the session has not proved a factor.
   */
  async requireProof(userId: string): Promise<void> {
    await requireRecent()
    if (!(await this.factors.hasVerified(userId)) || (await this.sessions.isRaised(await this.sessions.current())))
      return
    throw authError('second_factor_required')
  }
}
