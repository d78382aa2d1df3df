/** What is kept of deliveries: which were handled, and the deliveries themselves (contract 7.7, 7.8). */
import type { Session } from '../../src/sdk/scope.ts'
import { deliveryIdOf } from '../../src/wire/delivery-ids.ts'
import { newId } from '../../src/wire/ids.ts'
import type { Proof } from '../../src/wire/webhook-schemes.ts'
import type { Call } from '../call.ts'
import type { Webhook } from '../table.ts'
import type { Claim } from './claim.ts'
import { textField } from './payload.ts'

/** Longer than any sender goes on trying. */
const seenDays = 30
/** Removed with each one that is added, so that what is old never piles up. */
const removedAtOnce = 20

/**
 * Notes a delivery in the transaction that handles it. A copy that arrives meanwhile waits here until that one has ended.
 * @returns whether it is the first.
 */
async function isFirst(service: Session, webhook: string, id: string): Promise<boolean> {
  const added = await service.query(
    'insert into webhooks.seen (webhook, id) values ($1, $2) on conflict do nothing returning 1',
    [webhook, id],
  )
  if (added.length === 0) return false
  await service.query(
    `delete from webhooks.seen where ctid in (select ctid from webhooks.seen
       where seen_at < now() - make_interval(days => $1) limit $2 for update skip locked)`,
    [seenDays, removedAtOnce],
  )
  return true
}

async function deliveryId(
  idField: string | undefined,
  claim: Claim,
  payload: unknown,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const id = claim.id ?? (idField === undefined ? undefined : textField(payload, idField))
  return deliveryIdOf(id, () => claim.signed(body))
}

/** For the generated entry: one name for all of it. */
export function createStore() {
  return { isFirst, deliveryId, recordDelivery }
}

/** What has become of a delivery so far. */
export interface Fate {
  outcome: 'handled' | 'unhandled' | 'duplicate' | 'handshake' | 'failed' | 'refused'
  reason?: string
  event?: string
  body?: Uint8Array<ArrayBuffer>
}

const longestText = 200
/** Of what nobody signed, no more than this is kept: a stranger must not fill the database. */
const longestRefused = 65_536

async function recordDelivery(
  service: Session,
  call: Call,
  { name, record, scheme }: Webhook,
  fate: Fate,
  status: number,
  began: number,
): Promise<void> {
  const text = (value: string | undefined) => value?.slice(0, longestText).replaceAll('\0', '�').toWellFormed() ?? null
  await service.query(
    `insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, body, event, outcome, reason, status, duration_ms)
     values ($1, $2, $3, to_timestamp($4::double precision / 1000), $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      newId('dlv_'),
      name,
      call.requestId,
      began,
      withoutProofs(call.search),
      JSON.stringify(headersOf(call.request.headers, scheme.proof)),
      fate.outcome === 'refused' && (fate.body?.length ?? 0) > longestRefused ? null : (fate.body ?? null),
      text(fate.event),
      fate.outcome,
      text(fate.reason),
      status,
      Date.now() - began,
    ],
  )
  await service.query(
    `delete from webhooks.deliveries where ctid in (select ctid from webhooks.deliveries
       where webhook = $1 and received_at < now() - make_interval(days => $2) limit $3 for update skip locked)`,
    [name, record!.days, removedAtOnce],
  )
}

/** Names of headers and parameters whose values prove who sent something: some senders send several of them. */
const proving = /signature(?!-timestamp)|auth|cookie|token|secret|password|key/i

/** With such a value whoever reads the table could send the delivery again. */
function headersOf(headers: Headers, { header }: Proof): Record<string, string> {
  const own = header.toLowerCase()
  const isProof = (name: string) => name === own || proving.test(name)
  return Object.fromEntries([...headers].map(([name, value]) => [name, isProof(name) ? '' : value]))
}

function withoutProofs(search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]*)/g, (whole, before: string, name: string) =>
    proving.test(name) ? `${before}${name}=` : whole,
  )
}
