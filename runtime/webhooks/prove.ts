/** Verifies deliveries: first the secret and the headers, then the bytes of the body (contract 7.1, 7.5, 7.9). */
import { proofUnder } from '../../src/wire/webhook-schemes.ts'
import type { Call } from '../call.ts'
import { textBinding } from '../env.ts'
import type { Webhook } from '../table.ts'
import { type Arrival, type Claim, type Fault, fault, type Readers, readClaim } from './claim.ts'
import { type Delivery, quoted } from './delivery.ts'
import { secretKey } from './secret.ts'
import { urlsOf } from './urls.ts'

/**
 * Longest body in bytes of a delivery that was refused for its time, where `maxBodyBytes` sets no limit: it is read for the
 * record alone (contract 7.8).
 */
const longestLate = 1024 * 1024

/**
 * Longest form in bytes that is sorted before its sender is known, where `maxBodyBytes` sets no limit (contract 7.8). Sorting
 * takes a quarter of a second for each MiB, and the providers' forms have a few KiB.
 */
const longestSorted = 4 * 1024 * 1024

export interface Proven {
  body: Uint8Array<ArrayBuffer>
  claim: Claim
  /** The vault entry whose secret signed the delivery. */
  entry: string
  key: CryptoKey
}

/** A sound secret, and the claim that the headers make under it. */
interface Candidate extends Pick<Proven, 'entry' | 'key'> {
  claim: Claim | Fault
}

/** Checks secret and headers before the body is read: an unsigned upload costs no memory. */
export async function prove(delivery: Delivery, readers: Readers): Promise<Proven | Fault> {
  const { call, webhook, outcome } = delivery
  const { scheme } = webhook
  const urls = scheme.proof.by === 'url' ? signedUrls(call, webhook) : []
  const arrival = { headers: call.request.headers, urls, now: Date.now() / 1000 }
  const candidates = await candidatesOf(call, webhook, readers, arrival)
  if ('reason' in candidates) return candidates
  if (candidates.every(({ claim }) => 'reason' in claim)) {
    await prepareLate(delivery, candidates)
    return candidates[0]!.claim as Fault
  }
  const body = await delivery.hold(webhook.maxBodyBytes ?? (scheme.proof.by === 'url' ? longestSorted : undefined))
  for (const { entry, key, claim } of candidates) {
    if ('reason' in claim || !(await claim.holds(key, body))) continue
    outcome.body = body
    return { body, claim, entry, key }
  }
  const tried = urls.length > 0 ? `, or the URL that it was sent to is not ${quoted(urls[0]!)}` : ''
  const entries = candidates.map(({ entry }) => entry).join(' nor ')
  const not = candidates.length > 1 ? 'neither' : 'not'
  return fault('bad_signature', `its signature is ${not} that of the secret in ${entries} over this body${tried}`)
}

/** Reads the claim under the current secret and, during a rotation, under the previous one. The current one must be sound. */
async function candidatesOf(
  { env }: Call,
  { secret, scheme }: Webhook,
  readers: Readers,
  arrival: Arrival,
): Promise<Candidate[] | Fault> {
  const current = textBinding(env, secret.env)
  if (current === undefined) return fault('unset_secret', `the vault entry ${secret.env} is not set`)
  const candidateOf = async (entry: string, text: string): Promise<Candidate | string> => {
    const proof = proofUnder(scheme.proof, text)
    const key = await secretKey(proof, text)
    return typeof key === 'string' ? key : { entry, key, claim: readClaim(readers, proof, arrival) }
  }
  const first = await candidateOf(secret.env, current)
  if (typeof first === 'string') {
    return fault('malformed_secret', `the vault entry ${secret.env} is not a secret of this scheme: ${first}`)
  }
  const before = secret.previous === undefined ? undefined : textBinding(env, secret.previous)
  const second = before === undefined ? undefined : await candidateOf(secret.previous!, before)
  return second === undefined || typeof second === 'string' ? [first] : [first, second]
}

/** Reads the body of a delivery that was refused for its time. The record needs it if the delivery turns out to be genuine. */
async function prepareLate(delivery: Delivery, candidates: readonly Candidate[]): Promise<void> {
  const { webhook, outcome } = delivery
  const late = candidates.filter(({ claim }) => 'reason' in claim && claim.claim !== undefined)
  if (!webhook.record || late.length === 0) return
  const body = await delivery.hold(webhook.maxBodyBytes ?? longestLate).catch(() => undefined)
  if (!body) return
  delivery.verifyLate = async () => {
    const results = await Promise.all(late.map(({ key, claim }) => (claim as Fault).claim!.holds(key, body)))
    if (results.includes(true)) outcome.body = body
  }
}

function signedUrls(call: Call, { publicUrl }: Webhook): string[] {
  const base = textBinding(call.env, 'STACK_PUBLIC_URL')?.replace(/\/+$/, '')
  const configured = publicUrl ?? (base === undefined ? undefined : `${base}${call.path}`)
  return urlsOf(configured, call.request.url, call.search)
}
