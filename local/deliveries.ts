/** The rows that the runtime keeps of deliveries (contract 7.7, 7.8), read and changed as the owner of the database. */
import { queryOnce } from './database.ts'

export interface RecordedDelivery {
  id: string
  webhook: string
  /** RFC 3339, UTC. */
  received_at: string
  request_id: string
  event: string | null
  outcome: string
  reason: string | null
  status: number
  duration_ms: number
}

/** A delivery with the parts that a list leaves out. */
export interface StoredDelivery extends RecordedDelivery {
  /** `null` for a delivery that was refused. */
  body: Buffer | null
  headers: Record<string, string>
  search: string
}

const columns = `id, webhook, to_char(received_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as received_at,
  request_id, event, outcome, reason, status, duration_ms`

export interface DeliveryFilter {
  /** The default is all webhooks. */
  webhook?: string | undefined
  /** The default is any outcome. */
  outcome?: string | undefined
  /** Largest number of rows. */
  limit: number
}

/** @returns the newest first. */
export function readDeliveries(url: string, { webhook, outcome, limit }: DeliveryFilter): Promise<RecordedDelivery[]> {
  return queryOnce(
    url,
    `select ${columns} from webhooks.deliveries
     where ($1::text is null or webhook = $1) and ($2::text is null or outcome = $2)
     order by deliveries.received_at desc, id desc limit $3`,
    [webhook ?? null, outcome ?? null, limit],
  )
}

export async function readDelivery(url: string, id: string): Promise<StoredDelivery | undefined> {
  const select = `select ${columns}, body, headers, search from webhooks.deliveries where id = $1`
  const [row] = await queryOnce<StoredDelivery>(url, select, [id])
  return row
}

/** @param id as `webhooks.seen` names it. @returns whether such a delivery was handled. */
export async function isSeen(url: string, webhook: string, id: string): Promise<boolean> {
  const rows = await queryOnce(url, 'select 1 from webhooks.seen where webhook = $1 and id = $2', [webhook, id])
  return rows.length > 0
}

/** Removes one id, so that its delivery is handled again. @returns when it was handled, or `undefined` for an unknown id. */
export async function forgetSeen(url: string, webhook: string, id: string): Promise<string | undefined> {
  const [row] = await queryOnce<{ seen_at: string }>(
    url,
    'delete from webhooks.seen where webhook = $1 and id = $2 returning seen_at::text',
    [webhook, id],
  )
  return row?.seen_at
}

/** Puts an id back with its time, unless its delivery was handled meanwhile. @returns whether it was put back. */
export async function restoreSeen(url: string, webhook: string, id: string, seenAt: string): Promise<boolean> {
  const rows = await queryOnce(
    url,
    'insert into webhooks.seen (webhook, id, seen_at) values ($1, $2, $3) on conflict do nothing returning 1',
    [webhook, id, seenAt],
  )
  return rows.length > 0
}
