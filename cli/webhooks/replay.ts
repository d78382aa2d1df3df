/** `stack webhooks replay <dlv_id>`: a recorded delivery once more, byte for byte, signed again. */
import { readDelivery } from '../../local/deliveries.ts'
import { Failure } from '../failure.ts'
import { locateProject } from '../project.ts'
import { deliver } from './deliver.ts'
import { runningStack, webhookNamed } from './mounted.ts'

/** They belong to the connection that it came by, or are made anew. */
const ofConnection =
  /^(?:host|content-length|connection|keep-alive|upgrade|te|trailer|transfer-encoding|accept-encoding|expect|proxy-.*|cf-.*|x-forwarded-.*)$/

export async function runReplay(flags: { project?: string; asReceived?: boolean }, id: string): Promise<void> {
  const { root } = locateProject(flags.project)
  const { database_url } = await runningStack(root)
  const recorded = await readDelivery(database_url, id)
  if (!recorded) {
    throw new Failure('usage', `no delivery ${id} is recorded: \`stack webhooks deliveries\` lists those that are`)
  }
  if (recorded.body === null) {
    throw new Failure('usage', `the body of ${id} was not kept, for it was refused: there is nothing to send again`)
  }
  const webhook = webhookNamed(root, recorded.webhook)
  if (recorded.outcome === 'refused') {
    process.stderr.write(
      `  ${id} was refused then (${recorded.reason}): nobody knows who sent it, and here it is signed\n`,
    )
  }
  const { proof } = webhook.scheme
  const timestampHeader = 'timestampHeader' in proof ? proof.timestampHeader?.toLowerCase() : undefined
  const [statedIn, stated] =
    Object.entries(recorded.headers).find(([name]) =>
      timestampHeader?.startsWith('*') ? name.endsWith(timestampHeader.slice(1)) : name === timestampHeader,
    ) ?? []
  const receivedAt = Math.floor(Date.parse(recorded.received_at) / 1000)
  const then = stated !== undefined && /^\d{1,11}$/.test(stated) ? Number(stated) : receivedAt
  const idHeader = proof.by === 'hmac' ? proof.idHeader : undefined
  const kept = Object.entries(recorded.headers).filter(
    ([name, value]) => /^[\t -~]+$/.test(value) && !ofConnection.test(name) && name !== statedIn,
  )
  await deliver(root, webhook, {
    body: recorded.body,
    headers: Object.fromEntries(kept),
    search: recorded.search,
    at: flags.asReceived ? then : Math.floor(Date.now() / 1000),
    id: (idHeader === undefined ? undefined : recorded.headers[idHeader]) ?? id,
  })
}
