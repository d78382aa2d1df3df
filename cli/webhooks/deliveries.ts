/** `stack webhooks deliveries`: what was recorded, the newest first. */
import { table } from '../../build/emit/report.ts'
import { readDeliveries } from '../../local/deliveries.ts'
import { locateProject } from '../project.ts'
import { runningStack, webhookNamed } from './mounted.ts'

export async function runDeliveries(
  flags: { project?: string; json?: boolean; limit: number },
  name: string | undefined,
): Promise<void> {
  const { root } = locateProject(flags.project)
  if (name !== undefined) webhookNamed(root, name)
  const { database_url } = await runningStack(root)
  const rows = await readDeliveries(database_url, name, flags.limit)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ data: rows }, undefined, 2)}\n`)
    return
  }
  if (rows.length === 0) {
    process.stderr.write('no delivery is recorded: `record: true` on a webhook keeps what arrives from then on\n')
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
  process.stderr.write(`${table('deliveries', cells).join('\n').trimEnd()}\n`)
}

/** A sender chose these: they must not move the cursor. */
function printed(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').slice(0, 60)
}
