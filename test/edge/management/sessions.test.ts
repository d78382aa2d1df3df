/** Sessions of all users over the management surface: listed by page and filter, and ended (contract 9). */
import { afterEach, describe, expect, it } from 'vitest'
import { batched } from '../../support/batched.ts'
import { administer, naughtyStrings } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)
const password = 'correct horse battery'
const signIn = (email: string, headers: Record<string, string> = {}) =>
  shop.call('/auth/sign-in/password', { json: { email, password }, headers })
const sessionsOf = (id: string) =>
  shop.sql<{ id: string }>('select id from auth.sessions where user_id = $1 order by id', [id])
const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

/** Rows of sessions of one user, as they would be after a long time. */
const plant = (userId: string, mark: string, count: number, more = 'null, null') =>
  shop.sql(
    `insert into auth.sessions (id, user_id, created_at, expires_at, ended_at, end_reason)
    select 'ses_' || $2 || n, $1, now() - n * interval '1 s' / 3, now() + interval '1 day', ${more} from generate_series(1, ${count}) n`,
    [userId, mark],
  )

afterEach(() => shop.sql('delete from auth.rate_limits'))

describe('the list', () => {
  it('shows a session with its device, and no more of it than its owner may know', async () => {
    const { id, email } = await shop.signUp()
    await shop.sql('delete from auth.sessions where user_id = $1', [id])
    await signIn(email, { 'user-agent': phone, 'cf-connecting-ip': '203.0.113.4', 'cf-ipcountry': 'DE' })
    const { json } = await admin.call('GET', `/sessions?user_id=${id}`)
    expect(json).toEqual({ data: [expect.anything()], has_more: false, next_cursor: null })
    expect(json.data[0]).toEqual({
      id: expect.stringMatching(/^ses_/),
      user_id: id,
      email,
      status: 'active',
      created_at: expect.stringMatching(/Z$/),
      last_used_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      ended_at: null,
      end_reason: null,
      aal: 'aal1',
      amr: ['pwd'],
      auth_time: expect.stringMatching(/Z$/),
      provider: null,
      client_key: null,
      platform: null,
      application_key: null,
      ip: '203.0.113.4',
      country: 'DE',
      user_agent: phone,
      device: { os: 'iOS 17.5', browser: 'Safari 17.5', label: 'Safari on iOS' },
    })
  })

  it.each([
    ['', { os: null, browser: null, label: null }],
    ['curl/8.5.0', { os: null, browser: 'curl 8.5.0', label: 'curl' }],
    ['\u{fffd}(((((', { os: null, browser: null, label: null }],
    ['x'.repeat(600), { os: null, browser: null, label: null }],
  ])('takes the user agent %.20s', async (agent, device) => {
    const { id, email } = await shop.signUp()
    await shop.sql('delete from auth.sessions where user_id = $1', [id])
    await shop.sql(
      `insert into auth.sessions (id, user_id, expires_at, user_agent) values ($1, $2, now() + interval '1 day', left($3, 512))`,
      [`ses_${id.slice(4)}`, id, agent],
    )
    const [session] = (await admin.call('GET', `/sessions?user_id=${id}`)).json.data
    expect([session.email, session.device]).toEqual([email, device])
  })

  it('shows owners the device of their own sessions too', async () => {
    const { email } = await shop.signUp()
    const { access_token } = (await signIn(email, { 'user-agent': phone })).json
    const { data } = (await shop.call('/auth/sessions', { token: access_token })).json
    const own = data.find(({ is_current }: { is_current: boolean }) => is_current)
    expect(own.device.label).toBe('Safari on iOS')
  })

  it('tells active sessions from ended and expired ones, by user and address', async () => {
    const { id, email } = await shop.signUp()
    const { id: other } = await shop.signUp()
    await signIn(email, { 'cf-connecting-ip': '2001:db8::1' })
    const [first, second] = await sessionsOf(id)
    await shop.sql(
      `insert into auth.sessions (id, user_id, created_at, expires_at) values ($1, $2, now() - interval '31 days', now() - interval '1 day')`,
      [`ses_expired${id.slice(4)}`, id],
    )
    await admin.call('DELETE', `/sessions/${first!.id}`)
    const ids = async (query: string) => (await admin.pages(`/sessions?limit=500&${query}`)).map((one) => one.id)
    expect(await ids(`user_id=${id}`)).toEqual([second!.id])
    expect(await ids(`user_id=${id}&status=active`)).toEqual([second!.id])
    expect(await ids(`user_id=${id}&status=ended`)).toEqual([first!.id])
    expect(await ids(`user_id=${id}&status=expired`)).toEqual([`ses_expired${id.slice(4)}`])
    expect(await ids('ip=2001:DB8:0::1')).toEqual([second!.id])
    expect(await ids(`ip=2001:db8::1&user_id=${other}`)).toEqual([])
    expect(await ids('user_id=usr_unknown')).toEqual([])
    const expired = (await admin.call('GET', `/sessions?user_id=${id}&status=expired`)).json.data[0]
    expect(expired.status).toBe('expired')
  })

  it.each(['status=all', 'status=', 'ip=203.0.113', 'ip=', 'ip=::1::2'])('refuses %s', async (query) => {
    expect((await admin.call('GET', `/sessions?${query}`)).json).toMatchObject({
      error: 'invalid_request',
      status: 400,
    })
  })

  it.each(['0', '501', '-1', '1.5', 'x', '', '1e2', '0x10', ' 5', '00', '9'.repeat(30)])(
    'refuses the limit %s',
    async (limit) => {
      expect((await admin.call('GET', `/sessions?limit=${limit}`)).json).toMatchObject({
        error: 'invalid_limit',
        status: 400,
      })
    },
  )

  it('is whole and without repetition while sessions begin, with 50 in a page and 500 at most', async () => {
    const { id, email } = await shop.signUp()
    await plant(id, 'p', 123)
    const before = (await sessionsOf(id)).map((one) => one.id)
    expect((await admin.call('GET', `/sessions?user_id=${id}`)).json.data).toHaveLength(50)
    expect((await admin.call('GET', `/sessions?user_id=${id}&limit=500`)).json.data).toHaveLength(124)
    const listed = await admin.pages(`/sessions?user_id=${id}&limit=10`, () =>
      signIn(email).then(() => shop.sql('delete from auth.rate_limits')),
    )
    const ids = listed.map((one) => one.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(before.filter((one) => !ids.includes(one))).toEqual([])
    const times = listed.map(({ created_at }) => Date.parse(created_at))
    expect(times).toEqual([...times].sort((one, other) => other - one))
  })

  it('orders sessions of one moment by their ids', async () => {
    const { id } = await shop.signUp()
    await shop.sql(
      `insert into auth.sessions (id, user_id, created_at, expires_at) select 'ses_same' || n, $1, timestamptz '2026-01-01 00:00:00.123456Z',
        now() + interval '1 day' from generate_series(1, 40) n`,
      [id],
    )
    const ids = (await admin.pages(`/sessions?user_id=${id}&limit=7`)).map((one) => one.id)
    expect([ids.length, new Set(ids).size]).toEqual([41, 41])
  })

  it('reads an index in its order', async () => {
    const { id } = await shop.signUp()
    await plant(id, 'many', 20_000)
    await plant(id, 'ended', 5_000, `now(), 'revoked'`)
    await shop.sql('analyze auth.sessions')
    const plan = async (where: string, order = 'created_at') =>
      JSON.stringify(
        await shop.sql(`explain (format json) select sessions.id from auth.sessions join auth.users on users.id = user_id
          where ${where} order by sessions.${order} desc, sessions.id desc limit 51`),
      )
    const plans = {
      sessions_live: await plan('ended_at is null and expires_at > now()'),
      sessions_ended: await plan('ended_at is not null'),
      sessions_expiry: await plan('ended_at is null and expires_at <= now()', 'expires_at'),
      sessions_ip: await plan(`ended_at is null and expires_at > now() and ip = '203.0.113.1'`),
    }
    for (const [index, text] of Object.entries(plans)) {
      expect([index, text.includes(index), text.includes('"Sort"')]).toEqual([index, true, false])
    }
    await shop.sql('delete from auth.sessions where user_id = $1', [id])
  })
})

describe('a cursor', () => {
  it('continues its own list with its own filters, and survives plain concatenation', async () => {
    const { id } = await shop.signUp()
    await plant(id, 'c', 5)
    const { next_cursor } = (await admin.call('GET', `/sessions?user_id=${id}&limit=2`)).json
    expect(next_cursor).toMatch(/^[A-Za-z0-9_-]+$/)
    const with_ = async (query: string) => (await admin.call('GET', query)).json
    expect((await with_(`/sessions?user_id=${id}&limit=3&cursor=${next_cursor}`)).data).toHaveLength(3)
    expect((await with_(`/sessions?user_id=${id}&status=active&cursor=${next_cursor}`)).data.length).toBeGreaterThan(0)
    for (const query of [
      `/sessions?cursor=${next_cursor}`,
      `/sessions?user_id=${id}x&cursor=${next_cursor}`,
      `/sessions?user_id=${id}&status=ended&cursor=${next_cursor}`,
      `/sessions?user_id=${id}&ip=203.0.113.1&cursor=${next_cursor}`,
      `/users?cursor=${next_cursor}`,
      `/audit?cursor=${next_cursor}`,
    ]) {
      expect([query, (await with_(query)).error]).toEqual([query, 'invalid_cursor'])
    }
  })

  it('that was changed or made up does not open', async () => {
    const { id } = await shop.signUp()
    await plant(id, 'd', 5)
    const cursor: string = (await admin.call('GET', `/sessions?user_id=${id}&limit=2`)).json.next_cursor
    const flipped = (at: number) => {
      const index = at < 0 ? cursor.length + at : at
      const other = cursor[index] === 'A' ? 'B' : 'A'
      return cursor.slice(0, index) + other + cursor.slice(index + 1)
    }
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const lastBits = cursor.slice(0, -1) + alphabet[alphabet.indexOf(cursor.at(-1)!) ^ 1]
    const forged = [
      '',
      'A',
      'null',
      cursor.slice(1),
      cursor.slice(0, -1),
      cursor.slice(0, 16),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}%3D`,
      `%20${cursor}`,
      `${cursor}${cursor}`,
      cursor.toUpperCase(),
      cursor.split('').reverse().join(''),
      flipped(0),
      flipped(20),
      flipped(-1),
      flipped(-20),
      lastBits,
      Buffer.from(JSON.stringify(['2026-01-01T00:00:00.000000Z', 'ses_1'])).toString('base64url'),
      'A'.repeat(64),
      'A'.repeat(5_000),
      "'--",
    ]
    const wrong = []
    for (const one of forged) {
      const { status, json } = await admin.call('GET', `/sessions?user_id=${id}&limit=2&cursor=${one}`)
      if (status !== 400 || json.error !== 'invalid_cursor') wrong.push([one, status, json.error])
    }
    expect(wrong).toEqual([])
    expect((await admin.call('GET', `/sessions?user_id=${id}&limit=2&cursor=${cursor}`)).status).toBe(200)
  })
})

describe('the end of a session', () => {
  it('is answered alike the second time, takes effect on the next request, and has one entry', async () => {
    const person = await shop.signUp()
    const [session] = await sessionsOf(person.id)
    const end = () => admin.call('DELETE', `/sessions/${session!.id}`)
    const ended = await end()
    expect([ended.status, ended.json]).toMatchObject([
      200,
      { id: session!.id, status: 'ended', end_reason: 'revoked', ended_at: expect.stringMatching(/Z$/) },
    ])
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await shop.call('/auth/token/refresh', { json: { refresh_token: person.refreshToken } })).status).toBe(401)
    const again = await Promise.all(Array.from({ length: 50 }, end))
    expect(new Set(again.map(({ text }) => text))).toEqual(new Set([ended.text]))
    const entries = (await admin.entries(person.id)).filter(({ event_type }) => event_type === 'session.revoked')
    expect(entries.map(({ actor_type, session_id }) => [actor_type, session_id])).toEqual([['service', session!.id]])
  })

  it('does not find what is no session', async () => {
    const person = await shop.signUp()
    const [session] = await sessionsOf(person.id)
    await admin.call('DELETE', `/users/${person.id}`)
    for (const id of ['ses_unknown', 'usr_1', session!.id, '%00', 'x'.repeat(300)]) {
      const { status, json } = await admin.call('DELETE', `/sessions/${id}`)
      expect([id, status === 400 ? 'invalid_request' : json.error]).toEqual([
        id,
        id === '%00' ? 'invalid_request' : 'session_not_found',
      ])
    }
  })

  it('of all sessions of a user counts those that lived', async () => {
    const person = await shop.signUp()
    const other = await shop.signUp()
    await signIn(person.email)
    const end = () => admin.call('POST', `/users/${person.id}/sessions/revoke-all`)
    expect((await end()).json).toEqual({ user_id: person.id, ended: 2 })
    expect((await end()).json).toEqual({ user_id: person.id, ended: 0 })
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await shop.call('/orders', { token: other.token })).status).toBe(200)
    const entries = (await admin.entries(person.id)).filter(({ event_type }) => event_type === 'session.revoked_all')
    expect(entries.map(({ details }) => (details as { ended: number }).ended)).toEqual([2])
  })

  it('of many users ends a thousand in a call, and says whether there are more', async () => {
    const [one, other, third] = [await shop.signUp(), await shop.signUp(), await shop.signUp()]
    await plant(one.id, 'bulk', 1_200)
    const end = (user_ids: unknown) => admin.call('POST', '/sessions/revoke', { user_ids })
    expect((await end([one.id, other.id, 'usr_unknown'])).json).toEqual({ processed: 1_000, more: true })
    expect((await end([one.id, other.id])).json).toEqual({ processed: 202, more: false })
    expect((await end([one.id, other.id])).json).toEqual({ processed: 0, more: false })
    expect((await shop.call('/orders', { token: other.token })).status).toBe(401)
    expect((await shop.call('/orders', { token: third.token })).status).toBe(200)
    for (const wrong of [[], 'usr_1', [1], Array(101).fill('usr_1'), ['x'.repeat(81)], null, [null]]) {
      expect((await end(wrong)).json).toMatchObject({ error: 'invalid_request', status: 400 })
    }
    expect((await admin.call('POST', '/sessions/revoke', { user_ids: ['usr_1'], all: true })).status).toBe(400)
  })

  it('of fifty calls at once for the same users ends each session once', async () => {
    const people = [await shop.signUp(), await shop.signUp(), await shop.signUp()]
    for (const [index, { id }] of people.entries()) await plant(id, `r${index}x`, 30)
    const ids = people.map(({ id }) => id)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        admin.call('POST', '/sessions/revoke', { user_ids: n % 2 ? ids : [...ids].reverse() }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.reduce((sum, { json }) => sum + json.processed, 0)).toBe(93)
  })
})

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  const at = (text: string) => encodeURIComponent(text.toWellFormed())
  const places: Record<string, (text: string) => [string, string, unknown?]> = {
    user_id: (text) => ['GET', `/sessions?user_id=${at(text)}`],
    'status and address': (text) => ['GET', `/sessions?ip=${at(text)}`],
    cursor: (text) => ['GET', `/sessions?cursor=${at(text)}`],
    'the name of a parameter': (text) => ['GET', `/sessions?${at(text)}=1`],
    'the id of a session': (text) => ['DELETE', `/sessions/${at(text)}`],
    'the id of a user': (text) => ['POST', `/users/${at(text)}/sessions/revoke-all`],
    'ids of users': (text) => ['POST', '/sessions/revoke', { user_ids: [text, text] }],
  }
  it.each(Object.keys(places))('as %s answer no 5xx', async (place) => {
    const failed = await batched(
      naughtyStrings.map((text, index) => [`#${index}`, text] as const),
      async (text) => {
        const { status } = await admin.call(...places[place]!(text))
        return status >= 500 ? `answered ${status}` : undefined
      },
    )
    expect(failed).toEqual([])
  })
})
