import { Body, Controller, Get, Header, OptionalUser, Put, Req, RequestId, type UserT } from '@stack/backend'
import { type ReadSettings, readSettings, type Settings } from '../../wire/settings.ts'
import { Audit, administering } from '../audit/rows.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { bodyOf } from '../shared/body.ts'
import { changesBetween } from '../shared/changes.ts'
import { requireMatch } from '../shared/precondition.ts'
import { SettingsRows, type StoredSettings } from './rows.ts'

const settingsDocument = bodyOf<Settings, ReadSettings>('invalid_settings', (body) => {
  const read = readSettings(body)
  return read.errors.length > 0 ? { fields: read.errors } : { value: read }
})

/** The settings document: read whole, replaced whole (contract 9.2, 9.8). */
@Controller('/v1/management/auth/settings', { auth: { serviceRole: true } })
export class SettingsController {
  constructor(
    private readonly audit: Audit,
    private readonly rows: SettingsRows,
  ) {}

  @Get()
  async read(): Promise<JsonResponse<Settings>> {
    const stored = await this.rows.read()
    return answer(stored, stored.document)
  }

  /** A field that is left out is erased. A field without a meaning is not stored, and the answer names it. */
  @Put()
  async replace(
    @Body(settingsDocument) { settings, ignored }: ReadSettings,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<Settings & { ignored_fields: string[] }>> {
    const before = await this.rows.lock()
    requireMatch(ifMatch, etagOf(before), 'the settings')
    const stored = await this.rows.replace(settings)
    const changes = changesBetween(before.document, settings)
    if (changes.length > 0) {
      await this.audit.record({
        event: 'settings.updated',
        ...administering(operator, request, requestId),
        target: { type: 'settings', id: 'settings' },
        changes,
      })
    }
    return answer(stored, { ...stored.document, ignored_fields: ignored })
  }
}

function etagOf({ revision }: StoredSettings): string {
  return `"${revision}"`
}

function answer<T extends Settings>(stored: StoredSettings, body: T): JsonResponse<T> {
  return jsonResponse(body, { headers: { etag: etagOf(stored), 'cache-control': 'no-store' } })
}
