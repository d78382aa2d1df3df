/** Access tokens (contract 3.1, 3.4, 9.10) and refresh tokens. */
import { Injectable, Secrets } from '@stack/backend'
import { SignJWT } from 'jose'
import { SigningKeys } from '../keys/rows.ts'
import { authenticate } from '../shared/seal.ts'
import type { User } from '../users/rows.ts'
import type { Session } from './rows.ts'

const accessTokenSeconds = 900
const version = 1
const macBytes = 16

/** What a sign-in and a refresh answer. */
export interface TokenAnswer {
  access_token: string
  token_type: 'bearer'
  /** Seconds. */
  expires_in: number
  refresh_token: string
  user: { id: string; email: string; email_verified: boolean; created_at: string }
}

@Injectable()
export class Tokens {
  constructor(private readonly keys: SigningKeys) {}

  async issue(user: User, session: Session): Promise<TokenAnswer> {
    const isVerified = user.email_confirmed_at !== null
    const { kid, key } = await this.keys.active()
    const custom = Object.keys(user.custom_claims).length > 0 ? { custom_claims: user.custom_claims } : {}
    const access_token = await new SignJWT({
      ...custom,
      email: user.email,
      email_verified: isVerified,
      role: 'authenticated',
      ...(user.is_operator ? { management: true } : {}),
      session_id: session.id,
      auth_time: Math.floor(session.auth_time.getTime() / 1000),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .setSubject(user.id)
      .setIssuer(`${Secrets.get('STACK_URL').replace(/\/+$/, '')}/auth`)
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
      user: { id: user.id, email: user.email, email_verified: isVerified, created_at: user.created_at.toISOString() },
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
  const text = btoa(String.fromCharCode(...head, ...mac, ...session))
  return `rt_${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
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
  const mac = await authenticate('refresh tokens', new Uint8Array([...head, ...session]))
  return mac.slice(0, macBytes)
}
