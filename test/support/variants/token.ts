/** Variants for LiveKit: the proof is a JSON Web Token with the hash of the body. */
import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { claimsOf, encode, tokenText } from '../schemes.ts'
import { type Base, bytesOf, type Delivery, type SchemeVariants, type Variant, withHeader } from './base.ts'

/** Violations of RFC 7515, and known faults of its implementations. */
function hostile(base: Base): Variant[] {
  const { claim, scheme } = base
  const { body, secret } = claim
  const now = Number(claim.timestamp)
  const right = claimsOf(body, now)
  const text = (value: string): Delivery => withHeader(base, 'authorization', value)
  const made = (claims: object, header?: object, hash = 'sha256', key: string | Buffer = secret) => {
    const covered = tokenText(claims, header)
    return `${covered}.${createHmac(hash, key).update(covered).digest('base64url')}`
  }
  const unsigned = (header: object) => `${tokenText(right, header)}.`
  const whole = made(right)
  const [head, payload, signature] = whole.split('.') as [string, string, string]
  const { sha256: _, ...hashless } = right
  const { exp: __, ...endless } = right
  const { nbf: ___, ...unbegun } = right
  const sha = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest()
  const hash = sha('sha256', body)
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rsaText = tokenText(right, { alg: 'RS256' })
  return [
    ['alg none', text(unsigned({ alg: 'none' }))],
    ['alg None', text(unsigned({ alg: 'None' }))],
    ['alg none, with a signature', text(`${tokenText(right, { alg: 'none' })}.${signature}`)],
    ['alg none, signed', text(made(right, { alg: 'none' }))],
    ['alg HS512', text(made(right, { alg: 'HS512' }, 'sha512'))],
    ['alg HS384', text(made(right, { alg: 'HS384' }, 'sha384'))],
    ['alg HS512, signed as HS256', text(made(right, { alg: 'HS512' }))],
    ['alg hs256', text(made(right, { alg: 'hs256' }))],
    ['alg RS256', text(`${rsaText}.${createSign('sha256').update(rsaText).sign(rsa, 'base64url')}`)],
    ['alg RS256, signed as HS256', text(made(right, { alg: 'RS256' }))],
    ['no alg', text(made(right, { typ: 'JWT' }))],
    ['a list of algs', text(made(right, { alg: ['HS256'] }))],
    ['a key of its own', text(made(right, { alg: 'HS256', jwk: { kty: 'oct', k: 'b3RoZXI' } }, 'sha256', 'other'))],
    ['crit', text(made(right, { alg: 'HS256', crit: ['exp'] }))],
    ['crit of an unknown name', text(made(right, { alg: 'HS256', crit: ['x'], x: 1 }))],
    ['an unencoded payload', text(made(right, { alg: 'HS256', b64: false, crit: ['b64'] }))],
    ['a header that is no object', text(made(right, ['HS256']))],
    ['the hash of another body', text(made({ ...right, sha256: sha('sha256', bytesOf('x')).toString('base64') }))],
    ['the hash in hex', text(made({ ...right, sha256: hash.toString('hex') }))],
    ['the hash in base64url', text(made({ ...right, sha256: hash.toString('base64url') }))],
    ['a SHA-512 as the hash', text(made({ ...right, sha256: sha('sha512', body).toString('base64') }))],
    ['half of the hash', text(made({ ...right, sha256: hash.toString('base64').slice(0, 22) }))],
    ['an empty hash', text(made({ ...right, sha256: '' }))],
    ['a list of hashes', text(made({ ...right, sha256: [right.sha256] }))],
    ['no hash', text(made(hashless))],
    ['null for the hash', text(made({ ...right, sha256: null }))],
    ['expired', text(made({ ...right, exp: now - 60 }))],
    ['expired long ago', text(made({ ...right, exp: 1 }))],
    ['not yet valid', text(made({ ...right, nbf: now + 600, exp: now + 900 }))],
    ['begun 301 seconds ago, with hours to go', text(made({ ...right, nbf: now - 301, exp: now + 9_000 }))],
    ['issued 301 seconds ago, with hours to go', text(made({ ...unbegun, iat: now - 301, exp: now + 9_000 }))],
    ['hours to go, and no beginning', text(made({ ...unbegun, exp: now + 9_000 }))],
    // The SDK requires an expiry too.
    ['no expiry', text(made(endless))],
    ['an expiry in words', text(made({ ...right, exp: String(right.exp) }))],
    ['null for the expiry', text(made({ ...right, exp: null }))],
    ['claims that are no object', text(made([right]))],
    ['an extra part', text(`${whole}.${signature}`)],
    ['an extra dot', text(`${whole}.`)],
    ['a dot before', text(`.${whole}`)],
    ['two parts', text(`${head}.${payload}`)],
    ['no header part', text(`.${payload}.${signature}`)],
    ['padding', text(`${whole}=`)],
    ['padding in its claims', text(`${head}.${payload}=.${signature}`)],
    ['claims of another token', text(`${head}.${made({ ...right, exp: now + 9_000 }).split('.')[1]}.${signature}`)],
    ['signed with another secret', text(made(right, undefined, 'sha256', base.sender.otherSecret))],
    ['signed with an empty secret', text(made(right, undefined, 'sha256', ''))],
    ['Bearer before it', text(`Bearer ${whole}`)],
    ['JSON instead of a token', text(JSON.stringify({ header: { alg: 'HS256' }, payload: right }))],
    ['a hash of the body as a token', text(encode(scheme.sign(body, secret), 'hex'))],
  ]
}

function legitimate(base: Base): Variant[] {
  const { scheme, claim } = base
  const { body, timestamp, secret } = claim
  const text = (claims: object, joseHeader?: object) => {
    const covered = tokenText(claims, joseHeader)
    return withHeader(
      base,
      'authorization',
      `${covered}.${encode(scheme.sign(Buffer.from(covered), secret), 'base64url')}`,
    )
  }
  const right = claimsOf(body, Number(timestamp))
  const { nbf: _, ...unbound } = right
  return [
    ['a type in its header', text(right, { alg: 'HS256', typ: 'JWT' })],
    ['a type before the algorithm', text(right, { typ: 'JWT', alg: 'HS256' })],
    ['no beginning', text(unbound)],
    ['other claims', text({ ...right, sub: 'x', video: { room: 'r' }, name: 'Zażółć' })],
    ['begun a minute ago', text({ ...right, nbf: right.nbf - 60 })],
    ['issued now', text({ ...right, iat: right.nbf })],
  ]
}

export const tokenVariants: SchemeVariants = { hostile, legitimate }
