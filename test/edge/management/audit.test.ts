/** The audit trail over the management surface: filters, pages, what a page reads, and that nobody changes an entry (contract 9.4, 9.16). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AuditFilters, statementOf } from '../../../src/auth/audit/statement.ts'
import { batched } from '../../support/batched.ts'
import { administer, naughtyStrings } from '../../support/management.ts'
import { scannedBy } from '../../support/plans.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)
const list = (query: string) => admin.pages(`/audit?${query}`)
const one = async (query: string) => (await admin.call('GET', `/audit?${query}`)).json

/** The id of a moment: Crockford's base 32 of the milliseconds, then `rest`. */
function idAt(milliseconds: number, rest: string): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  let time = ''
  for (let left = milliseconds, n = 0; n < 10; n++, left = Math.floor(left / 32)) time = alphabet[left % 32] + time
  return `aud_${time}${rest.padStart(16, '0')}`
}

interface Planted {
  event_type?: string
  outcome?: string
  actor_id?: string | null
  target_id?: string | null
  ip?: string | null
  at?: number
}

/** Entries of a past day, a millisecond apart. @param entry what the entry of a number is. */
async function plant(count: number, entry: (n: number) => Planted): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, n) => {
    const {
      at = 1_700_000_000_000 + n,
      event_type = 'user.signed_in',
      outcome = 'success',
      actor_id = null,
      target_id = null,
      ip = null,
    } = entry(n)
    return {
      id: idAt(at, String(n)),
      occurred_at: new Date(at).toISOString(),
      event_type,
      outcome,
      actor_id,
      target_id,
      ip,
    }
  })
  await shop.sql(
    `insert into stack.audit (id, occurred_at, event_type, outcome, actor_type, actor_id, target_type, target_id, ip)
    select id, occurred_at, event_type, outcome, 'user', actor_id, case when target_id is not null then 'user' end, target_id, ip
    from json_to_recordset($1) as planted (id text, occurred_at timestamptz, event_type text, outcome text, actor_id text, target_id text, ip inet)`,
    [JSON.stringify(rows)],
  )
  return rows.map(({ id }) => id)
}

const forget = () => shop.sql(`delete from stack.audit where id < 'aud_01J'`)
beforeEach(() => shop.sql('delete from auth.rate_limits'))

describe('an entry', () => {
  it('tells what happened, to what, who did it, from where, and what was changed', async () => {
    const { id, token } = await admin.operator()
    const headers = { apikey: '', 'cf-connecting-ip': '203.0.113.20', 'user-agent': 'a tool' }
    const changed = await admin.call('PUT', '/settings', { site_name: 'Shop' }, { token, headers })
    const { data } = await one(`actor_id=${id}&event_type=settings.updated`)
    const [{ email }] = (await shop.sql<{ email: string }>('select email from auth.users where id = $1', [id])) as [
      { email: string },
    ]
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^aud_[0-9A-HJKMNP-TV-Z]{26}$/),
        occurred_at: expect.stringMatching(/Z$/),
        event_type: 'settings.updated',
        outcome: 'success',
        reason: null,
        actor: { type: 'operator', id, label: email },
        target: { type: 'settings', id: 'settings' },
        session_id: null,
        request_id: changed.headers.get('x-request-id'),
        ip: '203.0.113.20',
        user_agent: 'a tool',
        changes: [{ path: 'site_name', from: null, to: 'Shop' }],
        details: {},
      },
    ])
    await admin.call('PUT', '/settings', {})
  })

  it('of an account that hits its limit is written once, not for each attempt', async () => {
    const { id, email } = await shop.signUp()
    for (let n = 0; n < 12; n++)
      await shop.call('/auth/sign-in/password', { json: { email, password: 'wrong password' } })
    const { data } = await one(`target_id=${id}&event_type=user.locked`)
    expect(data).toMatchObject([{ outcome: 'failure', reason: 'sign_in_per_account', actor: { type: 'system' } }])
    expect((await one(`target_id=${id}&event_type=user.sign_in_failed`)).data).toHaveLength(5)
    await shop.sql('delete from auth.rate_limits')
  })
})

