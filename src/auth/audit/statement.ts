/** The statement of one page of the audit trail. It is apart from the class, so that a test can ask Postgres for its plan. */
import { firstId } from '../../wire/ids.ts'
import { type Page, parameters } from '../shared/list.ts'

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
export const mostRead = 10_000

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

/**
 * Sets for the transaction that its statements read by index. A sort of all entries that a filter finds may look cheaper to the planner
 * than 10,000 steps of the index that has them in order, and reads them all.
 */
export const byIndex = `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

/**
 * A comparison of rows is one range of the index of its columns, read from its end: no other index has that order. Values of a list are
 * read one by one and merged.
 */
export function statementOf(
  filters: AuditFilters,
  { limit, after }: Pick<Page, 'limit' | 'after'>,
): { text: string; values: unknown[]; most: number } {
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
