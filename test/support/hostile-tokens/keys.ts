/** The keys that sign the tokens: some belong to the key set, and some to strangers. */
import { generateKeyPairSync, KeyObject, randomBytes, type webcrypto } from 'node:crypto'
import { createIssuer, type Issuer } from '../tokens.ts'
import { kid } from './base.ts'

export const privateOf = ({ privateKey }: Issuer): KeyObject => KeyObject.from(privateKey as webcrypto.CryptoKey)

export interface Keys {
  /** Signs every genuine token. */
  owner: Issuer
  /** The private key of `owner`. */
  key: KeyObject
  second: Issuer
  /** Its entry in the key set has no `kid`. */
  bare: Issuer
  /** Shares its `kid` with `secondOfKid`. */
  firstOfKid: Issuer
  secondOfKid: Issuer
  /** The private key of a stranger's issuer: the key set does not have it. */
  strangerKey: KeyObject
  stranger: Issuer
  rsa: { privateKey: KeyObject; publicKey: KeyObject }
  ed25519: { privateKey: KeyObject; publicKey: KeyObject }
  p384: { privateKey: KeyObject; publicKey: KeyObject }
  p521: { privateKey: KeyObject; publicKey: KeyObject }
  secp256k1: { privateKey: KeyObject; publicKey: KeyObject }
  /** The symmetric key in the set. */
  secret: Buffer
}

export async function createKeys(): Promise<Keys> {
  const [owner, second, bare, firstOfKid, secondOfKid, stranger] = (await Promise.all(
    [kid, 'key-2', '', 'shared', 'shared', 'attacker'].map((name) => createIssuer(name)),
  )) as [Issuer, Issuer, Issuer, Issuer, Issuer, Issuer]
  const onCurve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
  return {
    owner,
    key: privateOf(owner),
    second,
    bare,
    firstOfKid,
    secondOfKid,
    strangerKey: privateOf(stranger),
    stranger,
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ed25519: generateKeyPairSync('ed25519'),
    p384: onCurve('P-384'),
    p521: onCurve('P-521'),
    secp256k1: onCurve('secp256k1'),
    secret: randomBytes(64),
  }
}