describe('a filter', () => {
  beforeEach(forget)
  it('takes types separated by commas, and a whole kind', async () => {
    await plant(60, (n) => ({
      event_type: ['session.revoked', 'session.revoked_all', 'user.deleted'][n % 3]!,
      target_id: 'usr_filter',
    }))
    const types = async (event_type: string) => {
      const entries = await list(`target_id=usr_filter&limit=7&event_type=${event_type}`)
      return [entries.length, [...new Set(entries.map((entry) => entry.event_type))].sort()]
    }
    expect(await types('session.*')).toEqual([40, ['session.revoked', 'session.revoked_all']])
    expect(await types('user.deleted,session.revoked')).toEqual([40, ['session.revoked', 'user.deleted']])
    expect(await types('user.deleted,user.*')).toEqual([20, ['user.deleted']])
    expect(await types('session')).toEqual([0, []])
    expect(await types('')).toEqual([0, []])
    expect(await types('nothing.*')).toEqual([0, []])
    const merged = (await list('event_type=session.*,user.deleted&limit=7&to=2024-01-01T00:00:00Z')).map(({ id }) => id)
    expect(merged).toEqual([...merged].sort().reverse())
    expect(merged).toHaveLength(60)
  })

  it('takes actor, target, outcome and address, alone and together', async () => {
    await plant(64, (n) => ({
      actor_id: n % 2 ? 'usr_actor' : null,
      target_id: n % 4 < 2 ? 'usr_target' : 'usr_other',
      outcome: n % 8 < 4 ? 'success' : 'failure',
      ip: n % 16 < 8 ? '2001:db8::7' : '203.0.113.7',
    }))
    const until = 'to=2024-01-01T00:00:00Z&limit=5'
    const count = async (query: string) => (await list(`${until}&${query}`)).length
    expect(await count('actor_id=usr_actor')).toBe(32)
    expect(await count('target_id=usr_target')).toBe(32)
    expect(await count('outcome=failure')).toBe(32)
    expect(await count('outcome=success')).toBe(32)
    expect(await count('ip=2001:0db8::0007')).toBe(32)
    expect(await count('ip=203.0.113.7&outcome=failure')).toBe(16)
    expect(
      await count('actor_id=usr_actor&target_id=usr_target&outcome=failure&ip=203.0.113.7&event_type=user.*'),
    ).toBe(4)
    expect(await count('actor_id=usr_actor&event_type=session.*')).toBe(0)
  })

  it('takes times: the first counts, the last does not', async () => {
    const ids = await plant(10, (n) => ({ at: Date.UTC(2024, 4, 1) + n * 1_000, target_id: 'usr_time' }))
    const between = async (from: string, to: string) =>
      (await list(`target_id=usr_time&from=${from}&to=${to}`)).map(({ id }) => ids.indexOf(id))
    expect(await between('2024-05-01T00:00:02Z', '2024-05-01T00:00:05Z')).toEqual([4, 3, 2])
    expect(await between('2024-05-01T00:00:02.001Z', '2024-05-01T00:00:04.001Z')).toEqual([4, 3])
    expect(await between('2024-05-01T02:00:08%2B02:00', '2024-05-02T00:00:00Z')).toEqual([9, 8])
    expect(await between('2024-05-01T00:00:05Z', '2024-05-01T00:00:02Z')).toEqual([])
  })

  it.each([
    'outcome=ok',
    'outcome=',
    'ip=localhost',
    'from=yesterday',
    'from=2026-01-01',
    'from=2026-02-30T00:00:00Z',
    'from=1969-12-31T23:59:59Z',
    'to=2026-01-01T00:00:00',
    'to=2026-01-01 00:00:00Z',
    `event_type=${Array.from({ length: 101 }, (_, n) => `a.b${n}`).join()}`,
  ])('refuses %.40s', async (query) => {
    expect(await one(query)).toMatchObject({
      error: 'invalid_request',
      status: 400,
      fields: [{ path: query.split('=')[0] }],
    })
  })

  it('that is misspelt is refused, and does not give everything', async () => {
    expect(await one('event_typ=user.deleted')).toMatchObject({ error: 'unknown_parameter', status: 400 })
  })
})

describe('pages', () => {
  beforeEach(forget)
  it('are whole and without repetition while entries are added', async () => {
    const ids = await plant(130, () => ({ target_id: 'usr_pages' }))
    let late = 0
    const listed = (
      await admin.pages('/audit?target_id=usr_pages&limit=20', () =>
        plant(3, () => ({ target_id: 'usr_pages', at: 1_705_000_000_000 + late++ })),
      )
    ).map(({ id }) => id)
    expect(new Set(listed).size).toBe(listed.length)
    expect(ids.filter((id) => !listed.includes(id))).toEqual([])
    expect((await one('target_id=usr_pages')).data).toHaveLength(50)
    expect((await one('target_id=usr_pages&limit=500')).data).toHaveLength(130 + late)
  })

  it('continue with the same filters alone, however they are written', async () => {
    await plant(20, (n) => ({ target_id: 'usr_pages', event_type: n % 2 ? 'user.deleted' : 'user.created' }))
    const first = await one('target_id=usr_pages&event_type=user.deleted,user.created&limit=5')
    const cursor = first.next_cursor
    expect(
      (await one(`limit=3&cursor=${cursor}&event_type=user.deleted,user.created&target_id=usr_pages`)).data,
    ).toHaveLength(3)
    for (const query of [
      `cursor=${cursor}`,
      `cursor=${cursor}&target_id=usr_pages`,
      `cursor=${cursor}&target_id=usr_pages&event_type=user.deleted`,
      `cursor=${cursor}&target_id=usr_pages&event_type=user.deleted,user.created&outcome=success`,
      `cursor=${cursor}&target_id=usr_pages&event_type=user.deleted,user.created&from=2020-01-01T00:00:00Z`,
      `cursor=${cursor}x&target_id=usr_pages&event_type=user.deleted,user.created`,
    ]) {
      expect([query, (await one(query)).error]).toEqual([query, 'invalid_cursor'])
    }
  })

  it.each(['0', '501', 'x', '', '-5'])('refuse the limit %s', async (limit) => {
    expect(await one(`limit=${limit}`)).toMatchObject({ error: 'invalid_limit', status: 400 })
  })
})

