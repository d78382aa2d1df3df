import { Body, Controller, Delete, Get, OptionalUser, Param, Put, Req, RequestId, type UserT } from '@stack/backend'
import { longestSecret, longestVault, nameFormFault, secretNameFault } from '../../wire/secrets.ts'
import { Audit, administering } from '../audit/rows.ts'
import { bodyOf } from '../shared/body.ts'
import { authError } from '../shared/errors.ts'
import { type Listed, whole } from '../shared/list.ts'
import { seal } from '../shared/seal.ts'
import { placeOf } from './mirror.ts'
import { type VaultEntry, VaultRows } from './rows.ts'

/** Bytes: a value of 65,536 characters takes up to 393,216 as JSON with escapes (contract 2.11). */
const maxBodyBytes = 524_288

const secret = bodyOf<{ value: string }>('invalid_secret', (body) => {
  const refused = (path: string, reason: string) => ({ fields: [{ path, reason }] })
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refused('body', 'the body must be { "value": "…" }')
  }
  const { value, ...others } = body as { value?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) return refused(other, `"${other}" is no field of a secret: it has "value" alone`)
  if (typeof value !== 'string' || value === '') return refused('value', 'the value must be a text that is not empty')
  if (value.length > longestSecret) return refused('value', `the value may have ${longestSecret} characters`)
  return { value: { value } }
})

/** The environment's secrets: written and named here, read by the backend worker alone (contract 9.9). */
@Controller('/admin/vault/backend', { auth: { serviceRole: true }, maxBodyBytes })
export class VaultController {
  constructor(
    private readonly audit: Audit,
    private readonly rows: VaultRows,
  ) {}

  @Get()
  async list(): Promise<Listed<VaultEntry>> {
    return whole(await this.rows.list())
  }

  /** Absolute: the value is replaced whole. */
  @Put(':name')
  async put(
    @Param('name') name: string,
    @Body(secret) { value }: { value: string },
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    requireName(secretNameFault(name))
    const total = await this.rows.put(name, await seal(value, placeOf(name)))
    if (total > longestVault) throw authError('vault_full') // the transaction is rolled back
    await this.note('secret.set', name, administering(operator, request, requestId))
  }

  /** Removing a name that is not there changes nothing. */
  @Delete(':name')
  async remove(
    @Param('name') name: string,
    @OptionalUser() operator: UserT | null,
    @Req() request: Request,
    @RequestId() requestId: string,
  ): Promise<void> {
    requireName(nameFormFault(name))
    if (await this.rows.remove(name))
      await this.note('secret.removed', name, administering(operator, request, requestId))
  }

  /** The name alone: an entry never holds a value. */
  private note(
    event: 'secret.set' | 'secret.removed',
    name: string,
    by: ReturnType<typeof administering>,
  ): Promise<void> {
    return this.audit.record({ event, ...by, target: { type: 'secret', id: name } })
  }
}

/** @throws HttpError 400 `invalid_secret` where there is a reason. */
function requireName(reason: string | undefined): void {
  if (reason) throw authError('invalid_secret', reason, { fields: [{ path: 'name', reason }] })
}
