import { Injectable, type UserT } from '@stack/backend'
import {
  type ClientLists,
  type ProviderClient,
  type ProviderName,
  providerNamed,
  providerNames,
  recordName,
} from '../../wire/providers.ts'
import { Audit, actorOf, type Entry } from '../audit/rows.ts'
import { clientOf } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'
import { requireMatch } from '../shared/precondition.ts'
import { suggestion } from '../shared/suggestion.ts'
import { type Provider, Providers } from './rows.ts'
import { etagOf } from './shown.ts'

/** One call of the management surface that changes a provider. */
export interface ProviderCall {
  operator: UserT | null
  request: Request
  requestId: string
  /** The header `If-Match`. A change without it is recorded as unconditional (contract 9.2). */
  ifMatch: string | undefined
}

type Change = NonNullable<Entry['changes']>[number]

/** Changes of providers: one at a time for each provider, each with its entry of the audit trail in the same transaction. */
@Injectable()
export class ProviderChanges {
  constructor(
    private readonly audit: Audit,
    private readonly providers: Providers,
  ) {}

  /**
   * Locks the provider until the request ends. @returns its state, which the change begins with.
   * @throws HttpError 412 `precondition_failed`
   */
  async begin(name: ProviderName, { ifMatch }: ProviderCall): Promise<Provider> {
    const revision = await this.providers.lock(name)
    requireMatch(ifMatch, etagOf({ revision }), `the provider "${name}"`)
    return this.providers.read(name)
  }

  /** Stores the provider under its next revision, and records the change. @returns the provider as it is now. */
  async end(
    provider: Provider,
    event: Entry['event'],
    changes: Change[],
    { operator, request, requestId, ifMatch }: ProviderCall,
    details: Record<string, unknown> = {},
  ): Promise<Provider> {
    const unconditional = ifMatch === undefined ? { unconditional: true } : {}
    await this.audit.record({
      event,
      actor: actorOf(operator),
      target: { type: 'provider', id: provider.name },
      client: clientOf(request, requestId),
      changes,
      details: { ...details, ...unconditional },
    })
    return this.providers.save(provider)
  }
}

/** @param text a name or a synonym, from the path. @throws HttpError 404 `provider_not_found` */
export function requireProvider(text: string): ProviderName {
  const name = providerNamed(text)
  if (name) return name
  const hint = suggestion(text, providerNames) || `: the providers are ${providerNames.join(', ')}`
  throw authError('provider_not_found', `there is no provider of this name${hint}`)
}

/** @throws HttpError 400 `invalid_provider_credential` for a name that no credential has. */
export function requireRecordName(name: string): void {
  if (recordName.test(name)) return
  const reason = 'the name of a credential is 1 to 63 lowercase letters, digits, dots, dashes and underscores'
  throw authError('invalid_provider_credential', reason, { fields: [{ path: 'credential', reason }] })
}

/** @returns the differences between two states of the clients, by their keys and fields. */
export function changesOfClients(before: ClientLists, after: ClientLists): Change[] {
  return (['browser_clients', 'native_clients'] as const).flatMap((list) => {
    const [old, next] = [byKey(before[list]), byKey(after[list])]
    return [...new Set([...old.keys(), ...next.keys()])].flatMap((key) => {
      const [from, to] = [old.get(key), next.get(key)]
      if (!from || !to) return [{ path: `${list}.${key}`, from: from ?? null, to: to ?? null }]
      return changesBetween(from, to, `${list}.${key}.`)
    })
  })
}

/** @returns the differences between two objects, by their fields. */
export function changesBetween(before: object, after: object, prefix = ''): Change[] {
  const [old, next] = [before, after] as Record<string, unknown>[]
  return [...new Set([...Object.keys(old!), ...Object.keys(next!)])]
    .map((name) => ({ path: `${prefix}${name}`, from: old![name] ?? null, to: next![name] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
}

function byKey(clients: readonly ProviderClient[]): Map<string, ProviderClient> {
  return new Map(clients.map((client) => [client.key, client]))
}
