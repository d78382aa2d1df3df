/** The key set that signs the tokens: usable keys among entries that are no P-256 key for verifying ES256. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { bytesOf, encode, type Json, jwkOf, p, withoutKid } from './base.ts'
import type { Keys } from './keys.ts'

/** Key ids that look like an attack. The worker must treat them as any other id. */
export const strangeKids = [
  '../../../../etc/passwd',
  "' or ''='",
  'constructor.prototype',
  'ü😀',
  'a b',
  'k'.repeat(500),
]

/** Keys by id whose entry in the set allows another use only. No signature of theirs makes a token genuine. */
export const otherUseKeys = new Map(
  [
    ...['use-enc', 'use-in-upper-case', 'use-null', 'use-list', 'alg-es384', 'alg-ecdh', 'alg-hs256'],
    ...['alg-in-lower-case', 'alg-null', 'derives', 'signs', 'does-nothing'],
  ].map((kid) => [kid, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey]),
)

/** @returns the private key of an entry: its own one, or that of the issuer. */
export const ownerOf = (kid: string, { key }: Keys): KeyObject => otherUseKeys.get(kid) ?? key

/** Entries that the worker must ignore (contract 3.2). */
export function unusableEntries(keys: Keys): unknown[] {
  const { owner, rsa, ed25519, p384, p521, secp256k1, secret } = keys
  const { x, y } = owner.jwk as { x: string; y: string }
  const own = { kty: 'EC', crv: 'P-256', x, y }
  const flipped = Buffer.from(y, 'base64url')
  flipped[31]! ^= 1
  const forOtherUse = (kid: string, more: Json) => ({ ...jwkOf(createPublicKey(ownerOf(kid, keys))), kid, ...more })
  return [
    null,
    1,
    'text',
    true,
    [],
    [null],
    {},
    { kid: 'empty' },
    { ...jwkOf(rsa.publicKey), kid: 'rsa', alg: 'RS256', use: 'sig' },
    { ...jwkOf(rsa.publicKey), kid: 'rsa-es256', alg: 'ES256' },
    { kty: 'oct', k: encode(secret), kid: 'oct', alg: 'HS256' },
    { kty: 'oct', k: encode(secret), kid: 'oct-es256', alg: 'ES256' },
    { ...jwkOf(ed25519.publicKey), kid: 'ed25519' },
    { ...jwkOf(p384.publicKey), kid: 'p384' },
    { ...jwkOf(p384.publicKey), kid: 'p384-as-p256', crv: 'P-256' },
    { ...jwkOf(p521.publicKey), kid: 'p521' },
    { ...jwkOf(secp256k1.publicKey), kid: 'secp256k1' },
    { ...jwkOf(secp256k1.publicKey), kid: 'secp256k1-as-p256', crv: 'P-256' },
    { ...own, kid: 'no-kty', kty: undefined },
    { ...own, kid: 'kty-in-lower-case', kty: 'ec' },
    { ...own, kid: 'kty-in-a-list', kty: ['EC'] },
    { ...own, kid: 'no-crv', crv: undefined },
    { ...own, kid: 'crv-in-lower-case', crv: 'p-256' },
    { ...own, kid: 'crv-p384', crv: 'P-384' },
    { ...own, kid: 'crv-prime256v1', crv: 'prime256v1' },
    { ...own, kid: 'no-x', x: undefined },
    { ...own, kid: 'no-y', y: undefined },
    { ...own, kid: 'x-null', x: null },
    { ...own, kid: 'x-number', x: 1 },
    { ...own, kid: 'x-list', x: [x] },
    { ...own, kid: 'x-empty', x: '' },
    { ...own, kid: 'x-short', x: encode(Buffer.from(x, 'base64url').subarray(0, 31)) },
    { ...own, kid: 'x-and-y-swapped', x: y, y: x },
    { ...own, kid: 'origin', x: encode(Buffer.alloc(32)), y: encode(Buffer.alloc(32)) },
    { ...own, kid: 'off-the-curve', y: encode(flipped) },
    { ...own, kid: 'x-of-p', x: encode(bytesOf(p)) },
    forOtherUse('use-enc', { use: 'enc' }),
    forOtherUse('use-in-upper-case', { use: 'SIG' }),
    forOtherUse('use-null', { use: null }),
    forOtherUse('use-list', { use: ['sig'] }),
    forOtherUse('alg-es384', { alg: 'ES384' }),
    forOtherUse('alg-ecdh', { alg: 'ECDH-ES' }),
    forOtherUse('alg-hs256', { alg: 'HS256' }),
    forOtherUse('alg-in-lower-case', { alg: 'es256' }),
    forOtherUse('alg-null', { alg: null }),
    forOtherUse('derives', { key_ops: ['deriveKey', 'deriveBits'] }),
    forOtherUse('signs', { key_ops: ['sign'] }),
    forOtherUse('does-nothing', { key_ops: [] }),
  ]
}

/** @returns the body of the key set's address. */
export function keySetOf(keys: Keys, issuer: string): string {
  const { owner, key, second, bare, firstOfKid, secondOfKid } = keys
  const { x, y } = owner.jwk as { x: string; y: string }
  const own = { kty: 'EC', crv: 'P-256', x, y }
  const again = (kid: unknown, more: Json = {}) => ({ ...own, kid, ...more })
  return JSON.stringify({
    issuer,
    keys: [
      ...unusableEntries(keys),
      owner.jwk,
      second.jwk,
      withoutKid({ ...bare.jwk }),
      firstOfKid.jwk,
      secondOfKid.jwk,
      again(7),
      again('after-broken', { x: 'AAAA' }),
      again('after-broken'),
      again('bare-members'),
      again('private', { d: jwkOf(key).d, key_ops: undefined }),
      again('use-sig', { use: 'sig' }),
      again('alg-es256', { alg: 'ES256' }),
      again('verifies', { key_ops: ['verify'], ext: true }),
      again('more-members', { x5c: 'no list', x5t: 1, nbf: 'x', keys: [] }),
      ...strangeKids.map((kid) => again(kid)),
    ],
  })
}
