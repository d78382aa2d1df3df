/** The header `Device-Assertion`: what it proves of one request, and what the database's row makes of it (contract 3.7). */
import { createHash, sign } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beginCall } from '../../runtime/call.ts'
import type { DeviceRow } from '../../runtime/database/asked-device.ts'
import { deviceOf, proveDevice } from '../../runtime/devices/proof.ts'
import { assertedText, assertionWindowSeconds } from '../../src/wire/device-assertion.ts'
import { appleAssertion, newPair, pointOf } from '../support/attestations.ts'

const pair = newPair()
const other = newPair()
const token = 'header.claims.signature'
const nonce = Buffer.alloc(16, 7).toString('base64url')
const now = Math.floor(Date.parse('2027-01-01T00:00:00Z') / 1000)
const digest = (text: string | Uint8Array) => createHash('sha256').update(text).digest('base64url')

interface Lies {
  /** The time of the assertion, in seconds from now. */
  after?: number
  signer?: typeof pair
  form?: 'es256' | 'apple'
  body?: Uint8Array | 'too large'
  authorization?: string
  header?: (value: string) => string
}

let reasons: unknown[]
beforeEach(() => {
  reasons = []
  vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] })
  vi.spyOn(console, 'info').mockImplementation((line: string) => void reasons.push(JSON.parse(line).reason))
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const context = { waitUntil() {} } as unknown as ExecutionContext
const callWith = (headers: Record<string, string>) =>
  beginCall(new Request('https://shop.example/mine?a=1', { method: 'PUT', headers }), { STACK_WORKER: 'shop' }, context)

/** @returns what the runtime makes of a request with an assertion over its bytes, `{"a":1}`. */
function prove({
  after = 0,
  signer = pair,
  form = 'es256',
  body,
  authorization,
  header = (value) => value,
}: Lies = {}) {
  const bytes = new TextEncoder().encode('{"a":1}')
  const time = now + after
  const parts = {
    time,
    nonce,
    method: 'PUT',
    target: '/mine?a=1',
    bodyDigest: digest(bytes),
    tokenDigest: digest(token),
  }
  const text = assertedText(parts)
  const proof = form === 'apple' ? appleAssertion(signer, text) : sign('sha256', Buffer.from(text), signer.privateKey)
  const key = pointOf(pair).toString('base64url')
  const value = `v=1, k=${key}, t=${time}, n=${nonce}, ${form}=${proof.toString('base64url')}`
  const headers = { authorization: authorization ?? `Bearer ${token}`, 'device-assertion': header(value) }
  return proveDevice(callWith(headers), body ?? bytes)
}

describe.each(['es256', 'apple'] as const)('an assertion of the form %s', (form) => {
  it('proves the key that has signed the request', async () => {
    expect(await prove({ form })).toMatchObject({ keyId: digest(pointOf(pair)), nonce, time: now })
    expect(reasons).toEqual([])
  })

  it('proves nothing where another key has signed', async () => {
    expect(await prove({ form, signer: other })).toBeNull()
    expect(reasons).toEqual(['bad_signature'])
  })

  it('counts for 60 s before and after its time, and no second longer', async () => {
    expect(await prove({ form, after: -assertionWindowSeconds })).not.toBeNull()
    expect(await prove({ form, after: assertionWindowSeconds })).not.toBeNull()
    expect(reasons).toEqual([])
    expect(await prove({ form, after: -assertionWindowSeconds - 1 })).toBeNull()
    expect(await prove({ form, after: assertionWindowSeconds + 1 })).toBeNull()
    expect(reasons).toEqual(['stale', 'future'])
  })

  it('covers the bytes of the body, and none that are too long to be read', async () => {
    expect(await prove({ form, body: new TextEncoder().encode('{"a":2}') })).toBeNull()
    expect(await prove({ form, body: 'too large' })).toBeNull()
    expect(reasons).toEqual(['bad_signature', 'body_too_large'])
  })

  it('covers the token of its request', async () => {
    expect(await prove({ form, authorization: 'Bearer header.claims.other' })).toBeNull()
    expect(await prove({ form, authorization: '' })).toBeNull()
    expect(reasons).toEqual(['bad_signature', 'malformed'])
  })

  it('is read in one spelling', async () => {
    expect(await prove({ form, header: (value) => value.replace('v=1', 'v=2') })).toBeNull()
    expect(await prove({ form, header: (value) => `${value}, ${value}` })).toBeNull()
    expect(reasons).toEqual(['malformed', 'malformed'])
  })

  it('has a point of the curve', async () => {
    const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url')
    expect(await prove({ form, header: (value) => value.replace(/k=[^,]+/, `k=${offCurve}`) })).toBeNull()
    expect(reasons).toEqual(['bad_key'])
  })
})

describe('the device of an assertion that has held', () => {
  const row: DeviceRow = {
    id: 'dev_1',
    platform: 'ios',
    application_key: 'shop',
    environment: 'production',
    key_storage: 'secure_enclave',
    attested_at: '2026-12-01T00:00:00Z',
    facts: { os_version: '27.0' },
    rp_id_hash: 'app',
    is_revoked: false,
    is_unseen: false,
  }
  const proof = { keyId: 'key', nonce, time: now, rpIdHash: 'app', facts: { category: 2 } }
  const deviceWith = (found: Partial<DeviceRow> | null, isClaimed?: boolean) =>
    deviceOf(callWith({}), proof, found && { ...row, ...found }, isClaimed)

  it('is that of the row, with the facts that the assertion repeats', () => {
    for (const isClaimed of [undefined, true])
      expect(deviceWith({}, isClaimed)).toMatchObject({ id: 'dev_1', assertedAt: '2027-01-01T00:00:00.000Z' })
    expect(reasons).toEqual([])
  })

  it.each([
    ['unknown_key', null, undefined],
    ['revoked', { is_revoked: true }, undefined],
    ['wrong_app', { rp_id_hash: 'another app' }, undefined],
    ['wrong_app', { rp_id_hash: null }, undefined],
    ['replayed', {}, false],
  ] as const)('is none, because of %s', (reason, found, isClaimed) => {
    expect(deviceWith(found, isClaimed)).toBeNull()
    expect(reasons).toEqual([reason])
  })
})
