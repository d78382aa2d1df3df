import { Controller, Delete, Get, OptionalUser, Param, Req, RequestId, type UserT } from '@stack/backend'
import { Audit, administering } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Notices, unnamed } from '../mail/notices.ts'
import { Sessions } from '../sessions/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import { inRequest } from '../shared/sql.ts'
import { Users } from '../users/rows.ts'
import { Challenges, type Factor, Factors, Recovery, type RecoveryCodes } from './rows.ts'

/** The second factors of a user, as the management surface shows them: no secret, and no URI that holds one. */
interface Enrolment {
  user_id: string
  /** Whether a sign-in asks for a second factor. */
  enrolled: boolean
  /** Attempts count for all factors of the account together: each factor shows the same numbers. */
  factors: (Factor & { failed_count: number; locked_until: Date | null })[]
  recovery_codes: RecoveryCodes | null
}

/** Second factors of any user: read, and removed for a person who has lost theirs. */
@Controller('/v1/management/auth/users/:id/mfa', { auth: { serviceRole: true } })
export class AdministeredMfaController {
  constructor(
    private readonly audit: Audit,
    private readonly challenges: Challenges,
    private readonly factors: Factors,
    private readonly limits: Limits,
    private readonly notices: Notices,
    private readonly recovery: Recovery,
    private readonly sessions: Sessions,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  @Get()
  async readOf(@Param('id') id: string): Promise<Enrolment> {
    await this.users.require(id)
    const { document } = await this.settings.read()
    const { attempts, fullUntil } = await this.limits.stateOf(inRequest, 'second_factor_per_account', id, document)
    const factors = await this.factors.ofUser(id)
    return {
      user_id: id,
      enrolled: factors.some(({ status }) => status === 'verified'),
      factors: factors.map((factor) => ({ ...factor, failed_count: attempts, locked_until: fullUntil })),
      recovery_codes: await this.recovery.countOf(id),
    }
  }

  /** Removes every factor and the recovery codes, and ends the sessions that proved one. The user may enrol again. */
  @Delete()
  async reset(
    @Param('id') id: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<{ user_id: string; removed: number; sessions_ended: number }> {
    await this.users.require(id)
    const removed = await this.factors.removeAll(id)
    const codes = await this.recovery.remove(id)
    await this.challenges.forget(id)
    await this.limits.forget(inRequest, 'second_factor_per_account', id)
    // last: a sign-in that was under way with a factor has committed by now, because its factor was locked
    const sessions_ended = await this.sessions.endRaised(id, 'mfa_reset')
    if (removed + codes + sessions_ended > 0) {
      await this.audit.record({
        event: 'mfa.reset',
        ...administering(operator, request, requestId),
        target: { type: 'user', id },
        details: { removed, sessions_ended },
      })
    }
    const user = removed > 0 && (await this.users.byId(id))
    const told = { factor_type: 'every second factor', actor: 'an administrator' }
    if (user) await this.notices.toUser(user, 'mfa_removed', unnamed, told)
    return { user_id: id, removed, sessions_ended }
  }
}
