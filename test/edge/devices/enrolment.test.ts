/** Enrolment of devices over HTTP: challenges, attestations, limits, revocation, and what becomes of devices with their accounts. */
import { createHmac, randomBytes, sign } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DebugDeviceRefused, enrolDebugDevice } from '../../../cli/shared/debug-device.ts'
import { stackFiles } from '../../../local/files.ts'
import { keysAt } from '../../../local/keys.ts'
import { assertedText } from '../../../src/wire/device-assertion.ts'
import { androidInputOf, appleInputOf, attestationVectors, fromBase64 } from '../../support/attestation-vectors.ts'
import {
  type AppleLies,
  androidApp,
  androidChain,
  appleAssertion,
  appleAttestation,
  iosApp,
  newPair,
  newRoot,
  type Pair,
  pointOf,
  sha256,
} from '../../support/attestations.ts'
import { callAsserted, enrolDevice } from '../../support/devices.ts'
import { administer } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'
import { useStatusList } from '../../support/status-list.ts'

if (!attestationVectors) process.stderr.write('the attestations of devices are not here: their tests are skipped\n')

const list = useStatusList()
const stack = useStack('test/edge/attested', {}, { auth: list.start })
const admin = administer(stack)
const b64u = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const [appleRoot, googleRoot] = [newRoot(), newRoot('A root of Android')]
const settings = (device_apps: unknown = [iosApp, androidApp]) => admin.call('PUT', '/settings', { device_apps })

beforeEach(async () => {
  await settings()
})
afterEach(async () => {
  await stack.sql('delete from auth.rate_limits')
  Object.assign(list, { entries: {}, status: 200, asked: 0, unchanged: 0 })
  await stack.sql('update auth.attestation_status set etag = null, checked_at = null, attempted_at = null')
  await stack.sql('delete from auth.attestation_revocations')
})

const challengeFor = async (token: string, platform = 'ios', application_key = 'shop') =>
  stack.call('/auth/devices/challenge', { token, json: { platform, application_key } })
const eventsOf = async (id: string) =>
  (await admin.entries(id))
    .filter(({ event_type }) => event_type.startsWith('device.'))
    .map(({ event_type, reason }) => [event_type, reason])

interface Recording {
  challenge: Uint8Array
  at?: number
  attestation?: Uint8Array
  certificates?: Uint8Array[]
  roots?: Uint8Array[]
}

/** Enrols what a device has recorded at another time: the local stack verifies it as of then. */
async function enrolRecorded(token: string, platform: 'ios' | 'android', recording: Recording) {
  const about = { platform, application_key: 'shop' }
  const { json } = await stack.call('/auth/devices/debug/challenge', { token, json: about })
  const { challenge, at = Date.now(), attestation, certificates, roots = [] } = recording
  const recorded = {
    challenge: b64u(challenge),
    at,
    ...(attestation ? { attestation: b64u(attestation) } : {}),
    ...(certificates ? { certificates: certificates.map(b64u) } : {}),
    roots: roots.map(b64u),
  }
  return stack.call('/auth/devices/debug', {
    token,
    json: { ...about, challenge: json.challenge, proof: { recorded } },
  })
}

const anyChallenge = new Uint8Array(56).fill(5)
const enrolAndroid = (token: string, lies?: Parameters<typeof androidChain>[2], pair?: Pair) =>
  enrolRecorded(token, 'android', {
    challenge: anyChallenge,
    certificates: androidChain(googleRoot, anyChallenge, lies, pair),
    roots: [googleRoot.certificate],
  })

