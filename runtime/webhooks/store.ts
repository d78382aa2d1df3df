/** Stores which deliveries were handled, and records deliveries (contract 7.7, 7.8). */
import type { Queries } from '../../src/sdk/scope.ts'
import { deliveryIdOf } from '../../src/wire/delivery-ids.ts'
import { newId } from '../../src/wire/ids.ts'
import type { Proof, Scheme } from '../../src/wire/webhook-schemes.ts'
import type { Call } from '../call.ts'
import type { Webhook } from '../table.ts'
import type { Claim } from './claim.ts'
import type { Outcome } from './delivery.ts'
import { textField } from './payload.ts'
import { createRecorder } from './recorder.ts'

/** Days that the id of a handled delivery is kept (contract 7.7). No provider sends a delivery again for so long. */
const seenDays = 30
/**
 * Number of expired rows that are deleted with each row that is added. More than one, so that expired rows become fewer. Few,
 * so that the deletion costs little.
 */
const deletedAtOnce = 20

/** `first`: this transaction handles the delivery. `copy`: it was handled before. `busy`: another transaction handles it. */
type Turn = 'first' | 'copy' | 'busy'

/**
 * Adds the id of a delivery in the transaction that handles it. A copy would wait for the first row's transaction, so a lock
 * that can be tried without waiting comes before the row.
 */
async function claimTurn(service: Queries, webhook: string, id: string): Promise<Turn> {
  const [turn] = await service.query<{ is_seen: boolean; is_held: boolean; is_added: boolean }>(
    `with known as materialized (
       select exists (select from webhooks.seen where webhook = $1 and id = $2) as is_seen
     ), lock as materialized (
       select case when is_seen then false
         else pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended($1 || ' ' || $2, 0)) end as is_held
       from known
     ), added as (
       insert into webhooks.seen (webhook, id) select $1, $2 from lock where is_held on conflict do nothing returning 1
     )
     select is_seen, is_held, exists (select from added) as is_added from known, lock`,
    [webhook, id],
  )
  if (turn!.is_seen) return 'copy' // copies take no lock, because many of them would keep each other busy
  if (!turn!.is_held) return 'busy'
  if (!turn!.is_added) return 'copy' // the first transaction has ended since this statement began
  await service.query(
    `delete from webhooks.seen where ctid in (select ctid from webhooks.seen
       where seen_at < now() - make_interval(days => $1) limit $2 for update skip locked)`,
    [seenDays, deletedAtOnce],
  )
  return 'first'
}

async function deliveryId(
  { idField, event }: Scheme,
  key: string,
  claim: Claim,
  payload: unknown,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const id = claim.id ?? (idField === undefined ? undefined : textField(payload, idField))
  return deliveryIdOf(id, () => claim.signed(body), event.from === 'header' ? key : undefined)
}

/** Makes the functions for webhooks with `dedupe` or `record`. The generated entry imports it only where a webhook declares one of the two. */
export function createStore() {
  return {
    claimTurn,
    deliveryId,
    createRecorder: (run: Parameters<typeof createRecorder>[0]) => createRecorder(run, recordDelivery),
  }
}

/** Longest event key and reason in characters that are recorded: a sender chooses the key, and a list shows both in one line. */
const longestText = 200
/** Number of refused deliveries of one webhook that are kept (contract 7.8): a flood of forged ones must not fill the database. */
const refusedKept = 1_000
/** Longest header value and longest query in characters that are kept of a refused delivery, because anyone can send one. */
const longestRefusedHeader = 500
/** Largest number of headers that are kept of a refused delivery. Its sender is unknown, and may send any number. */
const refusedHeaders = 50

async function recordDelivery(
  service: Queries,
  call: Call,
  { name, record, scheme }: Webhook,
  { outcome, reason, event, body }: Outcome,
  status: number,
  began: number,
): Promise<void> {
  const isRefused = outcome === 'refused'
  const headers = Object.entries(headersOf(call.request.headers, scheme.proof))
  const kept = isRefused
    ? headers.slice(0, refusedHeaders).map(([key, value]) => [key, value.slice(0, longestRefusedHeader)])
    : headers
  const search = withoutProofs(call.search)
  await service.query(
    `insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, body, event, outcome, reason, status, duration_ms)
     values ($1, $2, $3, to_timestamp($4::double precision / 1000), $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      newId('dlv_'),
      name,
      call.requestId,
      began,
      isRefused ? search.slice(0, longestRefusedHeader) : search,
      JSON.stringify(Object.fromEntries(kept)),
      body ?? null,
      printable(event),
      outcome,
      printable(reason),
      status,
      Date.now() - began,
    ],
  )
  await service.query(
    `delete from webhooks.deliveries where ctid in (select ctid from webhooks.deliveries
       where webhook = $1 and received_at < now() - make_interval(days => $2) limit $3 for update skip locked)`,
    [name, record!.days, deletedAtOnce],
  )
  if (!isRefused) return
  await service.query(
    `delete from webhooks.deliveries where id in (select id from webhooks.deliveries
       where webhook = $1 and outcome = 'refused' order by received_at desc, id desc offset $2 limit $3)`,
    [name, refusedKept, deletedAtOnce],
  )
}

/** Replaces characters that Postgres cannot hold, and cuts the text to `longestText`. */
function printable(text: string | undefined): string | null {
  return text?.slice(0, longestText).replaceAll('\0', '\ufffd').toWellFormed() ?? null
}

/** Names of headers and parameters whose values prove the sender. Some providers send several of them. */
const proving = /signature(?!-timestamp)|auth|cookie|token|secret|password|key/i

/** Blanks the values that prove the sender: with them a reader of the table could send the delivery again. */
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
