/** Selects the clients of a platform's snapshot (source, "Client selection for linked apps"). Pure: the caller reads and writes. */
import type { ClientKeys, ClientSelection, OAuthSelection } from '../../src/wire/project.ts'
import { fieldsOf, type OAuthProvider, type Platform, type ProviderClient } from '../../src/wire/providers.ts'
import type { Checkout, NativeApp } from './checkout.ts'
import type { PublicClient, Snapshot } from './snapshot.ts'

/** A provider with clients, from the list that the stack answers. */
export interface ListedProvider {
  name: OAuthProvider
  enabled: boolean
  clients: ProviderClient[]
}

export interface Sources {
  providers: readonly ListedProvider[]
  oauth: OAuthSelection
  checkout: Checkout
  /** The platform's snapshot of the same stack that exists now. */
  before: Snapshot | undefined
}

export interface Selected {
  target?: Pick<ClientSelection, 'application_key' | 'variant'>
  /** Empty where the platform gets no snapshot. */
  clients: Partial<Record<OAuthProvider, PublicClient>>
  /** Facts that a person should know, although nothing is wrong. */
  notes: string[]
  /** Reasons why no snapshot of any platform is written. */
  problems: string[]
}

/** A client, and whether a sign-in with it is open. */
interface Candidate {
  provider: OAuthProvider
  client: ProviderClient
  isOpen: boolean
}

/** Fields of the record that an app does not need: the selection has them, or they are about the server. */
const notPublic = new Set(['key', 'enabled', 'application_key', 'platform', 'variant', 'credential_ref'])

export function selectClients(platform: Platform, sources: Sources): Selected {
  const { providers, oauth } = sources
  const candidates = providers.flatMap(({ name, enabled, clients }) =>
    clients
      .filter((client) => client.platform === platform)
      .map((client) => ({ provider: name, client, isOpen: enabled && client.enabled })),
  )
  const none: Selected = { clients: {}, notes: [], problems: [] }
  const explicit = oauth.platforms[platform]
  if (explicit) return choose(platform, explicit, candidates, sources)
  if (platform === 'web') {
    const notes = candidates.some(({ isOpen }) => isOpen)
      ? [`web: no target is named as "oauth.web" in stack/project.json. ${listed(candidates)}`]
      : []
    return { ...none, notes }
  }
  const inferred = infer(platform, candidates, sources.checkout[platform])
  if (inferred === undefined || 'problem' in inferred)
    return { ...none, problems: inferred ? [`${platform}: ${inferred.problem}`] : [] }
  return choose(platform, { ...inferred, client_keys: {} }, candidates, sources)
}

/** The one configured target that the checkout identifies. @returns `undefined` where there is nothing to select. */
function infer(
  platform: 'ios' | 'android',
  candidates: readonly Candidate[],
  apps: readonly NativeApp[],
): Pick<ClientSelection, 'application_key' | 'variant'> | { problem: string } | undefined {
  if (apps.length === 0 || candidates.length === 0) return undefined
  const how = `name the target as "oauth.${platform}" in stack/project.json. ${listed(candidates)}`
  const varied = apps.find(({ hasVariants }) => hasVariants)
  if (varied) {
    if (!candidates.some(({ isOpen }) => isOpen)) return undefined
    return { problem: `${varied.file} has flavors, suffixes or a computed application id, so ${how}` }
  }
  const ids = new Set(apps.flatMap((app) => app.ids))
  const matching = candidates.filter(({ client }) => ids.has(client.bundle_id ?? client.package_name ?? ''))
  const open = matching.filter(({ isOpen }) => isOpen)
  const targets = targetsOf(open.length > 0 ? open : matching)
  if (targets.length === 1) return targets[0]
  const named = `${apps.map(({ file }) => file).join(', ')} (${[...ids].join(', ')})`
  if (targets.length === 0) {
    if (!candidates.some(({ isOpen }) => isOpen)) return undefined
    return { problem: `no client is registered for ${named}: ${how}` }
  }
  return open.length === 0 ? undefined : { problem: `several targets are registered for ${named}: ${how}` }
}