/** The device of a request to `/mine`, which the key has signed in one of the two forms. */
async function deviceOf(
  token: string,
  pair: Pair,
  { form = 'es256', lies = {}, target = '/mine' }: { form?: 'apple' | 'es256'; lies?: AppleLies; target?: string } = {},
) {
  const [time, nonce] = [Math.floor(Date.now() / 1000), b64u(randomBytes(16))]
  const [bodyDigest, tokenDigest] = [b64u(sha256('')), b64u(sha256(token))]
  const text = assertedText({ time, nonce, method: 'GET', target, bodyDigest, tokenDigest })
  const proof = form === 'apple' ? appleAssertion(pair, text, lies) : sign('sha256', Buffer.from(text), pair.privateKey)
  const header = `v=1, k=${b64u(pointOf(pair))}, t=${time}, n=${nonce}, ${form}=${b64u(proof)}`
  const { json, headers } = await stack.call('/mine', { token, headers: { 'device-assertion': header } })
  const id = headers.get('x-request-id')
  const isTold = (line: Record<string, unknown>) =>
    line['request_id'] === id && line['message'] === 'the request has no attested device'
  return { device: json.device, reason: json.device ? undefined : (await stack.logged(isTold))['reason'] }
}

describe('a challenge', () => {
  it('has 56 bytes and lives for 10 minutes', async () => {
    const { token } = await stack.signUp()
    const { status, json } = await challengeFor(token)
    expect(status).toBe(200)
    expect(Buffer.from(json.challenge, 'base64url')).toHaveLength(56)
    expect(Date.parse(json.expires_at) - Date.now()).toBeGreaterThan(9 * 60_000)
  })

  it('is given to nobody without a session, for no browser and for no application that the settings lack', async () => {
    const { token } = await stack.signUp()
    expect(
      (await stack.call('/auth/devices/challenge', { json: { platform: 'ios', application_key: 'shop' } })).status,
    ).toBe(401)
    for (const answer of [await challengeFor(token, 'web'), await challengeFor(token, 'ios', 'other')]) {
      expect([answer.status, answer.json.error]).toEqual([400, 'attestation_unavailable'])
    }
    expect((await challengeFor(token, 'windows')).status).toBe(400)
  })
})

