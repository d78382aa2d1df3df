/** What the runtime keeps of deliveries (contract 7.7, 7.8), as the database's owner sees it. */
import pg from 'pg'

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

const columns = `id, webhook, to_char(received_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as received_at,
  request_id, event, outcome, reason, status, duration_ms`

export interface WantedDeliveries {
  /** Absent: of all webhooks. */
  webhook?: string | undefined
  /** Absent: any. */
  outcome?: string | undefined
  limit: number
}

/** The newest first. */
export function readDeliveries(
  url: string,
  { webhook, outcome, limit }: WantedDeliveries,
): Promise<RecordedDelivery[]> {
  return query(
    url,
    `select ${columns} from webhooks.deliveries
     where ($1::text is null or webhook = $1) and ($2::text is null or outcome = $2)
     order by deliveries.received_at desc, id desc limit $3`,
    [webhook ?? null, outcome ?? null, limit],
  )
}

export async function readDelivery(
  url: string,
  id: string,
): Promise<(RecordedDelivery & { body: Buffer | null; headers: Record<string, string>; search: string }) | undefined> {
  const [row] = await query<
    RecordedDelivery & { body: Buffer | null; headers: Record<string, string>; search: string }
  >(url, `select ${columns}, body, headers, search from webhooks.deliveries where id = $1`, [id])
  return row
}

/** @param id as `webhooks.seen` names it. @returns whether such a delivery was handled. */
export async function isSeen(url: string, webhook: string, id: string): Promise<boolean> {
  const rows = await query(url, 'select 1 from webhooks.seen where webhook = $1 and id = $2', [webhook, id])
  return rows.length > 0
}

/** Removes one id, so that its delivery is handled again. @returns when it was handled, or `undefined` for an unknown id. */
export async function forgetSeen(url: string, webhook: string, id: string): Promise<string | undefined> {
  const [row] = await query<{ seen_at: string }>(
    url,
    'delete from webhooks.seen where webhook = $1 and id = $2 returning seen_at::text',
    [webhook, id],
  )
  return row?.seen_at
}

/** Puts an id back as it was, unless its delivery was handled meanwhile. @returns whether it was put back. */
export async function restoreSeen(url: string, webhook: string, id: string, seenAt: string): Promise<boolean> {
  const rows = await query(
    url,
    'insert into webhooks.seen (webhook, id, seen_at) values ($1, $2, $3) on conflict do nothing returning 1',
    [webhook, id, seenAt],
  )
  return rows.length > 0
}

async function query<T>(url: string, text: string, values: unknown[]): Promise<T[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
