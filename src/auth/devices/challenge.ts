/**
 * Challenges that a new key signs, or names in its attestation. They are not stored: each authenticates itself, and serves one key,
 * because a key is enrolled once.
 */
import type { Bytes } from '../../wire/der.ts'
import { base64url } from '../shared/base64url.ts'
import { authenticate } from '../shared/seal.ts'
import { isSame } from './certificate.ts'

/** The one use of a challenge. */
export interface ChallengePurpose {
  userId: string
  applicationKey: string
  platform: string
}

/** Milliseconds that a challenge lives. Attesting a key takes seconds, and longer where Apple's service is slow. */
const lifeMs = 600_000
/** Bytes of the nonce, of the expiry and of the code that authenticates both. Android takes 128 bytes at most. */
const [nonceBytes, expiryBytes, codeBytes] = [16, 8, 32]

export async function issueChallenge(purpose: ChallengePurpose): Promise<{ challenge: string; expires_at: Date }> {
  const expires_at = new Date(Date.now() + lifeMs)
  const challenge = new Uint8Array(nonceBytes + expiryBytes + codeBytes)
  crypto.getRandomValues(challenge.subarray(0, nonceBytes))
  new DataView(challenge.buffer).setBigUint64(nonceBytes, BigInt(expires_at.getTime()))
  challenge.set(await codeOf(challenge, purpose), nonceBytes + expiryBytes)
  return { challenge: base64url(challenge), expires_at }
}

/** @returns why the challenge is good for nothing, if so. */
export async function challengeFault(challenge: Bytes, purpose: ChallengePurpose): Promise<string | undefined> {
  if (challenge.length !== nonceBytes + expiryBytes + codeBytes) return 'wrong_challenge'
  if (!isSame(challenge.subarray(nonceBytes + expiryBytes), await codeOf(challenge, purpose))) return 'wrong_challenge'
  const expiry = Number(new DataView(challenge.buffer, challenge.byteOffset).getBigUint64(nonceBytes))
  return Date.now() > expiry ? 'challenge_expired' : undefined
}

async function codeOf(challenge: Bytes, { userId, applicationKey, platform }: ChallengePurpose): Promise<Uint8Array> {
  const signed = base64url(challenge.subarray(0, nonceBytes + expiryBytes))
  // neither an id nor the name of an application has a line end
  const text = ['stack device challenge', userId, applicationKey, platform, signed].join('\n')
  return authenticate('REFRESH_KEY', new TextEncoder().encode(text))
}