describe('an attestation', () => {
  it('under a root that is not pinned is refused, and only the trail has the reason', async () => {
    const { token, id } = await stack.signUp()
    const challenge = Buffer.from((await challengeFor(token)).json.challenge, 'base64url')
    const json = {
      application_key: 'shop',
      challenge: b64u(challenge),
      attestation: b64u(appleAttestation(appleRoot, challenge)),
    }
    const ios = await stack.call('/auth/devices', { token, json })
    expect([ios.status, ios.json.error, ios.json.error_description]).toEqual([
      422,
      'attestation_refused',
      'the attestation was not accepted',
    ])
    const other = Buffer.from((await challengeFor(token, 'android')).json.challenge, 'base64url')
    const certificates = androidChain(googleRoot, other).map(b64u)
    const android = await stack.call('/auth/devices', {
      token,
      json: { application_key: 'shop', challenge: b64u(other), certificates },
    })
    expect([android.status, android.json.error]).toEqual([422, 'attestation_refused'])
    expect(await eventsOf(id)).toEqual([
      ['device.refused', 'unknown_root'],
      ['device.refused', 'unknown_root'],
    ])
  })

  it('needs a challenge of this user, this application and this platform', async () => {
    const [one, other] = [await stack.signUp(), await stack.signUp()]
    const mine = (await challengeFor(one.token)).json.challenge as string
    const cases = [
      mine,
      (await challengeFor(other.token)).json.challenge,
      (await challengeFor(one.token, 'android')).json.challenge,
    ]
    cases.push(b64u(new Uint8Array(56)), b64u(new Uint8Array(3)), `${mine.slice(0, -2)}AA`)
    for (const challenge of cases) {
      const attestation = b64u(appleAttestation(appleRoot, Buffer.from(challenge, 'base64url')))
      const { status } = await stack.call('/auth/devices', {
        token: one.token,
        json: { application_key: 'shop', challenge, attestation },
      })
      expect(status).toBe(422)
    }
    const [first, ...rest] = (await eventsOf(one.id)).map(([, reason]) => reason)
    expect([first, ...new Set(rest)]).toEqual(['unknown_root', 'wrong_challenge'])
  })

  it('needs a challenge whose 10 minutes are not over', async () => {
    const { token, id } = await stack.signUp()
    const key = Buffer.from(keysAt(stackFiles(stack.root).keys).refresh_key, 'base64url')
    for (const ms of [60_000, -1_000]) {
      const head = Buffer.concat([randomBytes(16), Buffer.alloc(8)])
      head.writeBigUInt64BE(BigInt(Date.now() + ms), 16)
      const signed = ['stack device challenge', id, 'shop', 'ios', b64u(head)].join('\n')
      const challenge = Buffer.concat([head, createHmac('sha256', key).update(signed).digest()])
      const attestation = b64u(appleAttestation(appleRoot, challenge))
      const json = { application_key: 'shop', challenge: b64u(challenge), attestation }
      expect((await stack.call('/auth/devices', { token, json })).status).toBe(422)
    }
    expect((await eventsOf(id)).map(([, reason]) => reason)).toEqual(['unknown_root', 'challenge_expired'])
  })

  it.each([
    ['nothing', {}],
    ['both kinds', { attestation: 'AAAA', certificates: ['AAAA', 'AAAA'] }],
    ['padding', { attestation: 'AAA=' }],
    ['bits that no byte holds', { attestation: 'AAB' }],
    ['one certificate', { certificates: ['AAAA'] }],
    ['more than 16 KiB', { attestation: b64u(new Uint8Array(16_385)) }],
    ['2,000 certificates', { certificates: Array(2_000).fill('AAAA') }],
    ['a number', { attestation: 7 }],
    ['an unknown field', { attestation: 'AAAA', key_id: 'x' }],
  ])('with %s is 400', async (_title, proof) => {
    const { token } = await stack.signUp()
    const json = { application_key: 'shop', challenge: b64u(anyChallenge), ...proof }
    expect((await stack.call('/auth/devices', { token, json })).status).toBe(400)
  })

  it('that is damaged is 422, whatever is in it', async () => {
    const { token } = await stack.signUp()
    const json = { application_key: 'shop', challenge: (await challengeFor(token)).json.challenge }
    const deep = Buffer.alloc(10_000, 0x81)
    for (const attestation of [deep, Buffer.alloc(16_384, 0xff), Buffer.from('a0', 'hex'), Buffer.from([0x30])]) {
      await stack.sql('delete from auth.rate_limits')
      expect(
        (await stack.call('/auth/devices', { token, json: { ...json, attestation: b64u(attestation) } })).status,
      ).toBe(422)
    }
    await stack.sql('delete from auth.rate_limits')
    const certificates = [b64u(deep.subarray(0, 8_000)), b64u(deep.subarray(0, 8_000))]
    const other = {
      application_key: 'shop',
      challenge: (await challengeFor(token, 'android')).json.challenge,
      certificates,
    }
    expect((await stack.call('/auth/devices', { token, json: other })).status).toBe(422)
  })

  it('is tried ten times an hour', async () => {
    const { token } = await stack.signUp()
    const json = { application_key: 'shop', challenge: b64u(anyChallenge), attestation: 'AAAA' }
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await stack.call('/auth/devices', { token, json })).status),
    )
    expect(statuses.filter((status) => status === 422)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  })
})

