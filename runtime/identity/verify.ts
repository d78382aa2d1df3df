/**
 * Checks whether an access token is genuine and current (contract 3.1, RFC 7519, RFC 8725). Claims are checked before the
 * signature, because that is cheaper. The caller sees the same answer for every failure.
 */
import { fromBase64Url, parseJson } from '../bytes.ts'
import { isStorable } from '../storable.ts'
import type { Key } from './keys.ts'

const encoder = new TextEncoder()
/** Largest number of seconds that `nbf` and `iat` may lie ahead: the clocks of issuer and worker differ (contract 3.1). */
const skewSeconds = 5
/** Length of an ES256 signature in bytes (RFC 7518 section 3.4). */
const signatureBytes = 64

export type Claims = Record<string, unknown> & { sub: string; exp: number }

export interface Expected {
  issuer?: string | undefined
  audience?: string | undefined
  /** The stack's own issuer. Its tokens must name a session. */
  ownIssuer?: string | undefined
  /** Unix time in seconds. */
  now: number
}

/** A token whose signature is not verified yet. */
export interface Candidate {
  claims: Claims
  kid: string | undefined
  signature: Uint8Array<ArrayBuffer>
  signed: Uint8Array
}

/** @param token three base64url parts. @returns the reason as text when the token is invalid. */
export function readToken(token: string, expected: Expected): Candidate | string {
  const [head, body, seal] = token.split('.') as [string, string, string]
  const header = headerOf(head)
  if (typeof header === 'string') return header
  const claims = readPart(body)
  if (!claims) return 'malformed_claims'
  const fault = claimsFault(claims.value, expected)
  if (fault) return fault
  // JSON in UTF-8 can hold such a character only as an escape
  if (claims.hasEscapes && !areStorable(claims.value)) return 'unstorable_claims'
  const signature = fromBase64Url(seal)
  if (signature?.length !== signatureBytes) return 'malformed_signature'
  return { claims: claims.value as Claims, kid: header.kid, signature, signed: encoder.encode(`${head}.${body}`) }
}

/** Parsed JOSE headers. All tokens of an issuer's key have the same header, and it does not name a user. */
const headers = new Map<string, Header | string>()
/** Largest number of headers that are kept, because forged tokens may have any. An issuer has one for each of its few keys. */
const mostHeaders = 16

interface Header {
  kid: string | undefined
}

/** @returns the reason as text when the header is invalid. */
function headerOf(part: string): Header | string {
  const known = headers.get(part)
  if (known !== undefined) return known
  const header = readHeader(part)
  if (headers.size >= mostHeaders) headers.clear()
  headers.set(part, header)
  return header
}

function readHeader(part: string): Header | string {
  const header = readPart(part)?.value
  if (!header) return 'malformed_header'
  if (header['alg'] !== 'ES256') return 'wrong_algorithm'
  if (header['crit'] !== undefined || header['b64'] !== undefined) return 'critical_header'
  const { typ, kid } = header
  if (typ !== undefined && !(typeof typ === 'string' && /^(?:application\/)?(?:at\+)?jwt$/i.test(typ)))
    return 'wrong_type'
  if (kid !== undefined && typeof kid !== 'string') return 'malformed_header'
  return { kid }
}

/** @returns whether one of the keys made the signature. */
export async function isSignedBy(keys: readonly Key[], { signature, signed }: Candidate): Promise<boolean> {
  for (const { key } of keys) {
    if (await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, signed)) return true
  }
  return false
}

function readPart(part: string): { value: Record<string, unknown>; hasEscapes: boolean } | undefined {
  const bytes = fromBase64Url(part)
  const json = bytes && parseJson(bytes)
  if (typeof json?.value !== 'object' || json.value === null || Array.isArray(json.value)) return undefined
  return { value: json.value as Record<string, unknown>, hasEscapes: json.text.includes('\\u') }
}

/** @returns the reason why the claims are invalid, if they are. */
function claimsFault(
  claims: Record<string, unknown>,
  { issuer, audience, ownIssuer, now }: Expected,
): string | undefined {
  const { exp, nbf, iat, iss, aud, sub } = claims
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return 'missing_exp'
  if (exp <= now) return 'expired'
  if (typeof sub !== 'string' || sub === '') return 'missing_sub'
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + skewSeconds)) return 'not_yet_valid'
  if (iat !== undefined && !(typeof iat === 'number' && iat <= now + skewSeconds)) return 'issued_in_the_future'
  if (issuer !== undefined && iss !== issuer) return 'wrong_issuer'
  if (audience !== undefined && aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
    return 'wrong_audience'
  const session = claims['session_id']
  if (ownIssuer !== undefined && iss === ownIssuer && (typeof session !== 'string' || session === ''))
    return 'missing_session'
  return undefined
}

/** Postgres can hold neither NUL nor half of a surrogate pair. With such claims the transaction could not begin. */
function areStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isStorable(key) && areStorable(inner))
}