/** Chooses at most one client of each provider for the target. */
function choose(
  platform: Platform,
  { application_key, variant, client_keys }: ClientSelection,
  candidates: readonly Candidate[],
  { providers, oauth, before }: Sources,
): Selected {
  const target = { application_key, variant }
  const selected: Selected = { target, clients: {}, notes: [], problems: [] }
  const isOfTarget = ({ client }: Candidate) => client.application_key === application_key && client.variant === variant
  for (const provider of providers) {
    const own = candidates.filter((candidate) => candidate.provider === provider.name)
    const matching = own.filter(isOfTarget)
    const open = matching.filter(({ isOpen }) => isOpen)
    const key = keyFor(provider, platform, client_keys, oauth.client_keys)
    const chosen = key === undefined ? open[0] : open.find(({ client }) => client.key === key)
    if (key === undefined && open.length > 1) {
      const keys = open.map(({ client }) => client.key).join(', ')
      selected.problems.push(
        `${platform}: ${provider.name} has ${open.length} clients for ${nameOf(target)}: name one of them in "oauth.${platform}.client_keys": ${keys}`,
      )
    } else if (chosen) selected.clients[provider.name] = publicFields(provider.name, platform, chosen.client)
    else if (key !== undefined) missing(selected, platform, { provider: provider.name, key, own, matching, before })
  }
  if (Object.keys(selected.clients).length > 0 || selected.problems.length > 0) return selected
  const wasThere = before?.application_key === application_key && before.variant === variant
  if (wasThere || candidates.some(isOfTarget))
    selected.notes.push(`${platform}: every client of ${nameOf(target)} is disabled or removed`)
  else if (candidates.some(({ isOpen }) => isOpen))
    selected.problems.push(`${platform}: no client is for ${nameOf(target)}. ${listed(candidates)}`)
  else selected.notes.push(`${platform}: no enabled client is configured`)
  return selected
}

/** A client that is named by its key and not open. One that was removed or closed since the last time is only left out. */
function missing(
  { notes, problems }: Selected,
  platform: Platform,
  {
    provider,
    key,
    own,
    matching,
    before,
  }: { provider: OAuthProvider; key: string; own: Candidate[]; matching: Candidate[]; before: Snapshot | undefined },
): void {
  const isClosed = matching.some(({ client }) => client.key === key)
  const wasThere = before?.providers[provider]?.client_key === key
  if (isClosed || wasThere || !own.some(({ isOpen }) => isOpen))
    notes.push(`${platform}: the client "${key}" of ${provider} is disabled or removed`)
  else problems.push(`${platform}: ${provider} has no client "${key}" for this target. ${listed(own)}`)
}

/** A key for every platform counts where no other platform has its client: keys are unique among all clients of a provider. */
function keyFor(
  { name, clients }: ListedProvider,
  platform: Platform,
  own: ClientKeys,
  shared: ClientKeys,
): string | undefined {
  if (own[name] !== undefined) return own[name]
  const key = shared[name]
  return clients.some((client) => client.key === key && client.platform !== platform) ? undefined : key
}

function publicFields(provider: OAuthProvider, platform: Platform, client: ProviderClient): PublicClient {
  const shown: PublicClient = { client_key: client.key }
  for (const { name } of fieldsOf(provider, platform)) {
    const value = client[name]
    if (!notPublic.has(name) && (typeof value === 'string' || Array.isArray(value))) shown[name] = value
  }
  return shown
}

function targetsOf(candidates: readonly Candidate[]): Pick<ClientSelection, 'application_key' | 'variant'>[] {
  const targets = new Map<string, Pick<ClientSelection, 'application_key' | 'variant'>>()
  for (const { client } of candidates) {
    const { application_key, variant } = client
    targets.set(JSON.stringify([application_key, variant]), { application_key, variant })
  }
  return [...targets.values()]
}

/** The targets of the open clients, as a sentence. */
function listed(candidates: readonly Candidate[]): string {
  const open = candidates.filter(({ isOpen }) => isOpen)
  const lines = targetsOf(open).map(({ application_key, variant }) => {
    const keys = open
      .filter(({ client }) => client.application_key === application_key && client.variant === variant)
      .map(({ provider, client }) => `${provider} ${client.key}`)
    return `\n  "application_key": ${JSON.stringify(application_key)}, "variant": ${JSON.stringify(variant)}   (${keys.join(', ')})`
  })
  return `The stack has:${lines.join('')}`
}

function nameOf({ application_key, variant }: Pick<ClientSelection, 'application_key' | 'variant'>): string {
  return `the application "${application_key}", variant "${variant}"`
}
