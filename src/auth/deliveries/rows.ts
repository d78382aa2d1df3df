import { Database, Injectable } from '@stack/backend'
import { byIndex } from '../audit/statement.ts'
import type { Listed, Page } from '../shared/list.ts'
import { columns, type DeliveryFilters, type deliveryOutcomes, statementOf } from './statement.ts'

/** A delivery in a list: what became of it. */
export interface DeliveryRecord {
  id: string
  webhook: string
  received_at: Date
  request_id: string
  /** The event key. `null` where the delivery was refused before it was known. */
  event: string | null
  outcome: (typeof deliveryOutcomes)[number]
  reason: string | null
  status: number
  duration_ms: number
}

/** The bytes that arrived. */
interface DeliveryBody {
  /** `utf-8` where the shown bytes are text, else `base64`. */
  encoding: 'utf-8' | 'base64'
  /** At most the first 262,144 bytes. */
  content: string
  /** Number of all bytes. */
  bytes: number
  is_complete: boolean
}

/** A delivery with what its sender has sent. Values that prove the sender are blank. */
export interface Delivery extends DeliveryRecord {
  search: string
  headers: Record<string, string>
  /** `null` where it was not kept, because the sender was not proved. */
  body: DeliveryBody | null
}

/** Bytes of a body in an answer: a delivery has no cap of its own, and an answer is held in memory. */
const longestBody = 262_144

/** The recorded deliveries of the project's webhooks (contract 7.8). The runtime writes them, and this module only reads. */
@Injectable()
export class Deliveries {
  async list(filters: DeliveryFilters, page: Page): Promise<Listed<DeliveryRecord>> {
    const { text, values } = statementOf(filters, page)
    if (!(await hasTable())) return page.of<DeliveryRecord>([], () => [])
    await Database.$asService().query(byIndex)
    const rows = await Database.$asService().query<DeliveryRecord & { place: string }>(text, values)
    const { data, ...rest } = await page.of(rows, ({ place, id }) => [place, id])
    return { data: data.map(({ place: _, ...record }) => record), ...rest }
  }

  async byId(id: string): Promise<Delivery | undefined> {
    if (!(await hasTable())) return undefined
    const [row] = await Database.$asService().query<
      Omit<Delivery, 'body'> & { body: Uint8Array | null; bytes: number | null }
    >(
      `select ${columns}, search, headers, substring(body from 1 for ${longestBody}) as body, length(body) as bytes
      from webhooks.deliveries where id = $1`,
      [id],
    )
    if (!row) return undefined
    const { bytes, body, ...record } = row
    return { ...record, body: body && shown(body, bytes!) }
  }
}

/** A database without the runtime's migrations has no deliveries. */
async function hasTable(): Promise<boolean> {
  const [row] = await Database.$asService().sql<{ is_there: boolean }>`
    select to_regclass('webhooks.deliveries') is not null as is_there`
  return row!.is_there
}

function shown(body: Uint8Array, bytes: number): DeliveryBody {
  const isComplete = body.length === bytes
  const rest = { bytes, is_complete: isComplete }
  try {
    // a cut in the middle of a character is no fault of the text: the decoder keeps those bytes for a next part
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: !isComplete })
    return { encoding: 'utf-8', content, ...rest }
  } catch {
    return { encoding: 'base64', content: base64(body), ...rest }
  }
}

/** In portions: a call takes only so many arguments. */
function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
