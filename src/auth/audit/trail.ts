import { Database, Injectable } from '@stack/backend'
import { firstId } from '../../wire/ids.ts'
import { type Listed, type Page, parameters } from '../shared/list.ts'
import { auditEvents } from './events.ts'

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

export interface AuditFilters {
  /** Exact types of events. */
  event_type?: string[] | undefined
  actor_id?: string | undefined
  target_id?: string | undefined
  outcome?: string | undefined
  ip?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/**
 * Entries that one page reads at most where several filters are combined. An index serves one of them, and the entries that it finds are
 * compared with the others. A page that has read so many ends there, with fewer rows than asked for and a cursor.
 */
const mostRead = 10_000

/** Each filter with the type of its column. The first one that is given is served by its index: the order is that of selectivity. */
const indexed = [
  ['target_id', 'text'],
  ['actor_id', 'text'],
  ['ip', 'inet'],
  ['event_type', 'text'],
  ['outcome', 'text'],
] as const

/** The last id there can be. */
const lastId = `aud_${'Z'.repeat(26)}`

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

/**
 * A comparison of rows is one range of the index of its columns, read from its end: no other index has that order. Values of a list are
 * read one by one and merged.
 */
function statementOf(filters: AuditFilters, { limit, after }: Page): { text: string; values: unknown[]; most: number } {
  const { values, bind } = parameters()
  const least = bind(filters.from ? firstId('aud_', filters.from.getTime()) : firstId('aud_', 0))
  const until = filters.to ? firstId('aud_', filters.to.getTime()) : lastId
  const below = bind(after?.[0] !== undefined && after[0] < until ? after[0] : until)
  const given = indexed.filter(([name]) => filters[name] !== undefined)
  const [first, ...others] = given
  const most = others.length > 0 ? mostRead : limit + 1
  const source = first
    ? `unnest(${bind([filters[first[0]]].flat())}::text[]) as wanted (key) cross join lateral (
        select * from stack.audit where ${first[0]} is not null
          and (${first[0]}, id) >= (key::${first[1]}, ${least}) and (${first[0]}, id) < (key::${first[1]}, ${below})
        order by ${first[0]} desc, id desc limit ${bind(most)}) found`
    : `(values ('')) as wanted (key) cross join lateral (
        select * from stack.audit where id >= ${least} and id < ${below} order by id desc limit ${bind(most)}) found`
  const conditions = others.map(([name, type]) => `${name} = any (${bind([filters[name]].flat())}::${type}[])`)
  const text = `
    with read as materialized (select key, found.* from ${source}),
      stop as (select max(lowest) as stopped_at from
        (select min(id) as lowest from read group by key having count(*) >= ${bind(most)}) full_keys)
    select entry.*, stopped_at from stop left join (
      select read.id, occurred_at, event_type, outcome, reason, actor_type, actor_id, users.email as actor_label, target_type, target_id,
        session_id, request_id, host(ip) as ip, user_agent, changes, details
      from read left join auth.users on users.id = actor_id
      where ${['true', ...conditions].join(' and ')}
      order by read.id desc limit ${bind(limit + 1)}) entry on stopped_at is null or entry.id >= stopped_at
    order by entry.id desc`
  return { text, values, most }
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
