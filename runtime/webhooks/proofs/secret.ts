/** The secret itself in a header, compared in constant time. */
import type { SecretProof } from '../../../src/wire/webhook-schemes.ts'
import { isSame } from '../../bytes.ts'
import { type Arrival, type Claim, type Fault, fault } from '../claim.ts'
import { utf8 } from '../signed.ts'

/** Longest header in characters that is compared. A comparison costs two HMACs of the header: one under the secret, one under itself. */
const longestToken = 8192

const algorithm = { name: 'HMAC', hash: 'SHA-256' } as const

export function readSecret({ header: name }: SecretProof, { headers }: Arrival): Claim | Fault {
  const token = headers.get(name)?.trim()
  if (!token) return fault('missing_header', `the header ${name} is missing`)
  if (token.length > longestToken) {
    return fault('bad_encoding', `the header ${name} is longer than ${longestToken} characters`)
  }
  return {
    signed: (body) => body,
    // only a CryptoKey of the secret is available: both keys sign the token, and signatures have equal lengths
    async holds(key) {
      const bytes = utf8(token)
      const claimed = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
      const [own, other] = await Promise.all([key, claimed].map((one) => crypto.subtle.sign('HMAC', one, bytes)))
      return isSame(new Uint8Array(own!), new Uint8Array(other!))
    },
  }
}
