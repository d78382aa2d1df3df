/** Request bodies are bounded in size and time, and are read before a transaction opens (contract 2.11). */
import { describe, expect, it } from 'vitest'
import { openRequest, sendRaw } from '../../support/raw.ts'
import { useStack } from '../../support/stack.ts'

/** Idle time in milliseconds after which a transaction loses its connection: short, so that the test is. */
const idleMs = 1_500
const probe = useStack('test/edge/probe', { STACK_IDLE_MS: String(idleMs) })

/** Bytes in one MiB. */
const mebibyte = 1_048_576
const json = ['content-type', 'application/json'] as const
/** @returns JSON of exactly this many bytes. */
const jsonOf = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`)

interface Sent {
  target: string
  bytes: number
  token?: string
  /** Sends the body in chunks, without a stated length. */
  isChunked?: boolean
}

async function post({ target, bytes, token, isChunked }: Sent) {
  const authorization = token === undefined ? [] : [['authorization', `Bearer ${token}`] as const]
  const { status, text } = await sendRaw({
    url: probe.url,
    target,
    headers: [json, ...authorization],
    body: jsonOf(bytes),
    ...(isChunked ? { chunk: 16_384 } : {}),
  })
  return [status, status < 400 ? JSON.parse(text) : JSON.parse(text).error]
}

const connections = (login = 'stack%') =>
  probe.sql(`select state from pg_stat_activity where usename like $1 and state like 'idle in transaction%'`, [login])

describe.each([{ isChunked: false }, { isChunked: true }])('the longest body, chunked: $isChunked', ({ isChunked }) => {
  it.each([
    ['/bodies/default', mebibyte],
    ['/bodies/small', 100],
    ['/bodies/streamed', mebibyte],
    ['/bodies/streamed-small', 100],
  ])('%s takes %i bytes, and one more is 413', async (target, most) => {
    expect(await post({ target, bytes: most, isChunked })).toEqual([expect.any(Number), most])
    expect(await post({ target, bytes: most + 1, isChunked })).toEqual([413, 'payload_too_large'])
  })

  it('a controller says it for its routes, and a route for itself', async () => {
    const { id, token } = await probe.signUp()
    const target = '/bodies/limited/inherited'
    expect(await post({ target, bytes: 200, token, isChunked })).toEqual([200, { length: 200, user: id }])
    expect(await post({ target, bytes: 201, token, isChunked })).toEqual([413, 'payload_too_large'])
    expect(await post({ target: '/bodies/limited/own', bytes: 101, token, isChunked })).toEqual([
      413,
      'payload_too_large',
    ])
  })

  it('the auth module takes 64 KiB, its vault 512 KiB', async () => {
    const signUp = (bytes: number) => post({ target: '/auth/sign-up', bytes, isChunked })
    expect((await signUp(65_536))[0]).toBe(400)
    expect(await signUp(65_537)).toEqual([413, 'payload_too_large'])
    const put = async (bytes: number) => {
      const headers = [json, ['apikey', probe.stack.record.service_role_key] as const]
      const chunk = isChunked ? { chunk: 16_384 } : {}
      const target = '/admin/vault/backend/LONG'
      return (await sendRaw({ url: probe.url, method: 'PUT', target, headers, body: jsonOf(bytes), ...chunk })).status
    }
    expect([await put(524_288), await put(524_289)]).toEqual([400, 413])
  })
})

describe('4.1 the order of refusals', () => {
  it('claims come before the body, grants after it, what the body says after both', async () => {
    const { id, token } = await probe.signUp()
    const target = '/bodies/limited/staff'
    expect(await post({ target, bytes: 1_000 })).toEqual([401, 'unauthorized'])
    expect(await post({ target, bytes: 1_000, token })).toEqual([413, 'payload_too_large'])
    expect(await post({ target, bytes: 100, token })).toEqual([403, 'forbidden'])
    const malformed = () => probe.call(target, { token, body: '{', headers: { 'content-type': 'application/json' } })
    expect((await malformed()).status).toBe(403)
    await probe.role('PUT', id, 'insider')
    expect((await malformed()).status).toBe(400)
    expect(await post({ target, bytes: 100, token })).toEqual([200, 'staff'])
  })
})

describe('@Req()', () => {
  it('beside @Body() has the same bytes once more', async () => {
    const text = '{ "a": [1, 2] }'
    const answer = await probe.call('/bodies/both', { body: text, headers: { 'content-type': 'application/json' } })
    expect(answer.json).toEqual({ body: { a: [1, 2] }, text })
  })

  it('a stream that is too long fails, and a handler may catch that', async () => {
    const caught = (bytes: number) => post({ target: '/bodies/caught', bytes, isChunked: true })
    expect(await caught(100)).toEqual([200, 'read'])
    expect(await caught(101)).toEqual([200, 'the body may have 100 bytes'])
  })

  it('a route that takes no body does not wait for one', async () => {
    const { answer, leave } = openRequest({ url: probe.url, target: '/bodies/neither', headers: [], length: 1_000_000 })
    expect((await answer).status).toBe(200)
    leave()
  })
})

describe('a client that stalls', () => {
  /** The backend has one login, and the auth worker, which may still be at work on a sign-up, has others. */
  const waiting = () => connections('stack_backend')

  it('is 408 after 30 s, and holds no connection of the database meanwhile', async () => {
    const { token } = await probe.signUp()
    const headers = [json, ['authorization', `Bearer ${token}`] as const]
    const target = '/bodies/limited/inherited'
    const stalled = [
      openRequest({ url: probe.url, target, headers, length: 100 }),
      openRequest({ url: probe.url, target, headers }),
      openRequest({ url: probe.url, target: '/auth/sign-up', headers: [json], length: 100 }),
      openRequest({ url: probe.url, target: '/bodies/default', headers: [json], length: mebibyte }),
    ]
    for (const { write } of [stalled[0]!, stalled[2]!, stalled[3]!]) write('"')
    stalled[1]!.write('1\r\n"\r\n')
    const answers = Promise.all(stalled.map(({ answer }) => answer))
    const looks: unknown[] = []
    for (let seconds = 0; seconds < 5; seconds++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      looks.push(...(await connections()))
    }
    expect(looks).toEqual([])
    expect((await answers).map(({ status, text }) => [status, JSON.parse(text).error])).toEqual(
      stalled.map(() => [408, 'request_timeout']),
    )
  })

  it('5.7 inside a handler loses the transaction after the idle limit, and nothing of it is kept', async () => {
    const { id, token } = await probe.signUp()
    const headers = [['authorization', `Bearer ${token}`] as const]
    const request = openRequest({ url: probe.url, target: '/bodies/waiting', headers, length: 10 })
    await expect.poll(waiting, { timeout: 5_000 }).toHaveLength(1)
    await expect.poll(waiting, { timeout: idleMs + 3_000 }).toEqual([])
    request.write('0123456789')
    expect((await request.answer).status).toBeGreaterThanOrEqual(500)
    expect(await probe.sql('select text from notes where owner = $1', [id])).toEqual([])
  })

  it('that goes on in time is served', async () => {
    const { id, token } = await probe.signUp()
    const headers = [['authorization', `Bearer ${token}`] as const]
    const request = openRequest({ url: probe.url, target: '/bodies/waiting', headers, length: 10 })
    await expect.poll(waiting, { timeout: 5_000 }).toHaveLength(1)
    request.write('0123456789')
    expect((await request.answer).status).toBe(204)
    expect(await probe.sql('select text from notes where owner = $1', [id])).toEqual([{ text: `${id} waits` }])
  })
})
