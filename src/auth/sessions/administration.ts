import {
  Body,
  Controller,
  Delete,
  Get,
  OptionalUser,
  Param,
  Post,
  Query,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import * as v from 'valibot'
import { Audit, administering } from '../audit/rows.ts'
import { ipAddress } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { filterFault, type Listed, pageOf, requireOneOf } from '../shared/list.ts'
import { strictObject } from '../shared/strict-object.ts'
import { Users } from '../users/rows.ts'
import { mostEnded, type SessionRecord, SessionRecords, sessionStatuses } from './records.ts'
import { Sessions } from './rows.ts'

/** Users whose sessions one call may end. */
const mostUsers = 100
/** Largest number of sessions that an entry of the audit trail names: a user may have any number. */
const mostNamed = 20

const revocation = strictObject({
  user_ids: v.pipe(v.array(v.pipe(v.string(), v.maxLength(80))), v.minLength(1), v.maxLength(mostUsers)),
})

/** The sessions of all users. A session that was ended is refused on the next request (contract 3.5). */
@Controller('/v1/management/auth', { auth: { serviceRole: true } })
export class AdministeredSessionsController {
  constructor(
    private readonly audit: Audit,
    private readonly records: SessionRecords,
    private readonly sessions: Sessions,
    private readonly users: Users,
  ) {}

  /** Active sessions, the newest first, unless `status` asks for `ended` or `expired` ones. */
  @Get('sessions')
  async listAll(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('user_id') user_id: string | undefined,
    @Query('status') status: string | undefined,
    @Query('ip') ip: string | undefined,
  ): Promise<Listed<SessionRecord>> {
    const address = ip === undefined ? undefined : ipAddress(ip)
    if (ip !== undefined && address === undefined) throw filterFault('ip', 'it is an IPv4 or IPv6 address')
    const filters = { user_id, ip: address, status: requireOneOf('status', status, sessionStatuses) ?? 'active' }
    const page = await pageOf('sessions', { limit, cursor }, filters)
    const rows = await this.records.list(filters, page.limit + 1, page.after)
    const { data, ...rest } = await page.of(rows, ({ position }) => position)
    return { data: data.map(({ record }) => record), ...rest }
  }

  /** Ends the session and answers it. Ending it again changes nothing and answers the same. */
  @Delete('sessions/:id')
  async revoke(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<SessionRecord> {
    const hasEnded = await this.sessions.end(id, 'revoked')
    const record = await this.records.byId(id)
    if (!record) throw authError('session_not_found', `there is no session "${id}"`)
    if (hasEnded) {
      await this.audit.record({
        event: 'session.revoked',
        ...administering(operator, request, requestId),
        target: { type: 'user', id: record.user_id },
        sessionId: id,
        details: { ended: 1, sessions: [id] },
      })
    }
    return record
  }

  @Post('users/:id/sessions/revoke-all')
  async revokeAll(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ user_id: string; ended: number }> {
    await this.users.hold(id)
    const ended = await this.sessions.endAll(id, 'revoked_all')
    if (ended.length > 0) {
      await this.audit.record({
        event: 'session.revoked_all',
        ...administering(operator, request, requestId),
        target: { type: 'user', id },
        details: { ended: ended.length, sessions: ended.slice(0, mostNamed) },
      })
    }
    return { user_id: id, ended: ended.length }
  }

  /**
   * Ends the sessions of up to 100 users, 1,000 sessions in a call. Call again while `more` is true. A user who is not known has none.
   * @returns how many sessions were ended.
   */
  @Post('sessions/revoke')
  async revokeOfUsers(
    @Body(revocation) { user_ids }: v.InferOutput<typeof revocation>,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ processed: number; more: boolean }> {
    const ended = await this.records.endOf(user_ids)
    const processed = ended.reduce((sum, one) => sum + one.ended, 0)
    for (const one of ended) {
      await this.audit.record({
        event: 'session.revoked_all',
        ...administering(operator, request, requestId),
        target: { type: 'user', id: one.user_id },
        details: { ended: one.ended },
      })
    }
    return { processed, more: processed === mostEnded }
  }
}
