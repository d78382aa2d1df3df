import { constants, createHmac, sign } from 'node:crypto'
import { ecdsa, encode, type Json, part, type TokenClass } from './base.ts'
import { privateOf } from './keys.ts'
import type { TokenMaker } from './maker.ts'

/** Right signatures of other algorithms, by keys that are in the key set. */
export function foreignAlgorithms({
  make,
  accept,
  refuse,

  body,
  keys: { second, rsa, ed25519, p384, p521, secp256k1, secret },
}: TokenMaker): TokenClass {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  const makers: [string, string, (text: Buffer) => Buffer][] = [
    ...['256', '384', '512'].flatMap((bits): [string, string, (text: Buffer) => Buffer][] => [
      [`RS${bits}`, 'rsa', (text) => sign(`sha${bits}`, text, rsa.privateKey)],
      [`PS${bits}`, 'rsa', (text) => sign(`sha${bits}`, text, { key: rsa.privateKey, ...pss })],
      [`HS${bits}`, 'oct', (text) => createHmac(`sha${bits}`, secret).update(text).digest()],
    ]),
    ['EdDSA', 'ed25519', (text) => sign(null, text, ed25519.privateKey)],
    ['Ed25519', 'ed25519', (text) => sign(null, text, ed25519.privateKey)],
    ['ES384', 'p384', (text) => ecdsa(text.toString(), p384.privateKey, 'sha384')],
    ['ES512', 'p521', (text) => ecdsa(text.toString(), p521.privateKey, 'sha512')],
    ['ES256K', 'secp256k1', (text) => ecdsa(text.toString(), secp256k1.privateKey)],
  ]
  const signed = (head: Json, by: (text: Buffer) => Buffer) => {
    const text = `${part(head)}.${body}`
    return `${text}.${encode(by(Buffer.from(text)))}`
  }
  return {
    name: 'other algorithms, whose keys are in the set',
    accepted: [accept('ES256, whose key is beside them', make({ kid: 'key-2' }, {}, privateOf(second)))],
    refused: makers.flatMap(([alg, kid, by]) => [
      refuse(alg, signed({ alg, kid }, by)),
      refuse(`${alg}, as ES256`, signed({ alg: 'ES256', kid }, by)),
      refuse(`${alg}, as ES256 without a kid`, signed({ alg: 'ES256' }, by)),
      refuse(`${alg}, under the kid of another key`, signed({ alg, kid: 'key-1' }, by)),
    ]),
  }
}
