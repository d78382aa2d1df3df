import { Body, Controller, Post, RequestId } from '@stack/backend'
import * as v from 'valibot'
import { authError, authErrors } from './answers.ts'
import { type RefreshState, Sessions } from './sessions.rows.ts'
import { openRefreshToken, type TokenAnswer, Tokens } from './tokens.ts'

const refreshBody = v.strictObject({ refresh_token: v.string() })

/** A token given twice within this time is a lost answer, not a theft. */
const reuseSeconds = 10
/** So often may the parent of the current token come late: flaky networks lose answers. */
const mostRecoveries = 3

@Controller('/auth/token', { auth: false })
export class TokensController {
  constructor(
    private readonly sessions: Sessions,
    private readonly tokens: Tokens,
  ) {}

  /** A new pair for a refresh token, with the user row read again at this moment (contract, "Token refresh"). */
  @Post('refresh')
  async refresh(
    @Body(refreshBody) body: v.InferOutput<typeof refreshBody>,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | Response> {
    const token = await openRefreshToken(body.refresh_token)
    const state = token && (await this.sessions.lockForRefresh(token.sessionId))
    if (!token || !state?.is_live) throw authError('invalid_refresh_token')
    const verdict = judgeGeneration(state, token.generation)
    if (verdict === 'reuse') {
      await this.sessions.end(state.id, 'reuse_detected')
      return refused(requestId) // returned, not thrown: the end of the session must be committed
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

function refused(request_id: string): Response {
  const { status, description } = authErrors.invalid_refresh_token
  const body = { error: 'invalid_refresh_token', error_description: description, status, request_id }
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } })
}
