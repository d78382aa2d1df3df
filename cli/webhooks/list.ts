/** `stack webhooks list`: the mounted webhooks, the source of each secret, and the bound event keys. */
import { table } from '../../build/emit/report.ts'
import { type SecretSource, secretSource } from '../../local/vault.ts'
import type { Webhook } from '../../runtime/table.ts'
import { liveRecord } from '../shared/local-stack.ts'
import { printJson } from '../shared/output.ts'
import { devVars, locateProject } from '../shared/project.ts'
import { mountedWebhooks, vaultNames } from './mounted.ts'

/** `unknown` while no stack runs here: only a running one can list its vault. */
type Source = SecretSource | 'unset' | 'unknown'

export interface ListFlags {
  project?: string
  json?: boolean
}

export async function runList(flags: ListFlags): Promise<void> {
  const { root } = locateProject(flags.project)
  const sourceOf = await readSources(root)
  const rows = mountedWebhooks(root).map((webhook) => describe(webhook, sourceOf))
  if (flags.json) return printJson({ data: rows })
  if (rows.length === 0) {
    process.stderr.write('no webhook is mounted: list a class with @Webhook in the `providers` of a module\n')
    return
  }
  const cells = rows.map(({ path, provider, secret, events, dedupe, record }) => [
    path,
    provider ?? 'signature',
    secretText(secret),
    [dedupe ? 'dedupe' : '', record ? `record ${record.days} days` : ''].filter(Boolean).join(', ') || '-',
    events.join(', '),
  ])
  const head = ['PATH', 'SCHEME', 'SECRET', 'OPTIONS', 'EVENTS']
  process.stderr.write(
    `${table('webhooks', [head, ...cells])
      .join('\n')
      .trimEnd()}\n`,
  )
  if (rows.some(({ secret }) => secret.source === 'unknown' || secret.previous_source === 'unknown')) {
    process.stderr.write('  no stack of this project runs here: what its vault holds is not known\n')
  }
}

interface DescribedSecret {
  env: string
  /** `null` while the vault is not known. */
  set: boolean | null
  source: Source
  previous?: string
  previous_source?: Source
}

function describe({ name, provider, secret, events, dedupe, record }: Webhook, sourceOf: (name: string) => Source) {
  const { env, previous } = secret
  const source = sourceOf(env)
  const described: DescribedSecret = {
    env,
    set: source === 'unknown' ? null : source !== 'unset',
    source,
    ...(previous === undefined ? {} : { previous, previous_source: sourceOf(previous) }),
  }
  return {
    name,
    path: `/webhooks/${name}`,
    provider,
    secret: described,
    events: events.map(({ key }) => key),
    dedupe: dedupe ?? false,
    record: record ?? null,
  }
}

function secretText({ env, source, previous, previous_source }: DescribedSecret): string {
  const texts: Record<Source, string> = {
    '.dev.vars': 'from .dev.vars',
    vault: 'from the vault',
    unset: 'is NOT set: every delivery is refused',
    unknown: 'is not in .dev.vars',
  }
  const before =
    previous_source === undefined
      ? ''
      : `; before: ${previous} ${previous_source === 'unset' ? 'is not set' : texts[previous_source]}`
  return `${env} ${texts[source]}${before}`
}

async function readSources(root: string): Promise<(name: string) => Source> {
  const variables = devVars(root)
  const record = await liveRecord(root)
  const inVault = record ? await vaultNames(record) : undefined
  return (name) => {
    const isKnown = inVault !== undefined || Object.hasOwn(variables, name)
    return isKnown ? (secretSource(name, variables, inVault ?? []) ?? 'unset') : 'unknown'
  }
}
