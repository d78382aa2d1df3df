/** 9.9 the vault: written by whoever administers the stack, read by the backend worker alone. */
import { createHmac, randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { nowSeconds } from '../../support/senders.ts'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'bound', BOUND: 'by the binding' })

const vault = (method: string, name = '', json?: unknown, headers: Record<string, string> = {}) =>
  probe.call(`/admin/vault/backend${name && `/${name}`}`, {
    method,
    ...(json === undefined ? {} : { json }),
    headers: { apikey: probe.stack.record.service_role_key, ...headers },
  })
const put = (name: string, value: unknown) => vault('PUT', name, { value })
const read = async (name: string) => (await probe.call(`/secrets/${name}`)).json
const everywhere = (value: string | null) => ({ secret: value, process: value, env: value, early: null })

/** A mirror may be five seconds old. */
const becomes = (name: string, value: string | null) =>
  vi.waitUntil(async () => (await read(name)).secret === value, { timeout: 10_000, interval: 100 })

describe('a secret of the vault', () => {
  it('is read within five seconds, by whatever name a handler has for its environment; so is another, and its end', async () => {
    const [first, second] = [randomUUID(), `ä\n"${randomUUID()}`]
    expect([(await put('ROTATED_KEY', first)).status, (await put('VAULT_EARLY', 'late')).status]).toEqual([204, 204])
    await becomes('ROTATED_KEY', first)
    // what is read at module scope is a binding or nothing
    expect(await read('ROTATED_KEY')).toEqual(everywhere(first))
    await put('ROTATED_KEY', second)
    await becomes('ROTATED_KEY', second)
    expect(await read('ROTATED_KEY')).toEqual(everywhere(second))
    expect((await vault('DELETE', 'ROTATED_KEY')).status).toBe(204)
    await becomes('ROTATED_KEY', null)
    expect(await read('ROTATED_KEY')).toEqual(everywhere(null))
  })

  it('is what was stored to the last bit: the longest one in any script, a byte order mark', async () => {
    const [widest, marked] = ['€'.repeat(65_536), '\ufeffvalue']
    expect([(await put('WIDEST', widest)).status, (await put('MARKED', marked)).status]).toEqual([204, 204])
    await becomes('MARKED', marked)
    expect((await read('WIDEST')).secret === widest).toBe(true)
  })

  it('gives way to a binding of its name, and leaves it when it goes', async () => {
    await put('BOUND', 'by the vault')
    await put('MARKER_ONE', 'there')
    await becomes('MARKER_ONE', 'there')
    expect(await read('BOUND')).toEqual({ ...everywhere('by the binding') })
    await vault('DELETE', 'BOUND')
    await vault('DELETE', 'MARKER_ONE')
    await becomes('MARKER_ONE', null)
    expect(await read('BOUND')).toEqual(everywhere('by the binding'))
  })

  it('opens a webhook that had none', async () => {
    const body = '{"type":"a"}'
    const send = () => {
      const at = String(nowSeconds())
      const signature = createHmac('sha256', 'from the vault').update(`${at}.${body}`).digest('hex')
      return probe.call('/webhooks/unset', { body, headers: { 'x-payments-signature': `t=${at},v1=${signature}` } })
    }
    expect((await send()).status).toBe(401)
    await put('UNSET_SECRET', 'from the vault')
    await vi.waitUntil(async () => (await send()).status === 200, { timeout: 10_000, interval: 100 })
  })
})