describe('what a page reads', () => {
  afterAll(forget)
  /** 30,000 entries in which what is sought is rare, old, or both: an index of the time alone would read most of them. */
  beforeAll(async () => {
    await shop.sql(`insert into stack.audit (id, occurred_at, event_type, outcome, actor_type, actor_id, target_type, target_id, ip)
      select 'aud_01H' || lpad(n::text, 23, '0'), now(), case when n < 400 then 'session.revoked' when n < 800 then 'session.revoked_all' else 'user.signed_in' end,
        case when n < 20000 then 'success' else 'failure' end, 'user', 'usr_' || case when n < 300 then 'old' else 'busy' end, 'user',
        'usr_' || case when n < 300 then 'old' else 'busy' end, case when n < 300 then '203.0.113.1' else '203.0.113.2' end::inet
      from generate_series(1, 30000) n`)
    await shop.sql('analyze stack.audit')
  })

  async function planOf(filters: AuditFilters, after?: string) {
    const page = { limit: 50, after: after === undefined ? undefined : [after] }
    return scannedBy(shop.sql, statementOf(filters, page), 'audit')
  }

  const middle = `aud_01H${'200'.padStart(23, '0')}`
  it.each<[string, AuditFilters, string, number]>([
    ['no filter', {}, 'audit_pkey', 51],
    ['an event', { event_type: ['session.revoked'] }, 'audit_type', 51],
    ['a kind of events', { event_type: ['session.revoked', 'session.revoked_all'] }, 'audit_type', 102],
    ['an actor', { actor_id: 'usr_old' }, 'audit_actor', 51],
    ['a target', { target_id: 'usr_old' }, 'audit_target', 51],
    ['a frequent target', { target_id: 'usr_busy' }, 'audit_target', 51],
    ['an address', { ip: '203.0.113.1' }, 'audit_ip', 51],
    ['an outcome that is frequent and old', { outcome: 'success' }, 'audit_outcome', 51],
    ['an outcome that is new', { outcome: 'failure' }, 'audit_outcome', 51],
    ['a span of time', { from: new Date(0), to: new Date('2024-01-01T00:00:00Z') }, 'audit_pkey', 51],
  ])(
    'with %s is its own rows and one more, of an index, also deep in the list',
    async (_what, filters, index, most) => {
      for (const after of [undefined, middle]) {
        const { rows, names } = await planOf(filters, after)
        expect([...new Set(names)]).toEqual([index])
        expect(rows).toBeLessThanOrEqual(most)
      }
    },
  )

  it('with several filters is bounded: a page that has read 10,000 entries ends, and the next one goes on', async () => {
    expect((await planOf({ target_id: 'usr_busy', outcome: 'success' })).rows).toBeLessThanOrEqual(10_000)
    const first = await one('target_id=usr_busy&event_type=session.*&to=2024-01-01T00:00:00Z')
    expect([first.data, first.has_more]).toEqual([[], true])
    const all = await list('target_id=usr_busy&event_type=session.*&to=2024-01-01T00:00:00Z&limit=500')
    expect(all).toHaveLength(500)
  })
})

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  const at = (text: string) => encodeURIComponent(text.toWellFormed())
  it.each(['limit', 'cursor', 'event_type', 'actor_id', 'target_id', 'outcome', 'ip', 'from', 'to'])(
    'as %s answer no 5xx',
    async (name) => {
      const failed = await batched(
        naughtyStrings.map((text, index) => [`#${index}`, text] as const),
        async (text) => {
          const { status } = await admin.call('GET', `/audit?${name}=${at(text)}`)
          return status >= 500 ? `answered ${status}` : undefined
        },
      )
      expect(failed).toEqual([])
    },
  )
})
