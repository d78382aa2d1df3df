import { Controller, Get, Header, HttpError, OptionalUser, Put, Req, type UserT } from '@stack/backend'
import { readSettings } from '../wire/settings.ts'
import { authError, bodyOf } from './answers.ts'
import { requireServiceRole } from './management-gate.ts'
import { SettingsRows, type StoredSettings } from './settings.rows.ts'

/** The settings document: read whole, replaced whole (contract 9.2, 9.8). */
@Controller('/v1/management/auth/settings', { auth: false })
export class SettingsController {
  constructor(private readonly rows: SettingsRows) {}

  @Get()
  async read(@Req() request: Request, @OptionalUser() user: UserT | null): Promise<Response> {
    await requireServiceRole(request, user)
    const stored = await this.rows.read()
    return answer(stored, stored.document)
  }

  /** A field left out is erased; a field that nobody reads is named in the answer. */
  @Put()
  async replace(
    @Req() request: Request,
    @OptionalUser() user: UserT | null,
    @Header('if-match') ifMatch: string | undefined,
  ): Promise<Response> {
    await requireServiceRole(request, user)
    const { settings, ignored, errors } = readSettings(await bodyOf(request))
    if (errors.length > 0) throw authError('invalid_settings', errors[0]!.reason, { fields: errors })
    const current = etagOf(await this.rows.lock())
    if (ifMatch !== undefined && ifMatch !== '*' && ifMatch.trim() !== current) {
      throw new HttpError(412, 'precondition_failed', 'the settings were changed meanwhile', {
        body: { etag: current },
        headers: { etag: current },
      })
    }
    const stored = await this.rows.replace(settings)
    return answer(stored, { ...stored.document, ignored_fields: ignored })
  }
}

function etagOf({ revision }: StoredSettings): string {
  return `"${revision}"`
}

function answer(stored: StoredSettings, body: object): Response {
  return Response.json(body, { headers: { etag: etagOf(stored), 'cache-control': 'no-store' } })
}
