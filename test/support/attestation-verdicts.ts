/**
 * The verdicts of the verifiers on attestations, also on damaged ones. Node and workerd run this very code: the worker of
 * `attestation-worker.ts` is a bundle of it.
 */
import { importPoint, signedBy } from '../../runtime/devices/proof.ts'
import { type AndroidInput, verifyAndroid } from '../../src/auth/devices/android.ts'
import { type AppleInput, verifyApple } from '../../src/auth/devices/apple.ts'
import { CborFault } from '../../src/wire/cbor.ts'
import { type Bytes, DerFault } from '../../src/wire/der.ts'
import { createRandom } from './random.ts'

/** An attestation, and all that it is verified against. */
export type AttestationCase = ({ platform: 'ios' } & AppleInput) | ({ platform: 'android' } & AndroidInput)

/** An assertion of App Attest over a text. */
export interface AssertionCase {
  point: Bytes
  assertion: Bytes
  text: Bytes
}

/** @returns `ok`, the reason of the refusal, `malformed: …`, or `threw: …` for an error that no verifier may throw. */
export function verdictOf(input: AttestationCase): Promise<string> {
  return verdict(async () => {
    const result = input.platform === 'ios' ? await verifyApple(input) : await verifyAndroid(input)
    return 'reason' in result ? result.reason : 'ok'
  })
}

/** @returns `ok` where the key has signed the text, else as `verdictOf` does. */
export function verdictOfAssertion({ point, assertion, text }: AssertionCase): Promise<string> {
  return verdict(async () => {
    const key = await importPoint(point)
    if (!key) return 'bad_key'
    const claims = await signedBy(key, { point, time: 0, nonce: '', form: 'apple', proof: assertion }, text)
    return claims ? 'ok' : 'bad_signature'
  })
}

async function verdict(judge: () => Promise<string>): Promise<string> {
  try {
    return await judge()
  } catch (error) {
    const { message } = error as Error
    return error instanceof DerFault || error instanceof CborFault ? `malformed: ${message}` : `threw: ${message}`
  }
}

/** Damaged copies of one attestation. */
export interface DamagedBatch {
  whole: AttestationCase
  seed: number
  count: number
  /** Bytes of the attestation that nothing signs: a copy that differs there alone is left out. */
  unsigned?: { from: number; to: number }
}

/** @returns the verdict on each copy, and a digest of all copies, which tells that two engines have judged the same ones. */
export async function verdictsOnDamaged(batch: DamagedBatch): Promise<{ verdicts: string[]; digest: number }> {
  const verdicts: string[] = []
  let digest = 0x811c9dc5
  for (const { input, damaged } of damagedCases(batch)) {
    for (const byte of damaged) digest = Math.imul(digest ^ byte, 0x01000193) // FNV-1a
    verdicts.push(await verdictOf(input))
  }
  return { verdicts, digest: digest >>> 0 }
}

export function* damagedCases({ whole, seed, count, unsigned }: DamagedBatch): Generator<{
  input: AttestationCase
  /** The part that was damaged. */
  damaged: Bytes
}> {
  const next = createRandom(seed)
  for (let made = 0; made < count; ) {
    const position = whole.platform === 'ios' ? 0 : Math.floor(next() * whole.certificates.length)
    const part = whole.platform === 'ios' ? whole.attestation : whole.certificates[position]!
    const damaged = damagedCopy(part, next)
    if (differsOnlyWithin(part, damaged, unsigned?.from ?? 0, unsigned?.to ?? 0)) continue
    made++
    const input =
      whole.platform === 'ios'
        ? { ...whole, attestation: damaged }
        : { ...whole, certificates: whole.certificates.with(position, damaged) }
    yield { input, damaged }
  }
}

/** Changes a bit, removes some bytes, repeats some, or inserts some. */
export function damagedCopy(bytes: Bytes, next: () => number): Bytes {
  const at = Math.floor(next() * bytes.length)
  const count = 1 + Math.floor(next() * 8)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (Math.floor(next() * 4)) {
    case 0: {
      const copy = new Uint8Array(bytes)
      copy[at]! ^= 1 << Math.floor(next() * 8)
      return copy
    }
    case 1:
      return joined(before, after.subarray(count))
    case 2:
      return joined(before, after.subarray(0, count), after)
    default:
      return joined(before, new Uint8Array(count).fill(Math.floor(next() * 256)), after)
  }
}

function joined(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function differsOnlyWithin(one: Bytes, other: Bytes, from: number, to: number): boolean {
  if (one.length !== other.length) return false
  return one.every((byte, index) => byte === other[index] || (index >= from && index < to))
}

/** JSON has no bytes: they cross to the worker as `{ "bytes": "<hexadecimal digits>" }`. */
export function packed(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return { bytes: Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('') }
  if (Array.isArray(value)) return value.map(packed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, packed(one)]))
}

export function unpacked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpacked)
  if (typeof value !== 'object' || value === null) return value
  const { bytes } = value as { bytes?: unknown }
  if (typeof bytes === 'string')
    return Uint8Array.from({ length: bytes.length / 2 }, (_, at) =>
      Number.parseInt(bytes.slice(2 * at, 2 * at + 2), 16),
    )
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpacked(one)]))
}
