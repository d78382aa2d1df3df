import { Cron, Injectable, Log, type UserT } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import type { Change } from '../shared/changes.ts'
import { type ClientInfo, clientOf } from '../shared/client.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { AuditEvent } from './events.ts'

export interface Entry {
  event: AuditEvent
  outcome?: 'success' | 'failure'
  /** Why it failed, or why it was done: one of the module's own words. */
  reason?: string
  actor: { type: 'user' | 'operator' | 'service' | 'system' | 'anonymous'; id?: string }
  target?: {
    type: 'user' | 'session' | 'role' | 'settings' | 'secret' | 'key' | 'provider' | 'template' | 'device'
    id: string
  }
  sessionId?: string
  /** Absent for work that no request asked for. */
  client?: ClientInfo
  /** The values that were changed. Secrets are masked: `changesBetween` masks them. */
  changes?: Change[]
  /** Never a secret: only the owner of the database removes an entry. */
  details?: Record<string, unknown>
}

/** The actor of a management call: an operator under their own id, or the service-role key (contract 9.7). */
export const actorOf = (operator: UserT | null): Entry['actor'] =>
  operator ? { type: 'operator', id: operator.id } : { type: 'service' }

/** The actor of a management call and where it came from. */
export const administering = (operator: UserT | null, request: Request, requestId: string) => ({
  actor: actorOf(operator),
  client: clientOf(request, requestId),
})

/** The audit trail. No worker changes an entry, and only `auth.prune_audit()` deletes entries past their retention (contract 9.16). */
@Injectable()
export class Audit {
  /** Deletes entries past the setting `audit_retention_days`, each night. A run deletes 10,000 at most, and the next one goes on. */
  @Cron('17 3 * * *')
  async prune(): Promise<void> {
    const [row] = await inRequest<{ removed: number }>`select auth.prune_audit() as removed`
    Log.info('entries of the audit trail past their retention are deleted', { count: row!.removed })
  }

  /**
   * The id and `occurred_at` are of one moment, so that a range of time is a range of ids.
   * @param sql the transaction of the change itself, so that neither stands without the other.
   */
  async record(entry: Entry, sql: Sql = inRequest): Promise<void> {
    const {
      event,
      outcome = 'success',
      reason = null,
      actor,
      target,
      sessionId = null,
      client,
      changes,
      details = {},
    } = entry
    const now = Date.now()
    await sql`insert into stack.audit (id, occurred_at, event_type, outcome, reason, actor_type, actor_id, target_type, target_id,
        session_id, request_id, ip, user_agent, changes, details)
      values (${newId('aud_', now)}, ${new Date(now)}, ${event}, ${outcome}, ${reason}, ${actor.type}, ${actor.id ?? null},
        ${target?.type ?? null}, ${target?.id ?? null}, ${sessionId}, ${client?.request_id ?? null}, ${client?.ip ?? null},
        ${client?.user_agent ?? null}, ${changes ? JSON.stringify(changes) : null}, ${JSON.stringify(details)})`
  }
}
