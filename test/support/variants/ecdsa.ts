/** Variants for SendGrid: the signature is ECDSA over P-256, in DER. */
import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { encode, privateKey } from '../schemes.ts'
import {
  type Base,
  bytesOf,
  type Delivery,
  type SchemeVariants,
  search,
  type Variant,
  withHeaders,
  withSignature,
} from './base.ts'

const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

const bytesOfNumber = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

const block = (tag: number, content: Uint8Array) => bytesOf(new Uint8Array([tag, content.length]), content)

/** A DER integer, with a zero byte before a value that would otherwise be negative. */
const integer = (value: bigint) => {
  const bytes = bytesOfNumber(value)
  return block(2, bytes[0]! & 0x80 ? bytesOf('\0', bytes) : bytes)
}

const der = (r: bigint, s: bigint) => block(0x30, bytesOf(integer(r), integer(s)))

function numbersOf(signature: Uint8Array): { r: bigint; s: bigint } {
  const bytes = Buffer.from(signature)
  const length = bytes[3]!
  const number = (part: Uint8Array) => BigInt(`0x${Buffer.from(part).toString('hex')}`)
  return { r: number(bytes.subarray(4, 4 + length)), s: number(bytes.subarray(6 + length)) }
}

function hostile(base: Base): Variant[] {
  const isNegative = (value: bigint) => bytesOfNumber(value).length === 32 && bytesOfNumber(value)[0]! >= 0x80
  // r needs the leading zero byte and s does not, so that both cases can be spoilt.
  const { claim, signature } = search(base, (text) => {
    const { r, s } = numbersOf(Buffer.from(text, 'base64'))
    return isNegative(r) && bytesOfNumber(s).length === 32 && !isNegative(s)
  })
  const from = { ...base, claim, signature }
  const right = Buffer.from(signature, 'base64')
  const { r, s } = numbersOf(right)
  const put = (bytes: Uint8Array) => withSignature(from, encode(bytes, 'base64'))
  const sequence = (...parts: Uint8Array[]) => put(block(0x30, bytesOf(...parts)))
  const content = right.subarray(2)
  const raw = new Uint8Array([0])
  const p1363 = Buffer.from(r.toString(16).padStart(64, '0') + s.toString(16).padStart(64, '0'), 'hex')
  const byte = (...values: number[]) => new Uint8Array(values)
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { privateKey: onSecp256k1 } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const covered = base.scheme.covered(claim)
  const own = privateKey(claim.secret)
  const again = createPrivateKey(own.export({ format: 'pem', type: 'sec1' }))
  const spare = 'x-spare-email-event-webhook'
  const { timestampHeader = '' } = base.scheme
  const beside = (header: string, value: string): Delivery => {
    const { headers, body } = withSignature(base, base.signature)
    return { headers: [...headers, [header, value]], body }
  }
  const renamed = (header: string, to: string) =>
    withHeaders(base, (name, value) => [[name === header ? to : name, value]])
  const isAnyName = !base.scheme.header.startsWith('x-twilio-')
  return [
    // Neither of two such headers can be preferred. The provider's own preset reads one name only.
    ...(isAnyName
      ? ([['a second header of that ending', beside(`${spare}-signature`, base.signature)]] satisfies Variant[])
      : []),
    ['the signature under another name than the time', renamed(base.scheme.header, `${spare}-signature`)],
    ['the time under another name than the signature', renamed(timestampHeader, `${spare}-timestamp`)],
    ['a byte after the sequence', put(bytesOf(right, raw))],
    ['a byte inside the sequence', sequence(content, raw)],
    ['a third integer', sequence(content, integer(1n))],
    ['a byte before the sequence', put(bytesOf(raw, right))],
    ['a sequence that promises more', put(bytesOf(byte(0x30, content.length + 1), content))],
    ['a sequence that promises less', put(bytesOf(byte(0x30, content.length - 1), content))],
    ['a long form of the sequence’s length', put(bytesOf(byte(0x30, 0x81, content.length), content))],
    ['a longer form of the sequence’s length', put(bytesOf(byte(0x30, 0x82, 0, content.length), content))],
    ['an indefinite length', put(bytesOf(byte(0x30, 0x80), content, byte(0, 0)))],
    ['a long form of an integer’s length', sequence(byte(0x02, 0x81, 33), integer(r).subarray(2), integer(s))],
    ['a negative r', sequence(block(2, bytesOfNumber(r)), integer(s))],
    ['a negative s', sequence(integer(r), block(2, bytesOfNumber(n - 1n)))],
    ['a zero too many before r', sequence(block(2, bytesOf('\0\0', bytesOfNumber(r))), integer(s))],
    ['a zero too many before s', sequence(integer(r), block(2, bytesOf('\0', bytesOfNumber(s))))],
    ['an r of zero', put(der(0n, s))],
    ['an s of zero', put(der(r, 0n))],
    ['r and s of zero', put(der(0n, 0n))],
    ['r and s of one', put(der(1n, 1n))],
    ['an r of n', put(der(n, s))],
    ['an s of n', put(der(r, n))],
    ['r + n', put(der(r + n, s))],
    ['s + n', put(der(r, s + n))],
    ['an empty r', sequence(block(2, byte()), integer(s))],
    ['an empty s', sequence(integer(r), block(2, byte()))],
    ['r alone', sequence(integer(r))],
    ['an empty sequence', put(byte(0x30, 0))],
    ['r and s swapped', put(der(s, r))],
    ['a set for the sequence', put(bytesOf(byte(0x31, content.length), content))],
    ['octets for r', sequence(block(4, integer(r).subarray(2)), integer(s))],
    ['r and s without DER', put(p1363)],
    ['r and s without DER, in hex', withSignature(from, p1363.toString('hex'))],
    ['of a fresh key', put(sign('sha256', covered, other))],
    ['of another curve', put(sign('sha256', covered, onSecp256k1))],
    ['of another hash', put(sign('sha512', covered, again))],
    ['of the text’s SHA-256', put(sign('sha256', createHash('sha256').update(covered).digest(), again))],
  ]
}

function legitimate(base: Base): Variant[] {
  const { scheme, signature } = base
  const { header } = scheme
  const of = (bytes: Uint8Array) => withSignature(base, encode(bytes, 'base64'))
  const { r, s } = numbersOf(Buffer.from(signature, 'base64'))
  const length = (isWanted: (r: number, s: number) => boolean) => {
    const found = search(base, (text) => {
      const numbers = numbersOf(Buffer.from(text, 'base64'))
      return isWanted(integer(numbers.r).length - 2, integer(numbers.s).length - 2)
    })
    return withSignature(found, found.signature)
  }
  const vendors: Variant[] = ['x-twilio-email-event-webhook', 'x-Post-email-event-webhook'].map((name) => [
    `under the name ${name}`,
    withHeaders(base, (own, value) => [[own.replace(/^x-emailservice-email-event-webhook/, name), value]]),
  ])
  return [
    ...(header.startsWith('x-emailservice-') ? vendors : []),
    ['one s', of(der(r, s))],
    ['the other s', of(der(r, n - s))],
    ['an r of 31 bytes', length((r) => r === 31)],
    ['an s of 31 bytes', length((_r, s) => s === 31)],
    ['r and s of 33 bytes', length((r, s) => r === 33 && s === 33)],
    ['r and s of 32 bytes', length((r, s) => r === 32 && s === 32)],
  ]
}

export const ecdsaVariants: SchemeVariants = { hostile, legitimate }