describe('a device of iOS', () => {
  it('signs with assertions of App Attest, whose facts are those of this request', async () => {
    const { token } = await stack.signUp()
    const pair = newPair()
    const attestation = appleAttestation(appleRoot, anyChallenge, {}, pair)
    const { status, json } = await enrolRecorded(token, 'ios', {
      challenge: anyChallenge,
      attestation,
      roots: [appleRoot.certificate],
    })
    expect([status, json.environment, json.public_key]).toEqual([201, 'debug', b64u(pointOf(pair))])
    const assert = async (lies: AppleLies = {}, target?: string) =>
      (await deviceOf(token, pair, { form: 'apple', lies, ...(target ? { target } : {}) })).device
    expect(await assert()).toMatchObject({ id: json.id, platform: 'ios', keyStorage: 'secure_enclave', facts: {} })
    const extensions = new Map<string, string | Uint8Array>([
      ['apple_validation_category_01', Buffer.from([2, 0, 0, 0])],
      ['apple_bundle_version_01', '7'],
    ])
    expect((await assert({ extensions })).facts).toEqual({ category: 2, bundleVersion: '7' })
    expect(await assert({ extensions: new Map([['apple_bundle_version_01', 7]]) })).toBeNull()
    expect(await assert({ appId: 'ABCDE12345.com.example.evil' })).toBeNull()
    expect(await assert({}, '/mine/other')).toBeNull()
  })

  it('signs in the form of its own platform alone', async () => {
    const { token } = await stack.signUp()
    const [apple, android] = [newPair(), newPair()]
    const attestation = appleAttestation(appleRoot, anyChallenge, {}, apple)
    await enrolRecorded(token, 'ios', { challenge: anyChallenge, attestation, roots: [appleRoot.certificate] })
    await enrolAndroid(token, {}, android)
    const wrong = { device: null, reason: 'wrong_app' }
    expect((await deviceOf(token, apple, { form: 'apple' })).device.platform).toBe('ios')
    expect(await deviceOf(token, apple, { form: 'es256' })).toEqual(wrong)
    expect(await deviceOf(token, apple, { form: 'apple', lies: { appId: 'ABCDE12345.com.example.evil' } })).toEqual(
      wrong,
    )
    expect((await deviceOf(token, android)).device.platform).toBe('android')
    expect(await deviceOf(token, android, { form: 'apple' })).toEqual(wrong)
  })
})

