/** `stack webhooks list`: what is mounted, whether its secret is set, which keys are bound. */
import path from 'node:path'
import { table } from '../../build/emit/report.ts'
import { readRecord } from '../../local/record.ts'
import { namesInVault } from '../../local/vault.ts'
import { devVars, locateProject } from '../project.ts'
import { mountedWebhooks } from './mounted.ts'

export async function runList(flags: { project?: string; json?: boolean }): Promise<void> {
  const { root } = locateProject(flags.project)
  const isSet = await secretsOf(root)
  const rows = mountedWebhooks(root).map(({ name, provider, secret, events, dedupe, record }) => ({
    name,
    path: `/webhooks/${name}`,
    provider,
    secret: { ...secret, set: isSet(secret.env) },
    events: events.map(({ key }) => key),
    dedupe: dedupe ?? false,
    record: record ?? null,
  }))
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ data: rows }, undefined, 2)}\n`)
    return
  }
  if (rows.length === 0) {
    process.stderr.write('no webhook is mounted: list a class with @Webhook in the `providers` of a module\n')
    return
  }
  const cells = rows.map(({ path, provider, secret, events }) => [
    path,
    provider ?? 'signature',
    `${secret.env} ${secret.set ? 'is set' : 'is NOT set: every delivery is refused'}`,
    events.join(', '),
  ])
  process.stderr.write(`${table('webhooks', cells).join('\n').trimEnd()}\n`)
}

/** Those of `.dev.vars`, and of the vault while its stack runs. */
async function secretsOf(root: string): Promise<(name: string) => boolean> {
  const variables = devVars(root)
  const found = await readRecord(path.join(root, '.stack/local.json'))
  const names = found?.isLive ? await namesInVault(found.record) : []
  return (name) => Boolean(variables[name]) || names.includes(name)
}
