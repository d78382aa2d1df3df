/** A JWT (RFC 7519) in a header, signed with HS256, whose claim `sha256` is the body's hash. */
import type { TokenProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, fromBase64Url, isSame, parseJson } from '../../bytes.ts'
import { type Arrival, type Claim, type Fault, fault, verified } from '../claim.ts'
import { utf8 } from '../signed.ts'
import { timeFault } from '../window.ts'

/** Longest token in characters: the providers' tokens have a few hundred. */
const longestToken = 8192
/** Lifetime in seconds of the providers' tokens. A token with `exp` alone was issued so long before it. */
const lifeSeconds = 300

export function readToken({ header: name }: TokenProof, { headers, now }: Arrival): Claim | Fault {
  const token = headers.get(name)?.trim()
  if (!token) return fault('missing_header', `the header ${name} is missing`)
  if (token.length > longestToken)
    return fault('bad_encoding', `the header ${name} is longer than ${longestToken} characters`)
  const [head = '', payload = '', tail = '', ...others] = token.split('.')
  const header = recordIn(head)
  const claims = recordIn(payload)
  const signature = fromBase64Url(tail)
  if (!header || !claims || others.length > 0) return fault('bad_encoding', `the header ${name} holds no JWT`)
  if (header['alg'] !== 'HS256' || 'crit' in header) {
    return fault('unsupported_scheme', 'the JWT is not signed by HS256 alone')
  }
  if (signature?.length !== 32) return fault('bad_encoding', 'the signature of the JWT is not 32 bytes in base64url')
  const untimely = timesFault(claims, now)
  if (untimely?.reason === 'bad_encoding') return untimely
  const stated = claims['sha256']
  const hash = typeof stated === 'string' ? fromBase64(stated) : undefined
  if (hash?.length !== 32) return fault('bad_encoding', 'the claim sha256 of the JWT is not 32 bytes in base64')
  const signed = utf8(`${head}.${payload}`)
  const claim: Claim = {
    signed: (body) => new Uint8Array(body),
    async holds(key, body) {
      if (!(await verified('HMAC', key, signature, signed))) return false
      const own = new Uint8Array(await crypto.subtle.digest('SHA-256', body))
      return isSame(own, hash)
    },
  }
  return untimely ? { ...untimely, claim } : claim
}

function timesFault({ nbf, iat, exp }: Record<string, unknown>, now: number): Fault | undefined {
  const isTime = (value: unknown) => value === undefined || (typeof value === 'number' && Number.isFinite(value))
  if (![nbf, iat, exp].every(isTime)) return fault('bad_encoding', 'a time of the JWT is not a number')
  if (typeof exp !== 'number') return fault('bad_encoding', 'the JWT has no expiry')
  if (Math.floor(now) > exp) return fault('stale_timestamp', `the JWT expired ${Math.floor(now) - exp} s ago`)
  return timeFault((nbf ?? iat ?? exp - lifeSeconds) as number, now)
}

function recordIn(part: string): Record<string, unknown> | undefined {
  const bytes = fromBase64Url(part)
  const value = bytes && parseJson(bytes)?.value
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
