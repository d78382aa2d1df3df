/** The log's line about a refused delivery: its fault, and the operator's next step (contract 7.9). */
import type { Webhook } from '../table.ts'
import type { Fault, FaultReason } from './claim.ts'

const advice: Record<FaultReason, (webhook: Webhook) => string> = {
  missing_header: ({ provider }) =>
    `Check that ${provider ?? 'the sender that is meant'} sends it to this URL, and that no proxy on the way removes headers.`,
  bad_encoding: ({ provider }) =>
    `Check that the sender signs as ${provider ?? 'the `signature` block'} says, and that no proxy on the way repeats or changes headers.`,
  stale_timestamp: () =>
    'Have the provider send it again with a new signature; if new deliveries are refused too, compare the clocks.',
  future_timestamp: () => 'Compare the clock of the sender with that of this machine.',
  bad_signature: ({ secret }) =>
    `Compare the vault entry ${secret.env} with the secret at the provider, and check that no proxy on the way changes the body.`,
  unset_secret: ({ secret }) =>
    `Store the provider's secret with \`stack secret set ${secret.env} --stdin\`, or PUT /admin/vault/backend/${secret.env}.`,
  malformed_secret: ({ secret }) =>
    `Copy it from the provider once more and store it with \`stack secret set ${secret.env} --stdin\`.`,
  unsupported_scheme: ({ provider }) =>
    `Check which scheme the provider uses: the webhook declares ${provider ?? 'a `signature` block'}.`,
}

export function faultLine(webhook: Webhook, { reason, detail }: Fault): string {
  return `webhook ${webhook.name} refused a delivery: ${reason}: ${detail}. ${advice[reason](webhook)}`
}
