/** Access tokens (contract 3.1, 3.4, 9.10) and refresh tokens. */
import { Database, Injectable, Log, Secrets } from '@stack/backend'
import { SignJWT } from 'jose'
import { SigningKeys } from '../keys/rows.ts'
import { base64url } from '../shared/base64url.ts'
import { authError } from '../shared/errors.ts'
import { authenticate } from '../shared/seal.ts'
import { baseUrl } from '../shared/urls.ts'
import { type ShownUser, shown, type User } from '../users/rows.ts'
import type { Session } from './rows.ts'

/** Seconds that an access token is valid: what it claims may be as old as this, so it is short. */
const accessTokenSeconds = 900
/** Milliseconds that the project's token hook may take (contract 3.8): a sign-in waits for it. */
const hookMs = 2_000
/** Bytes of JSON that the project's token hook may give (contract 3.8): each request carries them. */
const longestClaims = 4_096
const version = 1
/** Bytes of the HMAC in a refresh token: 128 bits cannot be guessed. */
const macBytes = 16

/** The answer of a sign-in and of a refresh (RFC 6749 section 5.1, with the user). */
export interface TokenAnswer {
  access_token: string
  token_type: 'bearer'
  /** Seconds. */
  expires_in: number
  refresh_token: string
  user: ShownUser
}

@Injectable()
export class Tokens {
  constructor(private readonly keys: SigningKeys) {}

  async issue(user: User, session: Session): Promise<TokenAnswer> {
    const { kid, key, hasClaimsHook } = await this.keys.active()
    const claims = hasClaimsHook ? await this.claimsOfHook(user.id) : user.custom_claims
    const custom = Object.keys(claims).length > 0 ? { custom_claims: claims } : {}
    const access_token = await new SignJWT({
      ...custom,
      ...(user.email === null ? {} : { email: user.email }),
      email_verified: user.email_confirmed_at !== null,
      role: user.is_anonymous ? 'anon' : 'authenticated',
      ...(user.is_operator ? { management: true } : {}),
      session_id: session.id,
      aal: session.aal,
      amr: session.amr,
      auth_time: Math.floor(session.auth_time.getTime() / 1000),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .setSubject(user.id)
      .setIssuer(`${baseUrl()}/auth`)
      .setAudience(Secrets.get('AUTH_AUDIENCE'))
      .setIssuedAt()
      .setExpirationTime(`${accessTokenSeconds} s`)
      .setJti(crypto.randomUUID())
      .sign(key)
    return {
      access_token,
      token_type: 'bearer',
      expires_in: accessTokenSeconds,
      refresh_token: await sealRefreshToken(session),
      user: shown(user),
    }
  }

  /**
   * The project's function `public.token_claims` decides them where it exists (contract 3.8).
   * @throws HttpError 500 `hook_failed` for a function that raises, takes over 2 s, or gives anything but a small object.
   */
  private async claimsOfHook(id: string): Promise<Record<string, unknown>> {
    const { sql } = Database.$asService()
    try {
      await sql`select set_config('statement_timeout', ${String(hookMs)}, true)`
      const [row] = await sql<{ claims: unknown; bytes: number }>`
        select claims, octet_length(claims::text) as bytes from public.token_claims(${id}) as claims`
      const { claims, bytes } = row!
      if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) throw new Error('it gave no object')
      if (bytes > longestClaims) throw new Error(`its object has ${bytes} bytes, and ${longestClaims} are the most`)
      return claims as Record<string, unknown>
    } catch (error) {
      Log.error('public.token_claims failed: no token is issued', { user_id: id, error })
      throw authError('hook_failed')
    }
  }
}

/**
 * `rt_` and base64url of: version, generation (32 bits), HMAC (128 bits), session id. The key is derived from a secret
 * outside the database: a dump of its rows mints no token, and a forged one dies before any query.
 */
async function sealRefreshToken({ id, refresh_generation }: Session): Promise<string> {
  const head = headOf(refresh_generation)
  const session = new TextEncoder().encode(id)
  const mac = await macOf(head, session)
  return `rt_${base64url(new Uint8Array([...head, ...mac, ...session]))}`
}

/** @returns `undefined` for anything that was not made here. */
export async function openRefreshToken(token: string): Promise<{ sessionId: string; generation: number } | undefined> {
  if (!/^rt_[A-Za-z0-9_-]{30,200}$/.test(token)) return undefined
  let bytes: Uint8Array
  try {
    const text = atob(token.slice(3).replaceAll('-', '+').replaceAll('_', '/'))
    bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
  const head = bytes.slice(0, 5)
  const mac = bytes.slice(5, 5 + macBytes)
  const session = bytes.slice(5 + macBytes)
  if (head[0] !== version || mac.length !== macBytes) return undefined
  if (!crypto.subtle.timingSafeEqual(mac, await macOf(head, session))) return undefined
  return { sessionId: new TextDecoder().decode(session), generation: new DataView(head.buffer).getUint32(1) }
}

function headOf(generation: number): Uint8Array {
  const head = new Uint8Array(5)
  head[0] = version
  new DataView(head.buffer).setUint32(1, generation)
  return head
}

async function macOf(head: Uint8Array, session: Uint8Array): Promise<Uint8Array> {
  const mac = await authenticate('REFRESH_KEY', new Uint8Array([...head, ...session]))
  return mac.slice(0, macBytes)
}
