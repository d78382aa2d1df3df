import { Body, Controller, type HttpError, Post } from '@stack/backend'
import * as v from 'valibot'
import { authError } from '../shared/errors.ts'
import { type RefreshState, Sessions } from './rows.ts'
import { openRefreshToken, type TokenAnswer, Tokens } from './tokens.ts'

const refreshBody = v.strictObject({ refresh_token: v.string() })

/** Seconds in which a refresh token that comes again counts as a lost answer, not as a theft: a client's retry is faster. */
const reuseSeconds = 10
/** Number of late uses allowed for the previous token of a session, because flaky networks lose answers. */
const mostRecoveries = 3

@Controller('/auth/token', { auth: false })
export class RefreshController {
  constructor(
    private readonly sessions: Sessions,
    private readonly tokens: Tokens,
  ) {}

  /** A new pair for a refresh token, with the user row read again at this moment (contract, "Token refresh"). */
  @Post('refresh')
  async refresh(@Body(refreshBody) body: v.InferOutput<typeof refreshBody>): Promise<TokenAnswer | HttpError> {
    const token = await openRefreshToken(body.refresh_token)
    const state = token && (await this.sessions.lockForRefresh(token.sessionId))
    if (!token || !state?.is_live) throw authError('invalid_refresh_token')
    const verdict = judgeGeneration(state, token.generation)
    if (verdict === 'reuse') {
      await this.sessions.end(state.id, 'reuse_detected')
      return authError('invalid_refresh_token') // returned, not thrown: the end of the session is committed
    }
    if (verdict !== 'repeat') await this.sessions.rotate(state.id, verdict === 'recover')
    const refresh_generation = state.refresh_generation + (verdict === 'repeat' ? 0 : 1)
    return this.tokens.issue(state.user, { ...state, refresh_generation })
  }
}

/** `repeat` gives the same successor again; `reuse` means that two parties hold the session. */
function judgeGeneration(state: RefreshState, generation: number): 'rotate' | 'repeat' | 'recover' | 'reuse' {
  if (generation === state.refresh_generation) return 'rotate'
  if (generation !== state.refresh_generation - 1) return 'reuse'
  if (state.rotated_ago <= reuseSeconds) return 'repeat'
  return state.refresh_recoveries < mostRecoveries ? 'recover' : 'reuse'
}