describe('its routes', () => {
  it('list names and times, never values', async () => {
    const value = randomUUID()
    await put('LISTED', value)
    const { status, json, text } = await vault('GET')
    const entry = json.data.find(({ name }: { name: string }) => name === 'LISTED')
    expect([status, Object.keys(entry).sort(), text.includes(value)]).toEqual([
      200,
      ['created_at', 'name', 'updated_at'],
      false,
    ])
    expect([json.has_more, json.next_cursor, entry.created_at]).toEqual([false, null, expect.stringMatching(/Z$/)])
    await put('LISTED', 'another')
    const again = (await vault('GET')).json.data.find(({ name }: { name: string }) => name === 'LISTED')
    expect([again.created_at, again.updated_at > entry.updated_at]).toEqual([entry.created_at, true])
  })

  it('DELETE of what is not there is 204', async () => {
    expect((await vault('DELETE', 'NEVER_THERE')).status).toBe(204)
  })

  it.each(['GET', 'PUT', 'DELETE'])('%s is for the service-role key alone', async (method) => {
    const { token } = await probe.signUp()
    const path = `/admin/vault/backend${method === 'GET' ? '' : '/GUARDED'}`
    const json = method === 'PUT' ? { json: { value: 'x' } } : {}
    const ask = async (options: object) => (await probe.call(path, { method, ...json, ...options })).status
    expect(await ask({})).toBe(401)
    expect(await ask({ headers: { apikey: probe.stack.record.publishable_key } })).toBe(401)
    expect(await ask({ headers: { apikey: probe.stack.record.service_role_key, dpop: 'x' } })).toBe(401)
    expect(await ask({ token })).toBe(403)
    expect((await vault('GET')).text).not.toContain('GUARDED')
  })

  it.each(
    titled<[string, unknown]>([
      ['1ST', 'x'],
      ['A-B', 'x'],
      ['__proto__', 'x'],
      ['hasOwnProperty', 'x'],
      ['a%20b', 'x'],
      ['A'.repeat(129), 'x'],
      ['AUTH_JWKS', 'x'],
      ['STACK_POOL', 'x'],
      ['database_url', 'x'],
      ['SERVICE_ROLE_KEY', 'x'],
      ['EMPTY', ''],
      ['NUMBER', 5],
      ['NOTHING', null],
      ['LONG', 'x'.repeat(65_537)],
    ]),
  )('refuse %s', async (_title, name, value) => {
    const { status, json } = await put(name, value)
    expect([status, json.error, json.fields.length]).toEqual([400, 'invalid_secret', 1])
  })

  it.each(['a\0b', '\ud800'])('refuse a value that no variable can hold: %j', async (value) => {
    const { status, json } = await put('HELD', value)
    expect([status, json.error, json.fields]).toEqual([
      400,
      'invalid_request',
      [{ path: 'value', reason: expect.any(String) }],
    ])
  })

  it.each(['whsec_bm90LWEtcmVhbA', 'sk_live_canary', 'a3f5'.repeat(10)])(
    'refuse the name %s, which looks like a value, without repeating it; it can be removed',
    async (name) => {
      const { status, json, text } = await put(name, 'x')
      expect([status, json.error, text.includes(name)]).toEqual([400, 'invalid_secret', false])
      await probe.sql(`insert into auth.vault_entries (name, sealed) values ($1, 'x')`, [name])
      expect((await vault('DELETE', name)).status).toBe(204)
      expect(await probe.sql('select 1 from auth.vault_entries where name = $1', [name])).toEqual([])
    },
  )

  it('refuse a body that is another, and a parameter that nobody knows', async () => {
    for (const body of [[], 'x', { value: 'x', ttl: 5 }, {}]) {
      expect((await vault('PUT', 'BODY', body)).json.error).toBe('invalid_secret')
    }
    const headers = { apikey: probe.stack.record.service_role_key }
    const send = (type: Record<string, string>) =>
      probe.call('/admin/vault/backend/BODY', { method: 'PUT', body: '{"value":', headers: { ...headers, ...type } })
    expect((await send({ 'content-type': 'application/json' })).json.error).toBe('invalid_request')
    expect((await send({})).json).toMatchObject({ error: 'unsupported_media_type', status: 415 })
    expect((await probe.call('/admin/vault/backend?name=BODY', { headers })).json.error).toBe('unknown_parameter')
    expect((await put('LONGEST', 'x'.repeat(65_536))).status).toBe(204)
  })

  it('refuse what the vault has no room for, and keep what is there', async () => {
    const value = '€'.repeat(65_536) // sealed, a quarter of a mebibyte
    const statuses = await Promise.all(Array.from({ length: 36 }, (_, index) => put(`LARGE_${index}`, value)))
    expect(statuses.filter(({ status }) => status === 409).map(({ json }) => json.error)).toContain('vault_full')
    const { data } = (await vault('GET')).json
    const stored = data.filter(({ name }: { name: string }) => name.startsWith('LARGE_'))
    expect(stored.length).toBe(statuses.filter(({ status }) => status === 204).length)
    await Promise.all(stored.map(({ name }: { name: string }) => vault('DELETE', name)))
    expect((await put('SMALL', 'x')).status).toBe(204)
  })

  it('there is no route that reads a value, and no method of the mirror is one', async () => {
    const headers = { apikey: probe.stack.record.service_role_key }
    expect((await probe.call('/admin/vault/backend/LISTED', { headers })).status).toBe(405)
    for (const path of ['/admin/vault/mirrorSecrets', '/admin/vault/backend/mirrorSecrets/x', '/auth/mirrorSecrets']) {
      expect([path, (await probe.call(path, { headers })).status]).toEqual([path, 404])
    }
  })
})

it('values are sealed at rest, for their own name: no role of a request reads them, and one moved elsewhere does not open', async () => {
  const value = `CANARY_${randomUUID()}`
  await put('SEALED', value)
  const [row] = await probe.sql<{ sealed: string }>(`select sealed from auth.vault_entries where name = 'SEALED'`)
  expect(Buffer.from(row!.sealed, 'base64').includes(value)).toBe(false)
  const { token } = await probe.signUp()
  for (const as of ['caller', 'service']) {
    const text = 'select * from auth.vault_entries'
    expect((await probe.call(`/sql/${as}`, { token, json: [{ text }] })).status).toBe(500)
  }
  await probe.sql(
    `insert into auth.vault_entries (name, sealed) select 'MOVED', sealed from auth.vault_entries where name = 'SEALED'`,
  )
  await put('MARKER_TWO', 'there')
  await becomes('MARKER_TWO', 'there')
  expect([(await read('MOVED')).secret, (await read('SEALED')).secret]).toEqual([null, value])
  await probe.logged(({ message, name }) => message === 'a secret of the vault cannot be opened' && name === 'MOVED')
  // and none of it is in the log
  expect(JSON.stringify(probe.log)).not.toContain(value)
})
