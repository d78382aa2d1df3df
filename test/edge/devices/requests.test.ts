/** The header `Device-Assertion` of requests: what it proves, what it does not, and the gate that asks for it. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { DebugDevice } from '../../../cli/shared/debug-device.ts'
import { connectionKinds } from '../../support/connections.ts'
import { assertionOf, callAsserted, enrolDevice } from '../../support/devices.ts'
import { type Person, useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const now = () => Math.floor(Date.now() / 1000)
const nonce = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url')

describe.each(connectionKinds)('$kind', ({ variables }) => {
  const stack = useStack('test/edge/attested', variables)
  let owner: Person
  let device: DebugDevice
  let second: DebugDevice

  beforeAll(async () => {
    owner = await stack.signUp()
    device = await enrolDevice(stack, owner)
    second = await enrolDevice(stack, owner)
  })

  const reasonOf = async (requestId: string | null) => {
    const line = await stack.logged(
      (one) => one['request_id'] === requestId && one['message'] === 'the request has no attested device',
    )
    return line['reason']
  }

  it('gives the handler the device that has signed the request', async () => {
    const { json } = await callAsserted(stack, device, '/mine', { token: owner.token })
    expect(json.device).toEqual({
      id: device.id,
      platform: 'android',
      applicationKey: 'debug',
      environment: 'debug',
      keyStorage: 'software',
      attestedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      assertedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      facts: {},
    })
  })

  it('is null without the header, and the answer is the same', async () => {
    const { status, json } = await stack.call('/mine', { token: owner.token })
    expect([status, json]).toEqual([200, { device: null }])
  })

  it.each(
    titled([
      ['GET', '/mine/paged?q=%27a%20b', undefined],
      ['POST', '/mine', '{"a":1}'],
      ['PUT', '/mine', '{"ä":"ö"}'],
      ['PATCH', '/mine/raw', 'any bytes'],
      ['PATCH', '/mine/raw', ''],
      ['DELETE', '/mine/ord_1', undefined],
      ['HEAD', '/mine', undefined],
    ]),
  )('%s is covered whole', async (_title, method, path, body) => {
    const given = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }
    const signed = await callAsserted(stack, device, path, { method, token: owner.token, ...given })
    expect(signed.status).toBe(200)
    if (method !== 'HEAD') expect(signed.json.device?.id).toBe(device.id)
    const other = method === 'GET' ? 'POST' : 'GET'
    const crossed = await callAsserted(stack, device, path, {
      method,
      token: owner.token,
      ...given,
      signs: { method: other },
    })
    expect(crossed.status).toBe(200)
    if (method !== 'HEAD') expect(crossed.json.device).toBeNull()
    expect(await reasonOf(crossed.headers.get('x-request-id'))).toBe('bad_signature')
  })

  it.each([
    ['another path', () => ({ target: '/mine/other' }), 'bad_signature'],
    ['another query', () => ({ target: '/mine?a=1' }), 'bad_signature'],
    ['another body', () => ({ body: 'x' }), 'bad_signature'],
    ['another token', () => ({ accessToken: 'a.b.c' }), 'bad_signature'],
    ['a time 61 s ago', () => ({ time: now() - 61 }), 'stale'],
    ['a time 70 s ahead', () => ({ time: now() + 70 }), 'future'],
    ['a time 40 s ago', () => ({ time: now() - 40 }), undefined],
    ['a time 40 s ahead', () => ({ time: now() + 40 }), undefined],
  ])('%s', async (_title, signs, reason) => {
    const { status, json, headers } = await callAsserted(stack, device, '/mine', { token: owner.token, signs: signs() })
    expect(status).toBe(200)
    expect(json.device?.id).toBe(reason === undefined ? device.id : undefined)
    if (reason) expect(await reasonOf(headers.get('x-request-id'))).toBe(reason)
  })

  it.each(
    titled([
      ['twice', (value: string) => `${value}, ${value}`, 'malformed'],
      ['another version', (value: string) => value.replace('v=1', 'v=2'), 'malformed'],
      ['another nonce', (value: string) => value.replace(/n=[^,]+/, `n=${nonce()}`), 'bad_signature'],
      ['another time', (value: string) => value.replace(/t=\d+/, `t=${now() - 1}`), 'bad_signature'],
      ['a time with a zero before it', (value: string) => value.replace(/t=/, 't=0'), 'malformed'],
      ['the other form', (value: string) => value.replace('es256=', 'apple='), 'malformed'],
      ['padding', (value: string) => `${value}=`, 'malformed'],
      ['no blanks', (value: string) => value.replaceAll(', ', ','), 'malformed'],
      ['a part more', (value: string) => `${value}, x=1`, 'malformed'],
      ['too long', (value: string) => value + 'A'.repeat(1_200), 'malformed'],
      ['empty', () => '', 'malformed'],
      [
        'a key off the curve',
        (value: string) => value.replace(/k=[^,]+/, `k=${Buffer.alloc(65, 4).toString('base64url')}`),
        'bad_key',
      ],
      [
        'the key of another device',
        (value: string, other: DebugDevice) => value.replace(/k=[^,]+/, `k=${other.publicKey}`),
        'bad_signature',
      ],
      ['naughty', () => "v=1, k='; drop table auth.devices; --", 'malformed'],
    ]),
  )('a header with %s proves nothing', async (_title, _what, change, reason) => {
    const header = change(assertionOf(device, '/mine', { token: owner.token }), second)
    const { status, json, headers } = await stack.call('/mine', {
      token: owner.token,
      headers: { 'device-assertion': header },
    })
    expect([status, json]).toEqual([200, { device: null }])
    expect(await reasonOf(headers.get('x-request-id'))).toBe(reason)
  })

  it('is null for another user, another session’s token and a key that is not known', async () => {
    const other = await stack.signUp()
    const foreign = await callAsserted(stack, device, '/mine', { token: other.token })
    expect(foreign.json.device).toBeNull()
    expect(await reasonOf(foreign.headers.get('x-request-id'))).toBe('unknown_key')
    const again = await stack.call('/auth/sign-in/password', { json: { email: owner.email, password: owner.password } })
    const second = again.json.access_token as string
    const crossed = await callAsserted(stack, device, '/mine', { token: second, signs: { accessToken: owner.token } })
    expect(crossed.json.device).toBeNull()
    expect((await callAsserted(stack, device, '/mine', { token: second })).json.device.id).toBe(device.id)
  })

  // proxies rename hosts: the token stands for the environment
  it('holds under another name of the host', async () => {
    const url = new URL('/mine', stack.url)
    url.hostname = 'localhost'
    const header = assertionOf(device, '/mine', { token: owner.token })
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${owner.token}`, 'device-assertion': header, 'x-forwarded-host': 'a.example' },
    })
    expect(((await response.json()) as { device: { id: string } }).device.id).toBe(device.id)
  })

  it('is null without a valid token, and a guest has devices too', async () => {
    const anonymous = await callAsserted(stack, device, '/open', { token: 'a.b.c' })
    expect([anonymous.status, anonymous.json]).toEqual([200, { user: null }])
    const guest = (await stack.call('/auth/anonymous', { method: 'POST' })).json.access_token as string
    const own = await enrolDevice(stack, { token: guest })
    const { json } = await callAsserted(stack, own, '/open', { token: guest })
    expect(json.user).toMatchObject({ role: 'anon', device: { id: own.id } })
  })

  it('covers bodies of 1 MiB, and the handler gets a longer one whole', async () => {
    const body = new Uint8Array(1_048_576).fill(7)
    const whole = await callAsserted(stack, device, '/mine/large', { token: owner.token, body })
    expect([whole.json.device?.id, whole.json.length]).toEqual([device.id, body.length])
    const longer = new Uint8Array(1_048_577).fill(7)
    const over = await callAsserted(stack, device, '/mine/large', { token: owner.token, body: longer })
    expect([over.json.device, over.json.length]).toEqual([null, longer.length])
    expect(await reasonOf(over.headers.get('x-request-id'))).toBe('body_too_large')
  })

  it.each([
    [1_000_000, true],
    [2_000_000, false],
  ])('a chunked body of %i bytes reaches the handler whole', async (length, isCovered) => {
    const bytes = new Uint8Array(length).fill(3)
    const header = assertionOf(device, '/mine/large', { token: owner.token, body: bytes })
    const chunks = [bytes.subarray(0, 600_000), bytes.subarray(600_000)]
    const body = new ReadableStream({ pull: (to) => (chunks[0] ? to.enqueue(chunks.shift()) : to.close()) })
    const response = await fetch(`${stack.url}/mine/large`, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { authorization: `Bearer ${owner.token}`, 'device-assertion': header },
    } as RequestInit)
    const json = (await response.json()) as { device: { id: string } | null; length: number }
    expect([json.length, json.device?.id]).toEqual([length, isCovered ? device.id : undefined])
  })

  it('is null from the next request on where the device was revoked', async () => {
    const lost = await enrolDevice(stack, owner)
    expect((await callAsserted(stack, lost, '/mine', { token: owner.token })).json.device.id).toBe(lost.id)
    await stack.call(`/auth/devices/${lost.id}`, { method: 'DELETE', token: owner.token })
    const { json, headers } = await callAsserted(stack, lost, '/mine', { token: owner.token })
    expect(json.device).toBeNull()
    expect(await reasonOf(headers.get('x-request-id'))).toBe('revoked')
  })

  it('notes once a day that a device was seen', async () => {
    const seen = () =>
      stack.sql<{ age: number }>(
        'select extract(epoch from now() - last_seen_at)::float8 as age from auth.devices where id = $1',
        [device.id],
      )
    await stack.sql(`update auth.devices set last_seen_at = now() - interval '2 days' where id = $1`, [device.id])
    await callAsserted(stack, device, '/mine', { token: owner.token })
    await expect.poll(async () => (await seen())[0]!.age).toBeLessThan(3_600)
  })

  describe('the gate', () => {
    it('admits a signed request, and answers 403 to every other one', async () => {
      expect((await callAsserted(stack, device, '/gated', { token: owner.token })).status).toBe(200)
      for (const answer of [
        await stack.call('/gated', { token: owner.token }),
        await callAsserted(stack, device, '/gated', { token: owner.token, signs: { target: '/' } }),
        await callAsserted(stack, device, '/gated', { token: (await stack.signUp()).token }),
      ]) {
        expect([answer.status, answer.json.error]).toEqual([403, 'device_required'])
      }
      expect((await stack.call('/gated')).status).toBe(401)
      const without = await stack.call('/gated', { token: owner.token })
      expect(await reasonOf(without.headers.get('x-request-id'))).toBe('missing')
    })

    it('admits a copy within the minute, and with "once" it does not', async () => {
      const header = assertionOf(device, '/gated', { token: owner.token })
      const send = () => stack.call('/gated', { token: owner.token, headers: { 'device-assertion': header } })
      expect([(await send()).status, (await send()).status]).toEqual([200, 200])
      const json = { text: 'twice' }
      const once = assertionOf(device, '/gated/once', { token: owner.token, json })
      const sendOnce = () =>
        stack.call('/gated/once', { token: owner.token, json, headers: { 'device-assertion': once } })
      const [first, copy] = [await sendOnce(), await sendOnce()]
      expect([first.status, copy.status, copy.json.error]).toEqual([200, 403, 'device_required'])
      expect(await reasonOf(copy.headers.get('x-request-id'))).toBe('replayed')
    })

    it('calls one handler for forty copies at once', async () => {
      const json = { text: nonce(), waits: 0.2 }
      const header = assertionOf(device, '/gated/once', { token: owner.token, json })
      const send = () =>
        stack.call('/gated/once', { token: owner.token, json, headers: { 'device-assertion': header } })
      const answers = await Promise.all(Array.from({ length: 40 }, send))
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.every((status) => status === 200 || status === 403)).toBe(true)
      expect(await stack.sql('select from handled where text = $1', [json.text])).toHaveLength(1)
    })

    it('keeps the nonce of a route that uses no database', async () => {
      const header = assertionOf(device, '/gated/nothing', { method: 'POST', token: owner.token })
      const send = () =>
        stack.call('/gated/nothing', { method: 'POST', token: owner.token, headers: { 'device-assertion': header } })
      expect([(await send()).status, (await send()).status]).toEqual([200, 403])
    })

    it('lets a request be repeated whose handler has failed', async () => {
      const json = { text: nonce(), fails: true }
      const header = assertionOf(device, '/gated/once', { token: owner.token, json })
      const send = () =>
        stack.call('/gated/once', { token: owner.token, json, headers: { 'device-assertion': header } })
      expect([(await send()).status, (await send()).status]).toEqual([422, 422])
      expect(await stack.sql('select from handled where text = $1', [json.text])).toHaveLength(0)
    })

    it('serves thirty requests of one device at once, each with its own nonce', async () => {
      const send = (index: number) =>
        callAsserted(stack, device, '/gated/once', { token: owner.token, json: { text: `many ${index}` } })
      const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => send(index)))
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200))
    })
  })
})
