import { sign } from 'node:crypto'
import { ecdsa, encode, kid, part, type TokenClass } from './base.ts'
import { privateOf } from './keys.ts'
import type { TokenMaker } from './maker.ts'

export function signatures({
  claims,
  header,
  make,
  accept,
  refuse,
  head,
  body,
  signature,
  signingInput,
  keys: { key, second, strangerKey },
}: TokenMaker): TokenClass {
  const made = Buffer.from(signature, 'base64url')
  const of = (bytes: Uint8Array) => `${signingInput}.${encode(bytes)}`
  const zero = Buffer.alloc(1)
  const der = sign('sha256', Buffer.from(signingInput), key)
  const otherBody = part({ ...claims, sub: 'usr_2' })
  const otherHead = part({ ...header, typ: 'JWT' })
  const over = (text: string | Uint8Array, hash = 'sha256') =>
    of(sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }))
  const reversed = (bytes: Uint8Array) => Buffer.from(bytes).reverse()
  return {
    name: 'signatures',
    accepted: [accept('made again', of(ecdsa(signingInput, key))), accept('once more', of(ecdsa(signingInput, key)))],
    refused: [
      refuse('DER', of(der)),
      refuse('DER of 64 bytes', of(Buffer.concat([der, Buffer.alloc(64)]).subarray(0, 64))),
      refuse('63 bytes', of(made.subarray(1))),
      refuse('63 bytes, the last one gone', of(made.subarray(0, 63))),
      refuse('65 bytes, a zero first', of(Buffer.concat([zero, made]))),
      refuse('65 bytes, a zero last', of(Buffer.concat([made, zero]))),
      refuse('66 bytes, a zero before each', of(Buffer.concat([zero, made.subarray(0, 32), zero, made.subarray(32)]))),
      refuse('a half of it', of(made.subarray(0, 32))),
      refuse('one byte', of(zero)),
      refuse('96 bytes', of(Buffer.concat([made, made.subarray(0, 32)]))),
      refuse('it twice', of(Buffer.concat([made, made]))),
      refuse('132 bytes', of(Buffer.alloc(132))),
      refuse('4 KiB', of(Buffer.alloc(4096))),
      refuse('in hex', `${signingInput}.${made.toString('hex')}`),
      refuse('encoded twice', of(Buffer.from(signature))),
      refuse('its bytes from back to front', of(reversed(made))),
      refuse('little-endian numbers', of(Buffer.concat([reversed(made.subarray(0, 32)), reversed(made.subarray(32))]))),
      refuse('of another header', `${otherHead}.${body}.${signature}`),
      refuse('of another payload', `${head}.${otherBody}.${signature}`),
      refuse('of the same header in another order', `${part({ kid, alg: 'ES256' })}.${body}.${signature}`),
      refuse('of the payload alone', over(part(claims))),
      refuse('of the header alone', over(part(header))),
      refuse('of the JSON', over(`${JSON.stringify(header)}.${JSON.stringify(claims)}`)),
      refuse('of both parts without a dot', over(part(header) + part(claims))),
      refuse('of both parts and a newline', over(`${signingInput}\n`)),
      refuse('of both parts and a dot', over(`${signingInput}.`)),
      refuse('of both parts in UTF-16', over(Buffer.from(signingInput, 'utf16le'))),
      refuse('of nothing', over('')),
      refuse('with SHA-1', over(signingInput, 'sha1')),
      refuse('with SHA-384', over(signingInput, 'sha384')),
      refuse('with SHA-512', over(signingInput, 'sha512')),
      refuse('with SHA3-256', over(signingInput, 'sha3-256')),
      refuse('of a fresh key', make({}, {}, strangerKey)),
      refuse('of another key of the set', make({}, {}, privateOf(second))),
      refuse('of a fresh key, without a kid', make({ kid: undefined }, {}, strangerKey)),
      ...Array.from({ length: 64 }, (_, index) => {
        const flipped = Buffer.from(made)
        flipped[index]! ^= 1 << (index % 8)
        return refuse(`a bit of byte ${index} flipped`, of(flipped))
      }),
    ],
  }
}
