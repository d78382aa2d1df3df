import {
  Body,
  Controller,
  Delete,
  Get,
  type HttpError,
  OptionalUser,
  Param,
  Post,
  Req,
  RequestId,
  User,
  type UserT,
} from '@stack/backend'
import * as v from 'valibot'
import { Audit } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Notices } from '../mail/notices.ts'
import { requireCaller } from '../shared/caller.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { inRequest } from '../shared/sql.ts'
import { strictObject } from '../shared/strict-object.ts'
import { type EndReason, type OwnSession, type RefreshState, Sessions } from './rows.ts'
import { openRefreshToken, type TokenAnswer, Tokens } from './tokens.ts'

const refreshBody = strictObject({ refresh_token: v.string() })

/** Seconds in which a refresh token that comes again counts as a lost answer, not as a theft: a client's retry is faster. */
const reuseSeconds = 10
/** Number of late uses allowed for the previous token of a session, because flaky networks lose answers. */
const mostRecoveries = 3

@Controller('/auth/token', { auth: false })
export class RefreshController {
  constructor(
    private readonly audit: Audit,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly sessions: Sessions,
    private readonly tokens: Tokens,
  ) {}

  /** A new pair for a refresh token, with the user row read again at this moment (contract, "Token refresh"). */
  @Post('refresh')
  async refresh(
    @Body(refreshBody) body: v.InferOutput<typeof refreshBody>,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<TokenAnswer | HttpError> {
    const token = await openRefreshToken(body.refresh_token)
    if (!token) throw authError('invalid_refresh_token')
    const client = clientOf(request, requestId)
    // counted in the request's own transaction, because every refusal here is returned: nothing that was written is rolled back
    const { refused } = await this.limits.takeEach(inRequest, [['refresh_per_session', token.sessionId]])
    if (refused) return refused
    const rotated = await this.sessions.rotateCurrent(token.sessionId, token.generation)
    if (rotated) return this.tokens.issue(rotated.user, rotated)
    const state = await this.sessions.lockForRefresh(token.sessionId)
    if (!state?.is_live) return authError('invalid_refresh_token')
    if (state.user.disabled_at) return this.refuse(state, 'user_disabled', client)
    const verdict = checkGeneration(state, token.generation)
    if (verdict === 'reuse') return this.refuse(state, 'reuse_detected', client)
    if (verdict === 'recover') await this.note(state, 'token.recovered', client)
    if (verdict !== 'repeat') await this.sessions.rotate(state.id, verdict === 'recover')
    const refresh_generation = state.refresh_generation + (verdict === 'repeat' ? 0 : 1)
    return this.tokens.issue(state.user, { ...state, refresh_generation })
  }

  /** @returns the error, which is not thrown: the end of the session is committed. */
  private async refuse(state: RefreshState, reason: EndReason, client: ClientInfo): Promise<HttpError> {
    await this.sessions.end(state.id, reason)
    await this.note(state, reason === 'reuse_detected' ? 'token.reuse_detected' : 'session.revoked', client, reason)
    if (reason === 'reuse_detected') await this.notices.toUser(state.user, 'session_reuse_detected', client)
    return authError('invalid_refresh_token')
  }

  private note(
    { id, user }: RefreshState,
    event: 'token.recovered' | 'token.reuse_detected' | 'session.revoked',
    client: ClientInfo,
    reason?: string,
  ): Promise<void> {
    const target = { type: 'session', id } as const
    const actor = { type: 'user', id: user.id } as const
    return this.audit.record({ event, ...(reason ? { reason } : {}), actor, target, sessionId: id, client })
  }
}

/** `repeat` gives the same successor again. `reuse` means that two parties hold the session. */
function checkGeneration(state: RefreshState, generation: number): 'rotate' | 'repeat' | 'recover' | 'reuse' {
  if (generation === state.refresh_generation) return 'rotate'
  if (generation !== state.refresh_generation - 1) return 'reuse'
  if (state.rotated_ago <= reuseSeconds) return 'repeat'
  return state.refresh_recoveries < mostRecoveries ? 'recover' : 'reuse'
}

/** Largest number of sessions that an entry of the audit trail names: a user may have any number. */
const mostNamed = 20

const signOutBody = strictObject({ scope: v.optional(v.picklist(['local', 'others', 'all']), 'local') })

/** The caller's own sessions. A session that was ended is refused on the next request (contract 3.5). */
@Controller('/auth')
export class SessionsController {
  constructor(
    private readonly audit: Audit,
    private readonly sessions: Sessions,
  ) {}

  @Get('sessions')
  async list(@User() user: UserT): Promise<Listed<OwnSession>> {
    return whole(await this.sessions.ofUser(user.id, await this.sessions.current()))
  }

  /** Ending a session that has ended changes nothing. Another user's session is not found. */
  @Delete('sessions/:id')
  async end(
    @Param('id') id: string,
    @User() user: UserT,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    if (!(await this.sessions.isOf(id, user.id))) throw authError('session_not_found', `there is no session "${id}"`)
    const hasEnded = await this.sessions.end(id, 'revoked')
    if (hasEnded) await this.note('session.revoked', user, [id], clientOf(request, requestId))
  }

  /** Ends this session (`local`, the default), every other one (`others`), or all of them. A guest signs out as well. */
  @Post('sign-out', { auth: false })
  async signOut(
    @Body(signOutBody) { scope }: v.InferOutput<typeof signOutBody>,
    @OptionalUser() caller: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ ended: number }> {
    const user = requireCaller(caller)
    const current = await this.sessions.current()
    const ended = await this.endWithin(scope, user.id, current)
    if (ended.length > 0) await this.note('user.signed_out', user, ended, clientOf(request, requestId), { scope })
    return { ended: ended.length }
  }

  private async endWithin(scope: 'local' | 'others' | 'all', userId: string, current: string): Promise<string[]> {
    if (scope === 'local') return (await this.sessions.end(current, 'signed_out')) ? [current] : []
    return this.sessions.endAll(userId, 'signed_out', scope === 'others' ? current : null)
  }

  private note(
    event: 'session.revoked' | 'user.signed_out',
    { id }: UserT,
    sessions: string[],
    client: ClientInfo,
    details: Record<string, unknown> = {},
  ): Promise<void> {
    const actor = { type: 'user', id } as const
    return this.audit.record({
      event,
      actor,
      target: { type: 'user', id },
      client,
      details: { ...details, ended: sessions.length, sessions: sessions.slice(0, mostNamed) },
    })
  }
}
