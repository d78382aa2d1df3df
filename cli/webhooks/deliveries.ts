/** `stack webhooks deliveries`: the recorded deliveries, the newest first. */
import { table } from '../../build/emit/report.ts'
import { type RecordedDelivery, readDeliveries } from '../../local/deliveries.ts'
import { deliveries as operations } from '../../src/wire/operations.ts'
import { runningStack } from '../shared/local-stack.ts'
import { manage } from '../shared/management.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { shellWord } from '../shared/shell.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'
import { mountedWebhooks, webhookNamed } from './mounted.ts'

export interface DeliveriesFlags extends TargetFlags {
  json?: boolean
  limit: number
  outcome?: string
}

export async function runDeliveries(flags: DeliveriesFlags, name: string | undefined): Promise<void> {
  const { rows, whyNone } = flags.env === undefined ? await ofLocalStack(flags, name) : await ofTarget(flags, name)
  if (flags.json) return printJson({ data: rows })
  if (rows.length === 0) {
    process.stderr.write(`${whyNone()}\n`)
    return
  }
  const cells = rows.map(({ id, received_at, webhook, event, outcome, status, duration_ms, reason }) => [
    id,
    received_at,
    webhook,
    printed(event ?? '-'),
    `${outcome} ${status}`,
    `${duration_ms} ms`,
    printed(reason ?? ''),
  ])
  const head = ['ID', 'RECEIVED', 'WEBHOOK', 'EVENT', 'OUTCOME', 'TOOK', 'REASON']
  process.stderr.write(
    `${table('deliveries', [head, ...cells])
      .join('\n')
      .trimEnd()}\n`,
  )
}

interface Found {
  rows: RecordedDelivery[]
  /** Explains an empty list. */
  whyNone(): string
}

/** Reads the database of the stack that runs here, which needs no call of it. */
async function ofLocalStack({ project, limit, outcome }: DeliveriesFlags, name: string | undefined): Promise<Found> {
  const { root } = locateProject(project)
  if (name !== undefined) webhookNamed(root, name)
  const { database_url } = await runningStack(root)
  const rows = await readDeliveries(database_url, { webhook: name, outcome, limit })
  return { rows, whyNone: () => whyNone(root, name, outcome) }
}

/** Asks a stack that may have another version of the project: the name of a webhook is not compared with the last build. */
async function ofTarget(flags: DeliveriesFlags, webhook: string | undefined): Promise<Found> {
  const target = await locateTarget(flags)
  const { limit, outcome } = flags
  const filters = Object.entries({ webhook, outcome }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value]],
  )
  const query = new URLSearchParams([['limit', String(limit)], ...filters] as [string, string][])
  const { method, path } = operations.list
  const { data } = (await manage(target, { method, path: `${path}?${query}` })) as { data: RecordedDelivery[] }
  const such = [webhook && `of ${webhook}`, outcome && `with the outcome ${outcome}`].filter(Boolean).join(' ')
  return { rows: data, whyNone: () => `no delivery ${such && `${such} `}is recorded in ${target.name}` }
}

/** Explains an empty list, with a command or a declaration that would fill it. */
function whyNone(root: string, name: string | undefined, outcome: string | undefined): string {
  const asked = mountedWebhooks(root).filter((webhook) => name === undefined || webhook.name === name)
  const recording = asked.find(({ record }) => record !== undefined)
  if (!recording) {
    const who = name === undefined ? 'no webhook of this project records' : `${name} does not record`
    return `${who} its deliveries: add \`record: true\` to its @Webhook, which keeps what arrives from then on`
  }
  const what =
    outcome === undefined ? 'no delivery is recorded yet' : `no delivery with the outcome ${outcome} is recorded`
  return `${what}: \`stack webhooks send ${recording.name} ${shellWord(recording.events[0]!.key)}\` sends one`
}

/** Replaces control characters: a sender chose this text, and it must not move the cursor. */
function printed(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').slice(0, 60)
}
