import { Body, Controller, Get, Header, OptionalUser, Put, Req, RequestId, type UserT } from '@stack/backend'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { objectBody, requireFaultless, requireStrict } from '../shared/strict.ts'
import { changesBetween, ProviderChanges } from './changes.ts'
import { type PhoneSettings, phoneSettings, readPhoneSettings } from './phone-settings.ts'
import { type Provider, Providers } from './rows.ts'
import { etagOf } from './shown.ts'

const document = objectBody<Partial<PhoneSettings>>('invalid_provider_config')

/** The settings of sign-in with a phone number: read and replaced whole. They have the entity tag of their provider. */
@Controller('/v1/management/auth/providers/phone/settings', { auth: { serviceRole: true } })
export class PhoneSettingsController {
  constructor(
    private readonly changes: ProviderChanges,
    private readonly providers: Providers,
  ) {}

  /** Fields that are not stored have their defaults, and `driver` has none. */
  @Get()
  async readPhoneSettings(): Promise<JsonResponse<PhoneSettings>> {
    return answer(await this.providers.read('phone'))
  }

  /** A field that is left out has its default from then on. */
  @Put()
  async replacePhoneSettings(
    @Body(document) body: Partial<PhoneSettings>,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<PhoneSettings>> {
    await requireStrict(request, 'invalid_provider_config')
    const { settings, faults } = readPhoneSettings(body)
    requireFaultless(faults, 'invalid_provider_config')
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin('phone', call)
    const changes = changesBetween(before.config, settings)
    return answer(await this.changes.end({ ...before, config: { ...settings } }, 'provider.config_set', changes, call))
  }
}

function answer(provider: Provider): JsonResponse<PhoneSettings> {
  const headers = { etag: etagOf(provider), 'cache-control': 'no-store' }
  return jsonResponse(phoneSettings(provider.config), { headers })
}
