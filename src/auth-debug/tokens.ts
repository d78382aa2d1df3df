import { Injectable } from '@stack/backend'
import { isLocalStack } from '../auth/sessions/local.ts'
import { base64url, randomText } from '../auth/shared/base64url.ts'
import { inRequest, type Sql } from '../auth/shared/sql.ts'

/** Random bytes of a token: it cannot be guessed. */
const tokenBytes = 32

/** Tokens with which a pipeline enrols debug devices in a stack that is not local. The database has their digests alone. */
@Injectable()
export class DebugTokens {
  async issue(label: string, days: number): Promise<{ id: string; token: string; expires_at: Date }> {
    const token = `ddt_${randomText(tokenBytes)}`
    const [row] = await inRequest<{ id: string; expires_at: Date }>`
      insert into auth.debug_device_tokens (id, digest, label, expires_at)
      values (${`ddi_${randomText(12)}`}, ${await digestOf(token)}, ${label}, now() + make_interval(days => ${days}))
      returning id, expires_at`
    await inRequest`delete from auth.debug_device_tokens where expires_at < now()`
    return { ...row!, token }
  }

  /** @returns whether there was such a token. */
  async remove(id: string): Promise<boolean> {
    const rows = await inRequest`delete from auth.debug_device_tokens where id = ${id} returning id`
    return rows.length > 0
  }

  async isGood(token: string | undefined, sql: Sql): Promise<boolean> {
    if (isLocalStack()) return true // `stack start` serves this machine alone
    if (token === undefined) return false
    const rows = await sql`
      select from auth.debug_device_tokens where digest = ${await digestOf(token)} and expires_at > now()`
    return rows.length > 0
  }
}

async function digestOf(token: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))))
}
