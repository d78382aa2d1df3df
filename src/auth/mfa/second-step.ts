import { Injectable } from '@stack/backend'
import { SignIn } from '../sessions/sign-in.ts'
import type { TokenAnswer } from '../sessions/tokens.ts'
import type { ClientInfo } from '../shared/client.ts'
import type { User } from '../users/rows.ts'
import { Challenges, Factors } from './rows.ts'

/** The end of a sign-in whose first proof was right: a session, or the question for a second factor. */
@Injectable()
export class SecondStep {
  constructor(
    private readonly challenges: Challenges,
    private readonly factors: Factors,
    private readonly signIns: SignIn,
  ) {}

  /**
   * @param amr methods that the user has proved, as RFC 8176 names them.
   * @returns the tokens, or the answer 202 where the account has a second factor. There is no session yet then.
   */
  async finish(user: User, amr: string[], client: ClientInfo): Promise<TokenAnswer | Response> {
    const factors = (await this.factors.ofUser(user.id)).filter(({ status }) => status === 'verified')
    if (factors.length === 0) return this.signIns.begin(user, amr, client)
    const challenge_id = await this.challenges.begin(user.id, amr)
    const shown = factors.map(({ id, type, label }) => ({ id, type, label }))
    return Response.json(
      { mfa_required: true, challenge_id, factors: shown },
      { status: 202, headers: { 'cache-control': 'no-store' } },
    )
  }
}
