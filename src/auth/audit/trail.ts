import { Database, Injectable } from '@stack/backend'
import type { Listed, Page } from '../shared/list.ts'
import { auditEvents } from './events.ts'
import { type AuditFilters, byIndex, mostRead, statementOf } from './statement.ts'

/** An entry of the audit trail, as the management surface shows it. */
export interface AuditEntry {
  id: string
  occurred_at: Date
  event_type: string
  outcome: 'success' | 'failure'
  reason: string | null
  actor: { type: string; id: string | null; label: string | null }
  target: { type: string; id: string } | null
  session_id: string | null
  request_id: string | null
  ip: string | null
  user_agent: string | null
  changes: { path: string; from: unknown; to: unknown }[] | null
  details: Record<string, unknown>
}

/** @param list types of events, separated by commas. `session.*` stands for every type that begins so. */
export function eventTypesOf(list: string): string[] {
  const types = list.split(',').flatMap((one) => {
    const type = one.trim()
    return type.endsWith('.*') ? auditEvents.filter((known) => known.startsWith(type.slice(0, -1))) : [type]
  })
  return [...new Set(types)]
}

/** Reads the audit trail, the newest entry first. */
@Injectable()
export class AuditTrail {
  async list(filters: AuditFilters, page: Page): Promise<Listed<AuditEntry>> {
    const { text, values, most } = statementOf(filters, page)
    await Database.$asService().query(byIndex)
    const rows = await Database.$asService().query<Row>(text, values)
    const entries = rows.filter(({ id }) => id !== null)
    const complete = await page.of(entries.map(shown), ({ id }) => [id])
    // an index that has given all that may be read has more: the next page begins where it stopped
    const stopped = most === mostRead && !complete.has_more ? rows[0]?.stopped_at : null
    return stopped ? { ...complete, has_more: true, next_cursor: await page.cursorAfter([stopped]) } : complete
  }
}

interface Row extends Omit<AuditEntry, 'actor' | 'target'> {
  actor_type: string
  actor_id: string | null
  actor_label: string | null
  target_type: string | null
  target_id: string | null
  /** The lowest id up to which every value of the index was read. `null` where all of them were read to their end. */
  stopped_at: string | null
}

function shown({ actor_type, actor_id, actor_label, target_type, target_id, stopped_at: _, ...row }: Row): AuditEntry {
  return {
    id: row.id,
    occurred_at: row.occurred_at,
    event_type: row.event_type,
    outcome: row.outcome,
    reason: row.reason,
    actor: { type: actor_type, id: actor_id, label: actor_label },
    target: target_type !== null && target_id !== null ? { type: target_type, id: target_id } : null,
    session_id: row.session_id,
    request_id: row.request_id,
    ip: row.ip,
    user_agent: row.user_agent,
    changes: row.changes,
    details: row.details,
  }
}
