/** `stack webhooks deliveries`: the recorded deliveries, the newest first. */
import { table } from '../../build/emit/report.ts'
import { readDeliveries } from '../../local/deliveries.ts'
import { runningStack } from '../shared/local-stack.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { shellWord } from '../shared/shell.ts'
import { mountedWebhooks, webhookNamed } from './mounted.ts'

export interface DeliveriesFlags {
  project?: string
  json?: boolean
  limit: number
  outcome?: string
}

export async function runDeliveries(flags: DeliveriesFlags, name: string | undefined): Promise<void> {
  const { root } = locateProject(flags.project)
  if (name !== undefined) webhookNamed(root, name)
  const { database_url } = await runningStack(root)
  const { limit, outcome } = flags
  const rows = await readDeliveries(database_url, { webhook: name, outcome, limit })
  if (flags.json) return printJson({ data: rows })
  if (rows.length === 0) {
    process.stderr.write(`${whyNone(root, name, outcome)}\n`)
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
