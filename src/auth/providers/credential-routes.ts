import { Body, Controller, Delete, Header, OptionalUser, Param, Put, Req, RequestId, type UserT } from '@stack/backend'
import { readCredential } from '../../wire/provider-credentials.ts'
import type { ProviderName } from '../../wire/providers.ts'
import { type JsonResponse, jsonResponse } from '../shared/answer.ts'
import { authError } from '../shared/errors.ts'
import { objectBody, requireFaultless, requireStrict } from '../shared/strict.ts'
import { ProviderChanges, requireProvider, requireRecordName } from './changes.ts'
import { Credentials, type OpenCredential } from './credentials.ts'
import { requirePrivateKey } from './private-key.ts'
import { Providers } from './rows.ts'
import { etagOf, referencesTo, type ShownCredential, shownCredential } from './shown.ts'

/** Credentials of one provider: more would be names that nothing refers to. */
const mostCredentials = 100

const document = objectBody<{ provider: string } & OpenCredential>('invalid_provider_credential')

/** The secrets of the stack at providers: written and named here, and never part of an answer (contract 9.3). */
@Controller('/v1/management/auth/providers/:name/credentials', { auth: { serviceRole: true } })
export class ProviderCredentialsController {
  constructor(
    private readonly changes: ProviderChanges,
    private readonly credentials: Credentials,
    private readonly providers: Providers,
  ) {}

  /** Absolute: the credential is replaced whole. The next sign-in uses it. */
  @Put(':credential')
  async writeCredential(
    @Param('name') given: string,
    @Param('credential') credential: string,
    @Body(document) body: { provider: string } & OpenCredential,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<JsonResponse<{ provider: ProviderName } & ShownCredential>> {
    await requireStrict(request, 'invalid_provider_credential')
    const name = requireProvider(given)
    requireRecordName(credential)
    const { credential: read, faults } = readCredential(name, body)
    requireFaultless(faults, 'invalid_provider_credential')
    const secret =
      read.kind === 'signing_key' ? { ...read, private_key: await requirePrivateKey(read.private_key) } : read
    const { kind } = secret
    const fingerprint = await this.credentials.fingerprint(name, secret)
    const public_fields: Record<string, string> =
      secret.kind === 'signing_key' ? { team_id: secret.team_id, key_id: secret.key_id } : {}
    const sealed = await this.credentials.seal(name, credential, secret)
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin(name, call)
    const isNew = !before.credentials.some((one) => one.name === credential)
    if (isNew && before.credentials.length >= mostCredentials) throw authError('too_many_credentials')
    const told = { name: credential, kind, fingerprint, public_fields }
    const stored = await this.providers.putCredential(name, told, sealed)
    const changes = [{ path: `credentials.${credential}`, from: isNew ? null : '***', to: '***' }]
    const after = await this.changes.end(before, 'provider.credential_set', changes, call, { kind, fingerprint })
    const headers = { etag: etagOf(after), 'cache-control': 'no-store' }
    return jsonResponse({ provider: name, ...shownCredential(after, stored) }, { headers })
  }

  /** Removing a credential that is not there changes nothing. @throws HttpError 409 `credential_in_use` */
  @Delete(':credential')
  async removeCredential(
    @Param('name') given: string,
    @Param('credential') credential: string,
    @Header('if-match') ifMatch: string | undefined,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    const name = requireProvider(given)
    requireRecordName(credential)
    const call = { operator, request, requestId, ifMatch }
    const before = await this.changes.begin(name, call)
    if (!before.credentials.some((one) => one.name === credential)) return
    const referenced_by = referencesTo(before, credential)
    if (referenced_by.length > 0) {
      const reason = `the credential is in use by ${referenced_by.slice(0, 3).join(', ')}: name another one there first`
      throw authError('credential_in_use', reason, { body: { referenced_by } })
    }
    await this.providers.removeCredential(name, credential)
    const changes = [{ path: `credentials.${credential}`, from: '***', to: null }]
    await this.changes.end(before, 'provider.credential_removed', changes, call)
  }
}
