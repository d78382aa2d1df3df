import { Controller, Delete, Get, OptionalUser, Param, Put, Req, type UserT } from '@stack/backend'
import { longestSecret, longestVault, nameFormFault, secretNameFault } from '../wire/secrets.ts'
import { authError, bodyOf } from './answers.ts'
import { requireServiceRole } from './management-gate.ts'
import { seal } from './seal.ts'
import { placeOf } from './vault.mirror.ts'
import { VaultRows } from './vault.rows.ts'

/** In bytes: a value of 65,536 characters takes up to 393,216 as JSON with escapes (contract 2.11). */
const maxBodyBytes = 524_288

/** The environment's secrets: written and named here, read by the backend worker alone (contract 9.9). */
@Controller('/admin/vault/backend', { auth: false, maxBodyBytes })
export class VaultController {
  constructor(private readonly rows: VaultRows) {}

  @Get()
  async list(@Req() request: Request, @OptionalUser() user: UserT | null) {
    await requireServiceRole(request, user)
    return { data: await this.rows.list(), has_more: false, next_cursor: null }
  }

  /** Absolute: the value is replaced whole. */
  @Put(':name')
  async put(@Req() request: Request, @OptionalUser() user: UserT | null, @Param('name') name: string): Promise<void> {
    await requireServiceRole(request, user)
    requireName(secretNameFault(name))
    const value = valueIn(await bodyOf(request))
    const total = await this.rows.put(name, await seal(value, placeOf(name)))
    if (total > longestVault) throw authError('vault_full') // and nothing is kept of it
  }

  /** Removing what is not there changes nothing. */
  @Delete(':name')
  async remove(
    @Req() request: Request,
    @OptionalUser() user: UserT | null,
    @Param('name') name: string,
  ): Promise<void> {
    await requireServiceRole(request, user)
    requireName(nameFormFault(name))
    await this.rows.remove(name)
  }
}

function requireName(reason: string | undefined): void {
  if (reason) throw authError('invalid_secret', reason, { fields: [{ path: 'name', reason }] })
}

/** The body is `{ "value": "…" }`, and nothing else. */
function valueIn(body: unknown): string {
  const refused = (path: string, reason: string) => authError('invalid_secret', reason, { fields: [{ path, reason }] })
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw refused('body', 'the body must be { "value": "…" }')
  }
  const { value, ...others } = body as { value?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) throw refused(other, `"${other}" is no field of a secret: it has "value" alone`)
  if (typeof value !== 'string' || value === '') throw refused('value', 'the value must be a text that is not empty')
  if (value.length > longestSecret) throw refused('value', `the value may have ${longestSecret} characters`)
  if (value.includes('\0') || !value.isWellFormed()) {
    throw refused('value', 'the value holds a character that no environment variable can hold')
  }
  return value
}
