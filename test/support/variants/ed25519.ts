/** Variants for Discord: the signature is Ed25519. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { encode, privateKey } from '../schemes.ts'
import { type Base, bytesOf, type SchemeVariants, type Variant, withSignature } from './base.ts'

/** The order of the group, called L. A verifier that does not check the range of S accepts S + L as well. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n

function hostile(base: Base): Variant[] {
  const bytes = Buffer.from(base.signature, 'hex')
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)]
  const put = (...parts: Uint8Array[]) => withSignature(base, encode(bytesOf(...parts), 'hex'))
  const s1 = BigInt(`0x${Buffer.from(s).reverse().toString('hex')}`)
  const scalar = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
  const identity = bytesOf(new Uint8Array([1]), new Uint8Array(31))
  const { privateKey: other } = generateKeyPairSync('ed25519')
  const covered = base.scheme.covered(base.claim)
  const prehashed = createHash('sha512').update(covered).digest()
  return [
    ['S + L', put(r, scalar(s1 + groupOrder))],
    ['S + 2L', put(r, scalar(s1 + 2n * groupOrder))],
    ['L − S', put(r, scalar(groupOrder - s1))],
    ['S of zero', put(r, new Uint8Array(32))],
    ['R of zero', put(new Uint8Array(32), s)],
    ['the identity as R, zero as S', put(identity, new Uint8Array(32))],
    ['the identity as R', put(identity, s)],
    ['R and S swapped', put(s, r)],
    ['R alone', put(r)],
    ['63 bytes', put(bytes.subarray(0, 63))],
    ['65 bytes', put(bytes, new Uint8Array(1))],
    ['65 bytes, a zero before', put(new Uint8Array(1), bytes)],
    ['the high bit of S', put(r, s.subarray(0, 31), new Uint8Array([s[31]! | 0x80]))],
    ['the sign of R', put(r.subarray(0, 31), new Uint8Array([r[31]! ^ 0x80]), s)],
    ['all bits', put(new Uint8Array(64).fill(0xff))],
    ['a fresh key', put(sign(null, covered, other))],
    ['of the text’s SHA-512', put(sign(null, prehashed, privateKey(base.claim.secret)))],
  ]
}

const legitimate = () => []

export const ed25519Variants: SchemeVariants = { hostile, legitimate }