describe('a device of Android', () => {
  it('is enrolled with the facts of its hardware, and refused with a key that Google has revoked', async () => {
    const { token, id } = await stack.signUp()
    const { status, json } = await enrolAndroid(token)
    expect([status, json.id]).toEqual([201, expect.stringMatching(/^dev_/)])
    const { json: own } = await stack.call('/auth/devices', { token })
    expect(own.data).toEqual([
      expect.objectContaining({
        id: json.id,
        key_storage: 'tee',
        facts: expect.objectContaining({ verified_boot: 'verified' }),
      }),
    ])
    for (const serial of ['abc01', '0ABC02', '5a17']) {
      await stack.sql('update auth.attestation_status set checked_at = null, etag = null')
      list.entries = { [serial]: { status: serial === 'abc01' ? 'SUSPENDED' : 'REVOKED' } }
      expect((await enrolAndroid(token)).status).toBe(422)
    }
    // the serial number of every leaf is 1
    list.entries = { '1': { status: 'REVOKED' } }
    await stack.sql('update auth.attestation_status set checked_at = null, etag = null')
    expect((await enrolAndroid(token)).status).toBe(201)
    expect((await eventsOf(id)).filter(([, reason]) => reason === 'chain_revoked')).toHaveLength(3)
  })

  it('is revoked when its chain appears on the list, and is null on the next request', async () => {
    const { token } = await stack.signUp()
    const [pair, other] = [newPair(), newPair()]
    await enrolAndroid(token, { issuer: { serial: Buffer.from('0fee01', 'hex') } }, pair)
    await enrolAndroid(token, {}, other)
    expect((await deviceOf(token, pair)).device.platform).toBe('android')
    await stack.sql('update auth.attestation_status set checked_at = null')
    list.entries = { fee01: { status: 'REVOKED' } }
    list.etag = '"2"'
    expect((await enrolAndroid((await stack.signUp()).token)).status).toBe(201)
    const rows = await stack.sql(`select revoke_reason from auth.devices where 'fee01' = any (chain_serials)`)
    expect(rows).toEqual([{ revoke_reason: 'chain_revoked' }])
    expect(await deviceOf(token, pair)).toEqual({ device: null, reason: 'revoked' })
    expect((await deviceOf(token, other)).device).not.toBeNull()
    const trail = await stack.sql(
      `select details from stack.audit where reason = 'chain_revoked' and actor_type = 'system' order by id`,
    )
    expect(trail.at(-1)).toEqual({ details: { devices: 1 } })
  })

  it('asks for the list once a day, with the tag that it knows', async () => {
    const { token } = await stack.signUp()
    await enrolAndroid(token)
    await enrolAndroid(token)
    expect(list.asked).toBe(1)
    await stack.sql(`update auth.attestation_status set checked_at = now() - interval '25 hours', attempted_at = null`)
    await enrolAndroid(token)
    expect([list.asked, list.unchanged]).toEqual([2, 1])
  })

  it('is enrolled during an outage of 7 days, and 503 afterwards', async () => {
    const { token } = await stack.signUp()
    await enrolAndroid(token)
    list.status = 500
    await stack.sql(`update auth.attestation_status set checked_at = now() - interval '6 days', attempted_at = null`)
    expect((await enrolAndroid(token)).status).toBe(201)
    expect((await enrolAndroid(token)).status).toBe(201)
    expect(list.asked).toBe(2)
    await stack.sql(`update auth.attestation_status set checked_at = now() - interval '8 days'`)
    const { status, json, headers } = await enrolAndroid(token)
    expect([status, json.error, headers.get('retry-after')]).toEqual([503, 'unavailable', '60'])
  })

  it('signs requests during any outage, which ask for no list', async () => {
    const { token } = await stack.signUp()
    const pair = newPair()
    await enrolAndroid(token, {}, pair)
    list.status = 500
    await stack.sql(`update auth.attestation_status set checked_at = now() - interval '8 days', attempted_at = null`)
    list.asked = 0
    expect((await deviceOf(token, pair)).device.platform).toBe('android')
    expect(
      (await callAsserted(stack, await enrolDevice(stack, { token }), '/mine', { token })).json.device,
    ).not.toBeNull()
    expect(list.asked).toBe(0)
  })

  it('is 503 where the list is none', async () => {
    const { token } = await stack.signUp()
    list.entries = [] as never
    expect((await enrolAndroid(token)).status).toBe(503)
    list.entries = { 'not a serial': { status: 'REVOKED' } }
    expect((await enrolAndroid(token)).status).toBe(503)
  })
})

