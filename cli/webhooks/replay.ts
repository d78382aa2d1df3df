/** `stack webhooks replay <dlv_id>`: sends a recorded delivery again, byte for byte, signed anew. */
import { forgetSeen, isSeen, readDelivery, restoreSeen, type StoredDelivery } from '../../local/deliveries.ts'
import { type Proof, proofUnder } from '../../src/wire/webhook-schemes.ts'
import { Failure } from '../shared/failure.ts'
import { runningStack } from '../shared/local-stack.ts'
import { locateProject } from '../shared/project.ts'
import { untilInterrupted } from '../shared/signals.ts'
import { addressOf, type Delivery, deliver } from './deliver.ts'
import { findSigner } from './keys.ts'
import { webhookNamed } from './mounted.ts'
import { seenIdOf } from './sign.ts'

/** Headers of the connection that the delivery came by, and headers that `fetch` sets itself. */
const connectionHeaders =
  /^(?:host|content-length|connection|keep-alive|upgrade|te|trailer|transfer-encoding|accept-encoding|expect|proxy-.*|cf-.*|x-forwarded-.*)$/

export interface ReplayFlags {
  project?: string
  asReceived?: boolean
  force?: boolean
  secretEnv?: string
  json?: boolean
}

export async function runReplay(flags: ReplayFlags, id: string): Promise<void> {
  const { root } = locateProject(flags.project)
  const record = await runningStack(root)
  const { database_url } = record
  const recorded = await recordedDelivery(database_url, id)
  const webhook = webhookNamed(root, recorded.webhook)
  const { name, scheme, dedupe } = webhook
  const signer = await findSigner(root, record, webhook, flags.secretEnv)
  if (recorded.outcome === 'refused') {
    const why = `its sender is not known, and this command signs it`
    process.stderr.write(`  ${id} was refused when it was received (${recorded.reason}): ${why}\n`)
  }
  const { key } = signer
  const proof = 'secret' in key ? proofUnder(scheme.proof, key.secret) : scheme.proof
  const delivery = {
    ...signable(recorded, proof, flags.asReceived ?? false),
    ...addressOf(root, record, webhook, recorded.search),
  }
  const send = (signal?: AbortSignal) =>
    deliver(record, webhook, signer, delivery, { json: flags.json, ...(signal && { signal }) })
  if (!dedupe) {
    if (flags.force) process.stderr.write(`  ${name} keeps no ids of deliveries: --force changes nothing\n`)
    return send()
  }
  const seenId = await seenIdOf({ ...scheme, proof }, recorded.event ?? '', delivery)
  if (flags.force) return sendAgain(database_url, name, seenId, send)
  if (await isSeen(database_url, name, seenId)) {
    process.stderr.write(
      `  ${seenId} was handled before: the stack answers so, and runs no handler. --force runs the handler again\n`,
    )
  }
  return send()
}

/** @throws Failure for an id that is not recorded, or whose body was not kept. */
async function recordedDelivery(databaseUrl: string, id: string): Promise<StoredDelivery & { body: Buffer }> {
  const recorded = await readDelivery(databaseUrl, id)
  if (!recorded) {
    throw new Failure('usage', `no delivery ${id} is recorded: \`stack webhooks deliveries\` lists those that are`)
  }
  const { body } = recorded
  if (body === null) {
    throw new Failure('usage', `the body of ${id} was not kept, for it was refused: there is nothing to send again`)
  }
  return { ...recorded, body }
}

/**
 * The delivery without its proof: the signature and its timestamp are made anew.
 * @param asReceived signs for the time that the sender stated, or else for the time at which the delivery was received.
 */
function signable(
  { id, body, headers: received, received_at }: StoredDelivery & { body: Buffer },
  proof: Proof,
  asReceived: boolean,
): ToSignWithHeaders {
  const headers = underOwnNames(received)
  const timestampHeader = 'timestampHeader' in proof ? proof.timestampHeader?.toLowerCase() : undefined
  const [statedIn, stated] =
    Object.entries(headers).find(([header]) =>
      timestampHeader?.startsWith('*') ? header.endsWith(timestampHeader.slice(1)) : header === timestampHeader,
    ) ?? []
  const receivedAt = Math.floor(Date.parse(received_at) / 1000)
  const then = stated !== undefined && /^\d{1,11}$/.test(stated) ? Number(stated) : receivedAt
  const idHeader = proof.by === 'hmac' ? proof.idHeader : undefined
  const kept = Object.entries(headers).filter(
    ([header, value]) => /^[\t -~]+$/.test(value) && !connectionHeaders.test(header) && header !== statedIn,
  )
  return {
    body,
    headers: Object.fromEntries(kept),
    at: asReceived ? then : Math.floor(Date.now() / 1000),
    id: (idHeader === undefined ? undefined : headers[idHeader]) ?? id,
  }
}

type ToSignWithHeaders = Omit<Delivery, 'address' | 'url'>

/** Renames headers of Standard Webhooks that came under the prefix `svix-`: beside the signed ones they would be a second set. */
function underOwnNames(headers: Record<string, string>): Record<string, string> {
  if (headers['svix-id'] === undefined || headers['webhook-id'] !== undefined) return headers
  const renamed = Object.entries(headers).map(([name, value]) => [name.replace(/^svix-/, 'webhook-'), value])
  return Object.fromEntries(renamed)
}

/**
 * Removes the id of a delivery while the delivery is sent again. Unless the stack has noted the id anew, the id is put back,
 * also after an interrupt: a copy from the provider must not run the handler once more. One transaction could not do this,
 * because the handler's own insert of the id would wait for it.
 */
async function sendAgain(
  databaseUrl: string,
  webhook: string,
  id: string,
  send: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const interruption = new AbortController()
  // Listens before the id is removed: from here on, a first signal must not end the process.
  untilInterrupted(() => {
    process.stderr.write(`\n  interrupted: ${id} is put back, unless the handler succeeds\n`)
    interruption.abort()
  })
  const { signal } = interruption
  const seenAt = await forgetSeen(databaseUrl, webhook, id)
  if (seenAt === undefined) {
    process.stderr.write(`  ${webhook} has not handled ${id}: --force removed nothing\n`)
    return send(signal)
  }
  process.stderr.write(`  removed ${id} of ${webhook} from webhooks.seen: the handler runs again\n`)
  try {
    await send(signal)
  } finally {
    if (await restoreSeen(databaseUrl, webhook, id, seenAt)) {
      process.stderr.write(`  put ${id} back: the delivery was not handled this time\n`)
    }
  }
}
