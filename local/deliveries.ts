/** What the runtime has recorded of deliveries (contract 7.8), read as the database's owner. */
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

/** The newest first. @param webhook absent: of all. */
export function readDeliveries(url: string, webhook: string | undefined, limit: number): Promise<RecordedDelivery[]> {
  return query(
    url,
    `select ${columns} from webhooks.deliveries where $1::text is null or webhook = $1 order by deliveries.received_at desc, id desc limit $2`,
    [webhook ?? null, limit],
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
