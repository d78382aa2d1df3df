import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  OptionalUser,
  Param,
  Post,
  Put,
  Query,
  Req,
  RequestId,
  type UserT,
} from '@stack/backend'
import { isObject } from '../../wire/faults.ts'
import { checkClients, hasClients, type ProviderConfig, readProviderConfig } from '../../wire/providers.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { bodyOf } from '../shared/body.ts'
import { type Listed, whole } from '../shared/list.ts'
import { objectBody, requireFaultless, requireStrict } from '../shared/strict.ts'
import { changesBetween, changesOfClients, ProviderChanges, requireProvider, requireRecordName } from './changes.ts'
import { type Provider, Providers } from './rows.ts'
import { etagOf, referencesTo, type ShownProvider, shown } from './shown.ts'

const state = bodyOf<{ enabled: boolean }>('invalid_provider_config', (body) => {
  const { enabled, ...others } = isObject(body) ? body : {}
  if (typeof enabled === 'boolean' && Object.keys(others).length === 0) return { value: { enabled } }
  return { fields: [{ path: 'body', reason: 'the body must be { "enabled": true } or { "enabled": false }' }] }
})

const document = objectBody<ProviderConfig>('invalid_provider_config')

/** Providers of sign-in: whether they are open, and their clients (contract 9.1 to 9.5). */
@Controller('/v1/management/auth/providers', { auth: { serviceRole: true } })
export class ProvidersController {
  constructor(
    private readonly changes: ProviderChanges,
    private readonly providers: Providers,
  ) {}

  @Get()
  async list(): Promise<Listed<ShownProvider>> {
    return whole((await this.providers.list()).map(shown))
  }

  @Get(':name')
  async read(@Param('name') name: string): Promise<JsonResponse<ShownProvider>> {
    return answer(await this.providers.read(requireProvider(name)))
  }

  /** Absolute: opening what is open changes nothing. A provider opens without a usable client too, and `problems` says so. */
  @Post(':name')
  async setEnabled(
    @Param('name') given: string,
    @Body(state) { enabled }: { enabled: boolean },
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownProvider>> {
    await requireStrict(request, 'invalid_provider_config')
    const name = requireProvider(given)
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin(name, call)
    if (before.enabled === enabled) return answer(before)
    const event = enabled ? 'provider.enabled' : 'provider.disabled'
    const changes = [{ path: 'enabled', from: before.enabled, to: enabled }]
    return answer(await this.changes.end({ ...before, enabled }, event, changes, call))
  }

  /** A list that is given replaces the stored one whole. What is left out stays as it is. */
  @Put(':name/config')
  async configure(
    @Param('name') given: string,
    @Body(document) body: ProviderConfig,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownProvider>> {
    await requireStrict(request, 'invalid_provider_config')
    const name = requireProvider(given)
    const { config, faults } = readProviderConfig(name, body)
    requireFaultless(faults, 'invalid_provider_config')
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin(name, call)
    const { browser_clients, native_clients, ...others } = config
    const lists = { ...(browser_clients && { browser_clients }), ...(native_clients && { native_clients }) }
    const after = { ...before, ...lists, config: { ...before.config, ...others } }
    requireFaultless(checkClients(after), 'invalid_provider_config')
    await this.providers.replaceClients(name, lists)
    const changes = [...changesOfClients(before, after), ...changesBetween(before.config, after.config)]
    return answer(await this.changes.end(after, 'provider.config_set', changes, call))
  }

  /**
   * Removes the clients and closes the provider. The settings of `phone` stay. The credential that the query names goes too, unless
   * the settings of mail or of `phone` still name it (contract 9.3).
   */
  @Delete(':name/config')
  async clear(
    @Param('name') given: string,
    @Query('credential') credential: string | undefined,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<ShownProvider & { credential?: Removal }>> {
    const name = requireProvider(given)
    if (credential !== undefined) requireRecordName(credential)
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin(name, call)
    const none = { browser_clients: [], native_clients: [] }
    const config = hasClients(name) ? {} : before.config
    const after: Provider = { ...before, ...none, config, enabled: false }
    const removal = credential === undefined ? undefined : removalOf(after, credential)
    const changes = [
      ...changesBetween({ enabled: before.enabled }, { enabled: false }),
      ...changesOfClients(before, none),
      ...changesBetween(before.config, config),
    ]
    if (removal?.outcome === 'removed') {
      await this.providers.removeCredential(name, removal.name)
      after.credentials = before.credentials.filter((one) => one.name !== removal.name)
      changes.push({ path: `credentials.${removal.name}`, from: '***', to: null })
    }
    if (changes.length === 0) return answer(before, { credential: removal })
    await this.providers.replaceClients(name, none)
    const details = removal ? { credential: removal } : {}
    const cleared = await this.changes.end(after, 'provider.config_cleared', changes, call, details)
    return answer(cleared, { credential: removal })
  }
}

/** The end of a credential whose provider is cleared. */
interface Removal {
  name: string
  outcome: 'removed' | 'kept' | 'absent'
  referenced_by: string[]
}

function removalOf(provider: Provider, name: string): Removal {
  const isThere = provider.credentials.some((credential) => credential.name === name)
  const referenced_by = referencesTo(provider, name)
  return { name, outcome: !isThere ? 'absent' : referenced_by.length > 0 ? 'kept' : 'removed', referenced_by }
}

function answer(provider: Provider): JsonResponse<ShownProvider>
function answer<T extends object>(provider: Provider, others: T): JsonResponse<ShownProvider & T>
function answer(provider: Provider, others: object = {}): JsonResponse<ShownProvider> {
  const headers = { etag: etagOf(provider), 'cache-control': 'no-store' }
  return jsonResponse({ ...shown(provider), ...others }, { headers })
}
