/** `stack webhooks replay <dlv_id>`: a recorded delivery once more, byte for byte, signed again. */
import { forgetSeen, isSeen, readDelivery, restoreSeen } from '../../local/deliveries.ts'
import { proofUnder } from '../../src/wire/webhook-schemes.ts'
import { Failure } from '../failure.ts'
import { locateProject } from '../project.ts'
import { addressOf, deliver } from './deliver.ts'
import { findSigner } from './keys.ts'
import { runningStack, webhookNamed } from './mounted.ts'
import { seenIdOf } from './sign.ts'

/** They belong to the connection that it came by, or are made anew. */
const ofConnection =
  /^(?:host|content-length|connection|keep-alive|upgrade|te|trailer|transfer-encoding|accept-encoding|expect|proxy-.*|cf-.*|x-forwarded-.*)$/

export interface ReplayFlags {
  project?: string
  asReceived?: boolean
  force?: boolean
  secretEnv?: string
}

export async function runReplay(flags: ReplayFlags, id: string): Promise<void> {
  const { root } = locateProject(flags.project)
  const record = await runningStack(root)
  const { database_url } = record
  const recorded = await readDelivery(database_url, id)
  if (!recorded) {
    throw new Failure('usage', `no delivery ${id} is recorded: \`stack webhooks deliveries\` lists those that are`)
  }
  if (recorded.body === null) {
    throw new Failure('usage', `the body of ${id} was not kept, for it was refused: there is nothing to send again`)
  }
  const webhook = webhookNamed(root, recorded.webhook)
  const { name, scheme, dedupe } = webhook
  const signer = await findSigner(root, record, webhook, flags.secretEnv)
  if (recorded.outcome === 'refused') {
    process.stderr.write(
      `  ${id} was refused then (${recorded.reason}): nobody knows who sent it, and here it is signed\n`,
    )
  }
  const { key } = signer
  const proof = 'secret' in key ? proofUnder(scheme.proof, key.secret) : scheme.proof
  const headers = underOwnNames(recorded.headers)
  const timestampHeader = 'timestampHeader' in proof ? proof.timestampHeader?.toLowerCase() : undefined
  const [statedIn, stated] =
    Object.entries(headers).find(([header]) =>
      timestampHeader?.startsWith('*') ? header.endsWith(timestampHeader.slice(1)) : header === timestampHeader,
    ) ?? []
  const receivedAt = Math.floor(Date.parse(recorded.received_at) / 1000)
  const then = stated !== undefined && /^\d{1,11}$/.test(stated) ? Number(stated) : receivedAt
  const idHeader = proof.by === 'hmac' ? proof.idHeader : undefined
  const kept = Object.entries(headers).filter(
    ([header, value]) => /^[\t -~]+$/.test(value) && !ofConnection.test(header) && header !== statedIn,
  )
  const delivery = {
    body: recorded.body,
    headers: Object.fromEntries(kept),
    at: flags.asReceived ? then : Math.floor(Date.now() / 1000),
    id: (idHeader === undefined ? undefined : headers[idHeader]) ?? id,
    ...addressOf(root, record, webhook, recorded.search),
  }
  const send = () => deliver(record, webhook, signer, delivery)
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

/** Headers of Standard Webhooks that came under the prefix `svix-`: beside the signed ones they would be a second set. */
function underOwnNames(headers: Record<string, string>): Record<string, string> {
  if (headers['svix-id'] === undefined || headers['webhook-id'] !== undefined) return headers
  const renamed = Object.entries(headers).map(([name, value]) => [name.replace(/^svix-/, 'webhook-'), value])
  return Object.fromEntries(renamed)
}

/**
 * Removes the id of a delivery for as long as it takes to send it once more. The id is put back where the stack has not
 * noted it again: a copy from the provider must not run the handler a further time.
 */
async function sendAgain(databaseUrl: string, webhook: string, id: string, send: () => Promise<void>): Promise<void> {
  const seenAt = await forgetSeen(databaseUrl, webhook, id)
  if (seenAt === undefined) {
    process.stderr.write(`  ${webhook} has not handled ${id}: --force removed nothing\n`)
    return send()
  }
  process.stderr.write(`  removed ${id} of ${webhook} from webhooks.seen: the handler runs again\n`)
  try {
    await send()
  } finally {
    if (await restoreSeen(databaseUrl, webhook, id, seenAt)) {
      process.stderr.write(`  put ${id} back: the delivery was not handled this time\n`)
    }
  }
}
