/** The statement of one page of deliveries. It is apart from the class, so that a test can ask Postgres for its plan. */
import { type Page, parameters } from '../shared/list.ts'

export const deliveryOutcomes = ['handled', 'unhandled', 'duplicate', 'handshake', 'failed', 'refused'] as const

export interface DeliveryFilters {
  webhook: string | undefined
  outcome: (typeof deliveryOutcomes)[number] | undefined
}

/** Columns of a list. The parts that a sender has filled are read one at a time. */
export const columns = 'id, webhook, received_at, request_id, event, outcome, reason, status, duration_ms'

/**
 * The newest first. A comparison of rows is one range of the index of its columns, read from its end: each filter has its own index, and a
 * page reads its own rows and one more.
 */
export function statementOf(
  { webhook, outcome }: DeliveryFilters,
  { limit, after }: Pick<Page, 'limit' | 'after'>,
): { text: string; values: unknown[] } {
  const { values, bind } = parameters()
  const filters = Object.entries({ webhook, outcome }).filter(([, value]) => value !== undefined)
  const bound = filters.map(([, value]) => bind(value))
  const names = [...filters.map(([name]) => name), 'received_at', 'id']
  const rowOf = (time: string, id: string) => `(${[...bound, `${bind(time)}::timestamptz`, bind(id)].join(', ')})`
  const row = `(${names.join(', ')})`
  const [time = 'infinity', id = ''] = after ?? []
  const text = `
    select ${columns}, to_char(received_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place
    from webhooks.deliveries where ${row} > ${rowOf('-infinity', '')} and ${row} < ${rowOf(time, id)}
    order by ${names.map((name) => `${name} desc`).join(', ')} limit ${bind(limit + 1)}`
  return { text, values }
}
