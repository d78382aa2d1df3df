/** Makes the snapshots of a stack's clients: reads the list of providers, selects, and writes all files or none (contract 10.6). */
import { providers } from '../../src/wire/operations.ts'
import { hasClients, type Platform, type ProviderClient, providerNamed } from '../../src/wire/providers.ts'
import { Failure } from '../shared/failure.ts'
import { send } from '../shared/management.ts'
import type { LocatedProject } from '../shared/project.ts'
import type { Target } from '../shared/target.ts'
import { nativeApps } from './checkout.ts'
import { type ListedProvider, type Selected, selectClients } from './select.ts'
import { type Change, hasSnapshots, platforms, readSnapshot, type Snapshot, writeSnapshots } from './snapshot.ts'

/** @returns whether the project selects clients, holds a native app, or has snapshots already. */
export function hasSomethingToLink({ root, project }: Pick<LocatedProject, 'root' | 'project'>): boolean {
  if (Object.keys(project.oauth.platforms).length > 0 || hasSnapshots(root)) return true
  const { ios, android } = nativeApps(root)
  return ios.length + android.length > 0
}

/**
 * @param only the platforms whose files are written.
 * @throws Failure with every reason for which a selection is not clear. Then no file has changed.
 */
export async function generate(target: Target, only: readonly Platform[] = platforms): Promise<Change[]> {
  const { root, project } = target
  const listed = readList((await send(target, providers.list)).text)
  const checkout = nativeApps(root)
  const wanted = new Map<Platform, Snapshot | undefined>()
  const problems: string[] = []
  for (const platform of only) {
    const before = earlier(root, platform, target.ref)
    const selected = selectClients(platform, { providers: listed, oauth: project.oauth, checkout, before })
    for (const note of selected.notes) process.stderr.write(`  ${note}\n`)
    problems.push(...selected.problems)
    wanted.set(platform, snapshotOf(target, platform, selected))
  }
  if (problems.length > 0) throw new Failure('refused', problems.join('\n'))
  return writeSnapshots(root, wanted)
}

/** A snapshot that is not valid, or is another stack's, is replaced. */
function earlier(root: string, platform: Platform, ref: string): Snapshot | undefined {
  try {
    const found = readSnapshot(root, platform)
    return found?.ref === ref ? found : undefined
  } catch {
    return undefined
  }
}

function snapshotOf(stack: Target, platform: Platform, { target, clients }: Selected): Snapshot | undefined {
  if (!target || Object.keys(clients).length === 0) return undefined
  const { project, environment, ref, baseUrl, record } = stack
  return {
    project: project.project,
    environment,
    ref,
    base_url: baseUrl,
    ...(record ? { publishable_key: record.publishable_key } : {}),
    platform,
    ...target,
    providers: clients,
  }
}

/** Providers that this tool does not know have clients that it could not write. */
function readList(text: string): ListedProvider[] {
  const { data } = (text === '' ? {} : JSON.parse(text)) as { data?: unknown }
  if (!Array.isArray(data)) throw new Failure('refused', 'the stack answered no list of providers')
  return data.flatMap((entry: Record<string, unknown> | null) => {
    const name = providerNamed(String(entry?.['name']))
    if (!entry || !name || !hasClients(name)) return []
    const clients = [entry['browser_clients'], entry['native_clients']].flat() as (ProviderClient | undefined)[]
    return [{ name, enabled: entry['enabled'] === true, clients: clients.filter((client) => client !== undefined) }]
  })
}