describe('a key', () => {
  it('gives the same device again to its user, 409 to another one, and nothing once it was revoked', async () => {
    const [one, other] = [await stack.signUp(), await stack.signUp()]
    const pair = newPair()
    const first = await enrolAndroid(one.token, {}, pair)
    const again = await enrolAndroid(one.token, {}, pair)
    expect([again.status, again.json.id]).toEqual([200, first.json.id])
    const taken = await enrolAndroid(other.token, {}, pair)
    expect([taken.status, taken.json.error]).toEqual([409, 'device_key_taken'])
    expect((await stack.call(`/auth/devices/${first.json.id}`, { method: 'DELETE', token: one.token })).status).toBe(
      204,
    )
    expect((await enrolAndroid(one.token, {}, pair)).status).toBe(422)
    expect((await eventsOf(one.id)).at(-1)).toEqual(['device.refused', 'key_revoked'])
  })

  it('belongs to one device, however many enrol it at once', async () => {
    const { token } = await stack.signUp()
    const pair = newPair()
    await admin.call('PUT', '/settings', {
      device_apps: [androidApp],
      rate_limits: { device_enrolment_per_user: { attempts: 100, seconds: 60 } },
    })
    const answers = await Promise.all(Array.from({ length: 30 }, () => enrolAndroid(token, {}, pair)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(29)
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
  })
})

describe('the devices of an account', () => {
  it('are at most 20: one more revokes the one that was not seen for the longest time', async () => {
    const person = await stack.signUp()
    await admin.call('PUT', '/settings', { rate_limits: { device_enrolment_per_user: { attempts: 100, seconds: 60 } } })
    const devices = []
    for (let index = 0; index < 20; index++) devices.push(await enrolDevice(stack, person))
    await stack.sql(`update auth.devices set last_seen_at = now() - interval '9 days' where id = $1`, [devices[7]!.id])
    await enrolDevice(stack, person)
    const live = (await stack.call('/auth/devices', { token: person.token })).json.data.map(
      ({ id }: { id: string }) => id,
    )
    expect(live).toHaveLength(20)
    expect(live).not.toContain(devices[7]!.id)
  })

  it('are the account’s own: another user neither sees nor removes them', async () => {
    const [one, other] = [await stack.signUp(), await stack.signUp()]
    const { id } = await enrolDevice(stack, one)
    expect((await stack.call('/auth/devices', { token: other.token })).json.data).toEqual([])
    const foreign = await stack.call(`/auth/devices/${id}`, { method: 'DELETE', token: other.token })
    expect([foreign.status, foreign.json.error]).toEqual([404, 'device_not_found'])
    expect((await stack.call('/auth/devices')).status).toBe(401)
    expect((await stack.call('/auth/devices', { token: one.token })).json.data[0]).not.toHaveProperty('user_id')
    expect((await stack.call(`/auth/devices/${id}`, { method: 'DELETE', token: one.token })).status).toBe(204)
    expect((await stack.call(`/auth/devices/${id}`, { method: 'DELETE', token: one.token })).status).toBe(204)
    expect(await eventsOf(one.id)).toEqual([
      ['device.enrolled', null],
      ['device.revoked', 'removed'],
    ])
  })

  it('go with the account, and with its credentials', async () => {
    const [person, other] = [await stack.signUp(), await stack.signUp()]
    const device = await enrolDevice(stack, person)
    const kept = await enrolDevice(stack, other)
    const revoked = await admin.call('POST', `/users/${person.id}/credentials/revoke-all`)
    expect(revoked.json.revoked.devices).toBe(1)
    expect(await stack.sql('select revoke_reason from auth.devices where id = $1', [device.id])).toEqual([
      { revoke_reason: 'credentials_revoked' },
    ])
    const { email, password } = person
    const { json } = await stack.call('/auth/sign-in/password', { json: { email, password } })
    if (json.access_token)
      expect((await callAsserted(stack, device, '/mine', { token: json.access_token })).json.device).toBeNull()
    await admin.call('DELETE', `/users/${person.id}`)
    expect(await stack.sql('select from auth.devices where id = $1', [device.id])).toEqual([])
    expect((await callAsserted(stack, kept, '/mine', { token: other.token })).json.device.id).toBe(kept.id)
  })

  it('stay with a guest who becomes an account', async () => {
    const guest = (await stack.call('/auth/anonymous', { method: 'POST' })).json
    const device = await enrolDevice(stack, { token: guest.access_token })
    const email = `guest-${crypto.randomUUID()}@example.com`
    const { json } = await stack.call('/auth/upgrade', {
      token: guest.access_token,
      json: { email, password: 'correct horse battery' },
    })
    expect((await callAsserted(stack, device, '/mine', { token: json.access_token })).json.device.id).toBe(device.id)
  })

  it('are in the export of the account, without the receipt', async () => {
    const person = await stack.signUp()
    const device = await enrolDevice(stack, person)
    const { json } = await admin.call('GET', `/users/${person.id}/export`)
    expect(json.devices).toEqual([expect.objectContaining({ id: device.id, public_key: device.publicKey })])
    expect(json.devices[0]).not.toHaveProperty('receipt')
  })
})

describe('the management surface', () => {
  it('lists devices, also of one user, and page by page', async () => {
    const person = await stack.signUp()
    const ids: string[] = []
    for (let index = 0; index < 3; index++) ids.unshift((await enrolDevice(stack, person)).id)
    await enrolDevice(stack, await stack.signUp())
    const rows = await admin.pages(`/devices?user_id=${person.id}&limit=2`)
    expect(rows.map(({ id }) => id)).toEqual(ids)
    expect((await admin.pages('/devices')).length).toBeGreaterThanOrEqual(4)
    const { next_cursor } = (await admin.call('GET', `/devices?user_id=${person.id}&limit=2`)).json
    const crossed = await admin.call('GET', `/devices?cursor=${next_cursor}`)
    expect([crossed.status, crossed.json.error]).toEqual([400, 'invalid_cursor'])
    expect((await admin.call('GET', '/devices?platform=ios')).status).toBe(400)
    expect((await stack.call('/v1/management/auth/devices', { token: person.token })).status).toBe(403)
  })

  it('revokes a device and answers it, and again the same', async () => {
    const person = await stack.signUp()
    const device = await enrolDevice(stack, person)
    const first = await admin.call('DELETE', `/devices/${device.id}`)
    const events = await eventsOf(person.id)
    const again = await admin.call('DELETE', `/devices/${device.id}`)
    expect([first.status, first.json.revoke_reason, again.json]).toEqual([200, 'revoked', first.json])
    expect((await callAsserted(stack, device, '/mine', { token: person.token })).json.device).toBeNull()
    expect((await admin.call('DELETE', '/devices/dev_none')).status).toBe(404)
    expect(events.map(([event]) => event)).toEqual(['device.enrolled', 'device.revoked'])
    expect(await eventsOf(person.id)).toEqual(events)
  })
})

describe('the setting device_apps', () => {
  it.each([
    ['none', []],
    ['both platforms under one key', [iosApp, androidApp]],
    [
      'every field',
      [
        { ...iosApp, categories: [2, 4] },
        { ...androidApp, levels: ['strongbox'], boot_keys: ['ab'.repeat(32)], accept_expired_factory_chains: true },
      ],
    ],
  ])('takes %s', async (_title, apps) => {
    expect((await settings(apps)).status).toBe(200)
  })

  it.each<[string, unknown]>([
    ['an object', {}],
    ['the same app twice', [iosApp, iosApp]],
    ['an unknown platform', [{ ...iosApp, platform: 'web' }]],
    ['an unknown field', [{ ...iosApp, bundle: 'x' }]],
    ['a field of the other platform', [{ ...iosApp, package_name: 'com.example.shop' }]],
    ['an app id without a team', [{ ...iosApp, app_ids: ['com.example.shop'] }]],
    ['no app id', [{ ...iosApp, app_ids: [] }]],
    ['a SHA-1', [{ ...androidApp, signing_certificates_sha256: ['ab'.repeat(20)] }]],
    ['a digest with colons', [{ ...androidApp, signing_certificates_sha256: ['AB:'.repeat(31).concat('AB')] }]],
    ['a level of software', [{ ...androidApp, levels: ['software'] }]],
    ['51 apps', Array.from({ length: 51 }, (_, index) => ({ ...iosApp, application_key: `app${index}` }))],
    ['a category that is text', [{ ...iosApp, categories: ['4'] }]],
    ['null', null],
  ])('refuses %s', async (_title, apps) => {
    const { status, json } = await settings(apps)
    expect([status, json.error]).toEqual([400, 'invalid_settings'])
  })
})

describe('a debug device', () => {
  it('needs the signature of its own key over the challenge', async () => {
    const { token, id } = await stack.signUp()
    const about = { platform: 'android', application_key: 'debug' }
    const { json } = await stack.call('/auth/devices/debug/challenge', { token, json: about })
    const proof = { public_key: b64u(pointOf(newPair())), signature: b64u(Buffer.from('3006020101020101', 'hex')) }
    const { status } = await stack.call('/auth/devices/debug', {
      token,
      json: { ...about, challenge: json.challenge, proof },
    })
    expect([status, await eventsOf(id)]).toEqual([422, [['device.refused', 'bad_signature']]])
  })

  it('cannot exist in a database of production, and goes with the row of its environment', async () => {
    const person = await stack.signUp()
    const device = await enrolDevice(stack, person)
    await stack.sql(`delete from stack.device_environments where environment = 'debug'`)
    try {
      expect(await stack.sql('select from auth.devices where id = $1', [device.id])).toEqual([])
      await expect(enrolDevice(stack, person)).rejects.toThrow('attestation_refused')
      const insert = `insert into auth.devices (id, user_id, platform, application_key, environment, key_id, public_key, key_storage)
        values ('dev_' || repeat('0', 26), $1, 'ios', 'x', 'debug', repeat('a', 43), repeat('a', 87), 'software')`
      await expect(stack.sql(insert, [person.id])).rejects.toMatchObject({ code: '23503' })
    } finally {
      await stack.sql(`insert into stack.device_environments values ('debug')`)
    }
  })

  it('is enrolled elsewhere with a token of 30 days at most, which is kept as a digest and audited', async () => {
    const issue = (days: unknown) => admin.call('POST', '/debug-device-tokens', { days, label: 'a pipeline' })
    for (const days of [0, 31, 1.5, '7']) expect((await issue(days)).status).toBe(400)
    const { status, json } = await issue(30)
    expect([status, json.token]).toEqual([201, expect.stringMatching(/^ddt_[A-Za-z0-9_-]{43}$/)])
    const rows = await stack.sql('select * from auth.debug_device_tokens')
    expect(JSON.stringify(rows)).not.toContain(json.token)
    expect((await admin.call('DELETE', `/debug-device-tokens/${json.id}`)).status).toBe(204)
    expect(await stack.sql('select from auth.debug_device_tokens')).toEqual([])
    expect((await eventsOf(json.id)).map(([event]) => event)).toEqual([
      'device.debug_token_issued',
      'device.debug_token_revoked',
    ])
    const late = `insert into auth.debug_device_tokens (id, digest, expires_at) values ('x', 'x', now() + interval '31 days')`
    await expect(stack.sql(late)).rejects.toMatchObject({ code: '23514' })
  })

  it('gets a sentence where the stack refuses', async () => {
    await expect(enrolDebugDevice({ baseUrl: stack.url, accessToken: 'a.b.c' })).rejects.toThrow('unauthorized')
    await expect(enrolDebugDevice({ baseUrl: `${stack.url}/elsewhere`, accessToken: 'a.b.c' })).rejects.toThrow(
      new DebugDeviceRefused(404, 'this stack has no debug devices'),
    )
  })
})

describe.runIf(attestationVectors)('attestations of real devices', () => {
  it.each(attestationVectors?.app_attest ?? [])('$name', async (vector) => {
    const { token } = await stack.signUp()
    const { app, challenge, attestation, now: at } = appleInputOf(vector)
    await settings([app])
    const recording = { challenge, at, attestation }
    const { status, json } = await enrolRecorded(token, 'ios', recording)
    expect([status, json.public_key]).toEqual([201, b64u(fromBase64(vector.public_key))])
    expect((await enrolRecorded(token, 'ios', { ...recording, at: Date.now() })).status).toBe(422)
  })

  it.each(attestationVectors?.key_attestation ?? [])('$name', async (vector) => {
    const { token, id } = await stack.signUp()
    const { app, challenge, certificates, now: at } = androidInputOf(vector)
    await settings([app])
    const { status } = await enrolRecorded(token, 'android', { challenge, at, certificates: [...certificates] })
    expect([status, (await eventsOf(id))[0]]).toEqual(
      vector.result === 'ok' ? [201, ['device.enrolled', null]] : [422, ['device.refused', vector.result]],
    )
  })
})
