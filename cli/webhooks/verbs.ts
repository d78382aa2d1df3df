/** The verbs that list, sign and send webhook deliveries of the local stack. */
import { Option } from 'commander'
import { type Group, jsonFlag, projectFlag, wholeNumber } from '../shared/verb.ts'
import type { DeliveriesFlags } from './deliveries.ts'
import type { ListFlags } from './list.ts'
import type { ReplayFlags } from './replay.ts'
import type { SendFlags } from './send.ts'

const secretEnvFlag = () =>
  new Option(
    '--secret-env <variable>',
    "the environment variable that holds the secret or the private key to sign with (default: the secret's line in .dev.vars)",
  )

const answerAsJson = () =>
  jsonFlag('print the status, the request id, the duration and the body of the answer as one JSON object')

export const webhooks: Group = {
  summaries: { webhooks: 'list, send and replay webhook deliveries' },
  verbs: [
    {
      name: 'webhooks list',
      summary: 'list the mounted webhooks, the source of each secret and the bound event keys',
      options: [projectFlag(), jsonFlag()],
      examples: ['stack webhooks list', 'stack webhooks list --json'],
      run: async (flags: ListFlags) => (await import('./list.ts')).runList(flags),
    },
    {
      name: 'webhooks send',
      positionals: { '<name>': 'the webhook, as @Webhook names it', '<event>': 'the event key, as @On names it' },
      summary: 'sign a delivery as its provider would, and send it to the local stack',
      options: [
        projectFlag(),
        new Option(
          '--data <payload>',
          'the payload, or the part of it that the handler reads: JSON, @file, or @- for standard input',
        ),
        secretEnvFlag(),
        answerAsJson(),
      ],
      examples: [
        `stack webhooks send payments payment.succeeded --data '{"data":{"order":1}}'`,
        `stack webhooks send codehost issues.opened --data '{"issue":{"number":7}}'`,
        'stack webhooks send payments invoice.paid --data @invoice.json',
        'stack webhooks send slack block_actions --secret-env SLACK_SECRET',
      ],
      run: async (flags: SendFlags, name: string, event: string) =>
        (await import('./send.ts')).runSend(flags, name, event),
    },
    {
      name: 'webhooks deliveries',
      positionals: { '[name]': 'the webhook, as @Webhook names it (default: all of them)' },
      summary: 'list the deliveries of webhooks with `record: true`, the newest first',
      options: [
        projectFlag(),
        new Option('--env <name>', 'an environment of stack/project.json (default: the local stack that runs)'),
        jsonFlag(),
        new Option('--limit <number>', 'the largest number of deliveries').argParser(wholeNumber(1, 500)).default(20),
        new Option('--outcome <outcome>', 'only deliveries with this outcome').choices([
          'handled',
          'unhandled',
          'duplicate',
          'handshake',
          'failed',
          'refused',
        ]),
      ],
      examples: [
        'stack webhooks deliveries',
        'stack webhooks deliveries payments --limit 5 --json',
        'stack webhooks deliveries --outcome failed',
        'stack webhooks deliveries --env staging',
      ],
      run: async (flags: DeliveriesFlags, name) => (await import('./deliveries.ts')).runDeliveries(flags, name),
    },
    {
      name: 'webhooks replay',
      positionals: { '<dlv_id>': 'the delivery, as `stack webhooks deliveries` lists it' },
      summary: 'sign a recorded delivery anew, and send the same bytes to the local stack',
      options: [
        projectFlag(),
        new Option('--as-received', 'sign it for the time at which it was received: after 300 s that is refused'),
        new Option('--force', 'run the handler again where `dedupe: true` would take the delivery for a copy'),
        secretEnvFlag(),
        answerAsJson(),
      ],
      examples: [
        'stack webhooks replay dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV',
        'stack webhooks replay dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV --force',
      ],
      run: async (flags: ReplayFlags, id: string) => (await import('./replay.ts')).runReplay(flags, id),
    },
  ],
}
