/** The types that every class of tokens uses, and functions that encode and sign a token's parts. */
import { type JsonWebKey, type KeyObject, sign } from 'node:crypto'

/** The header lines of a request, byte for byte. */
export type Lines = (readonly [name: string, value: string])[]

/** A request that must be refused: its name, and its header lines. */
export type Refused = readonly [name: string, lines: Lines]

/** A request that must be accepted, and the user id that `OptionalUser()` must receive. */
export type Accepted = readonly [name: string, sent: { lines: Lines; id: string }]

/** One class of attack: the hostile tokens, and the genuine ones that are most like them. */
export interface TokenClass {
  name: string
  accepted: Accepted[]
  refused: Refused[]
}

export type Json = Record<string, unknown>

/** The id of the first key of the set, which signs every token that names no other key. */
export const kid = 'key-1'

/** The order of the group of P-256. */
export const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The prime of the field of P-256. */
export const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn

/** Longest `Authorization` header in bytes that is read (contract 2.11). */
export const longestHeader = 8 * 1024

export const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')

/** Encodes one part of a token. A text stands for itself, so that a test can write JSON that no library writes. */
export const part = (value: unknown) =>
  encode(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))

export const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
export const bytesOf = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex')

export const lines = (authorization: string): Lines => [['authorization', authorization]]
export const bearer = (token: string) => lines(`Bearer ${token}`)

/** Signs with ECDSA, in the form of JWS: `r` and `s` one after the other. */
export const ecdsa = (text: string, key: KeyObject, hash = 'sha256') =>
  sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })

export const jwkOf = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' })
export const withoutKid = ({ kid: _, ...jwk }: Json) => jwk

/** @returns a text that decodes to the same bytes, but whose spare bits differ. */
export function withSpareBits(text: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // Four characters encode three whole bytes and have no spare bits, but one character more encodes no byte.
  if (text.length % 4 === 0) return `${text}B`
  return text.slice(0, -1) + digits[digits.indexOf(text.at(-1)!) | 1]
}

/** Makes values until one is wanted. */
export function search(make: () => Buffer, isWanted: (bytes: Buffer) => boolean): Buffer {
  for (;;) {
    const made = make()
    if (isWanted(made)) return made
  }
}
