/** Deliveries over the management surface: lists, one delivery, what a page reads, and what the module may read (contract 9.12). */
import { createHmac } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DeliveryFilters, statementOf } from '../../../src/auth/deliveries/statement.ts'
import { stack } from '../../support/command.ts'
import { administer } from '../../support/management.ts'
import { scannedBy } from '../../support/plans.ts'
import { nowSeconds } from '../../support/senders.ts'
import { type Answer, useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)
const deliveries = '/v1/management/webhooks/deliveries'

const read = (address = '', options: object = {}) =>
  shop.call(`${deliveries}${address}`, { headers: { apikey: shop.stack.record.service_role_key }, ...options })

/** Every row of a list, page by page. */
async function pages(query: string): Promise<Answer['json'][]> {
  const rows: Answer['json'][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, json } = await read(`?${query}${cursor && `&cursor=${cursor}`}`)
    if (status !== 200) throw new Error(`the list answered ${status}: ${JSON.stringify(json)}`)
    rows.push(...json.data)
    cursor = json.next_cursor
  }
  return rows
}

async function deliver(payload: object) {
  const body = JSON.stringify(payload)
  const at = nowSeconds()
  const v1 = createHmac('sha256', 'payments-secret').update(`${at}.${body}`).digest('hex')
  const headers = { 'x-payments-signature': `t=${at},v1=${v1}`, 'x-other': 'kept' }
  const { headers: answered } = await shop.call('/webhooks/payments?from=test', { body, headers })
  return vi.waitUntil(async () => {
    const request = answered.get('x-request-id')
    const [row] = await shop.sql<{ id: string }>('select id from webhooks.deliveries where request_id = $1', [request])
    return row?.id
  })
}

/** @param body SQL of the bytes. */
async function plant(id: string, body: string): Promise<void> {
  await shop.sql(`insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, body, outcome, status, duration_ms)
    values ('${id}', 'planted', 'req_1', now(), '', '{}', ${body}, 'handled', 200, 1)`)
}

describe('a delivery', () => {
  it('is listed without what its sender has sent, and read with it', async () => {
    const payload = { type: 'payment.unknown', data: { name: 'Zoë' } }
    const id = await deliver(payload)
    const { status, json, headers } = await read('?limit=1')
    const record = {
      id,
      webhook: 'payments',
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      request_id: expect.stringMatching(/^req_/),
      event: 'payment.unknown',
      outcome: 'unhandled',
      reason: null,
      status: 200,
      duration_ms: expect.any(Number),
    }
    expect([status, headers.get('cache-control'), json.data]).toEqual([200, 'no-store', [record]])
    const one = await read(`/${id}`)
    expect(one.json).toEqual({
      ...record,
      search: '?from=test',
      headers: expect.objectContaining({ 'x-other': 'kept', 'x-payments-signature': '' }),
      body: {
        encoding: 'utf-8',
        content: JSON.stringify(payload),
        bytes: Buffer.byteLength(JSON.stringify(payload)),
        is_complete: true,
      },
    })
  })

  it('whose bytes are no text has base64, and a long one its first 262,144 bytes', async () => {
    await plant('dlv_bytes', `'\\x00ff80'`)
    await plant('dlv_long', `convert_to(repeat('€', 100000), 'UTF8')`)
    await plant('dlv_long_bytes', `decode(repeat('ff', 300000), 'hex')`)
    await plant('dlv_none', 'null')
    const body = async (id: string) => (await read(`/${id}`)).json.body
    expect(await body('dlv_bytes')).toEqual({ encoding: 'base64', content: 'AP+A', bytes: 3, is_complete: true })
    // 262,144 bytes end in the middle of a character of three bytes, which is left out
    expect(await body('dlv_long')).toEqual({
      encoding: 'utf-8',
      content: '€'.repeat(87_381),
      bytes: 300_000,
      is_complete: false,
    })
    const long = await body('dlv_long_bytes')
    expect([long.encoding, Buffer.from(long.content, 'base64').length, long.bytes]).toEqual([
      'base64',
      262_144,
      300_000,
    ])
    expect(await body('dlv_none')).toBe(null)
    await shop.sql(`delete from webhooks.deliveries where webhook = 'planted'`)
  })

  it.each(['dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV', 'x', '%00', "'", '..%2f'])(
    'that is not recorded is 404: %s',
    async (id) => {
      const { status, json } = await read(`/${id}`)
      expect([status, json.error]).toEqual(id === '%00' ? [400, 'invalid_request'] : [404, 'delivery_not_found'])
    },
  )
})

describe('the list', () => {
  const outcomes = ['handled', 'unhandled', 'duplicate', 'handshake', 'failed', 'refused']

  beforeAll(async () => {
    await shop.sql('delete from webhooks.deliveries')
    await shop.sql(`insert into webhooks.deliveries (id, webhook, request_id, received_at, search, headers, outcome, status, duration_ms)
      select 'dlv_' || lpad(n::text, 26, '0'), case when n <= 400 then 'rare' when n % 2 = 0 then 'even' else 'odd' end, 'req_1',
        timestamptz '2026-01-01 00:00:00.123456Z' + make_interval(secs => n / 3), '', '{}',
        (array['handled', 'unhandled', 'duplicate', 'handshake', 'failed', 'refused'])[case when n <= 600 then 1 + n % 6 else 1 end], 200, 1
      from generate_series(1, 30000) n`)
    await shop.sql('analyze webhooks.deliveries')
  })

  it('has the newest first, pages without gap or repetition where many have one time, and both filters', async () => {
    const ids = (await pages('webhook=rare&limit=37')).map(({ id }) => id)
    expect(ids).toHaveLength(400)
    expect(ids).toEqual([...ids].sort().reverse())
    expect((await pages('webhook=rare&outcome=failed&limit=9')).every(({ outcome }) => outcome === 'failed')).toBe(true)
    expect(await pages('outcome=refused&limit=50')).toHaveLength(100)
    expect(await pages('webhook=none')).toEqual([])
    expect((await read('')).json.data).toHaveLength(50)
  })

  it.each([
    ['limit=0', 'invalid_limit'],
    ['limit=501', 'invalid_limit'],
    ['outcome=ok', 'invalid_request'],
    ['outcom=failed', 'unknown_parameter'],
    ['cursor=x', 'invalid_cursor'],
  ])('refuses %s', async (query, error) => {
    expect((await read(`?${query}`)).json).toMatchObject({ error, status: 400 })
  })

  it('takes a cursor of the same filters alone', async () => {
    const { next_cursor: cursor } = (await read('?webhook=even&limit=5')).json
    expect((await read(`?webhook=even&limit=9&cursor=${cursor}`)).json.data).toHaveLength(9)
    for (const query of ['', 'webhook=odd&', 'webhook=even&outcome=handled&']) {
      expect((await read(`?${query}cursor=${cursor}`)).json.error).toBe('invalid_cursor')
    }
  })

  it('is for those who administer the stack: an operator, and no other token', async () => {
    const operator = await admin.operator()
    const { token } = await shop.signUp()
    const ask = async (options: object) => (await read('', { headers: {}, ...options })).status
    expect([await ask({ token: operator.token }), await ask({ token }), await ask({})]).toEqual([200, 403, 401])
    expect((await shop.call(`${deliveries}/dlv_1`)).status).toBe(401)
    expect((await read('', { method: 'DELETE' })).status).toBe(405)
  })

  it.each<[string, Partial<DeliveryFilters>, string]>([
    ['no filter', {}, 'deliveries_newest'],
    ['a webhook that is old', { webhook: 'rare' }, 'deliveries_of_webhook'],
    ['a frequent webhook', { webhook: 'even' }, 'deliveries_of_webhook'],
    ['an outcome that is old', { outcome: 'failed' }, 'deliveries_of_outcome'],
    ['a frequent outcome', { outcome: 'handled' }, 'deliveries_of_outcome'],
    ['both', { webhook: 'rare', outcome: 'refused' }, 'deliveries_of_both'],
    ['both, which no row has', { webhook: 'even', outcome: 'refused' }, 'deliveries_of_both'],
  ])('with %s reads its own rows and one more, of an index, also deep in the list', async (_what, filters, index) => {
    for (const after of [undefined, ['2026-01-01T00:01:00.123456Z', `dlv_${'181'.padStart(26, '0')}`]]) {
      const statement = statementOf({ webhook: undefined, outcome: undefined, ...filters }, { limit: 50, after })
      const { rows, names } = await scannedBy(shop.sql, statement, 'deliveries')
      expect([...new Set(names)]).toEqual([index])
      expect(rows).toBeLessThanOrEqual(51)
    }
  })

  it('of outcomes is whole', async () => {
    const [row] = await shop.sql<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'deliveries_outcome_check'`,
    )
    for (const outcome of outcomes) expect([outcome, row!.text.includes(`'${outcome}'`)]).toEqual([outcome, true])
    expect(row!.text.match(/'/g)).toHaveLength(outcomes.length * 2)
  })
})

describe('the module', () => {
  it('may read deliveries, and nothing else of the schema', async () => {
    const [row] = await shop.sql(`select has_table_privilege('auth_admin', 'webhooks.deliveries', 'select') as reads,
      has_table_privilege('auth_admin', 'webhooks.deliveries', 'insert, update, delete, truncate, references, trigger') as writes,
      has_any_column_privilege('auth_admin', 'webhooks.deliveries', 'insert, update, references') as columns,
      has_table_privilege('auth_admin', 'webhooks.seen', 'select, insert, update, delete') as seen,
      has_schema_privilege('auth_admin', 'webhooks', 'create') as creates`)
    expect(row).toEqual({ reads: true, writes: false, columns: false, seen: false, creates: false })
  })

  it('lists nothing where the database has no such table', async () => {
    await shop.sql('alter table webhooks.deliveries rename to elsewhere')
    expect((await read('')).json).toEqual({ data: [], has_more: false, next_cursor: null })
    expect((await read('/dlv_1')).json.error).toBe('delivery_not_found')
    await shop.sql('alter table webhooks.elsewhere rename to deliveries')
  })
})

describe('stack webhooks deliveries --env', () => {
  const file = () => path.join(shop.root, 'stack/project.json')
  let project: string

  beforeAll(() => {
    project = fs.readFileSync(file(), 'utf8')
    const environments = { staging: { ref: 'abcdefghm', url: shop.url } }
    fs.writeFileSync(file(), JSON.stringify({ ...JSON.parse(project), environments }))
  })
  afterAll(() => fs.writeFileSync(file(), project))

  const run = (...args: string[]) =>
    stack(['webhooks', 'deliveries', ...args], {
      cwd: shop.root,
      env: { STACK_SERVICE_ROLE_KEY: shop.stack.record.service_role_key },
    })

  it('prints what the local list prints, after the name of the environment', async () => {
    const local = await run('--limit', '3')
    const remote = await run('--limit', '3', '--env', 'staging')
    expect([remote.code, remote.stdout]).toEqual([0, ''])
    const [name, ...lines] = remote.stderr.split('\n')
    expect(name).toMatch(/\/staging$/)
    expect(lines.join('\n')).toBe(local.stderr)
    const json = await run('rare', '--outcome', 'failed', '--json', '--env', 'staging')
    expect(JSON.parse(json.stdout).data).toHaveLength(20)
    expect(JSON.parse(json.stdout).data[0]).toMatchObject({ webhook: 'rare', outcome: 'failed' })
  })

  it('has the same JSON as the local list', async () => {
    const flags = ['--outcome', 'failed', '--limit', '7', '--json']
    expect((await run(...flags, '--env', 'staging')).stdout).toBe((await run(...flags)).stdout)
  })

  it('says that nothing is recorded, and what the stack refuses', async () => {
    const none = await run('nothing', '--outcome', 'failed', '--env', 'staging')
    expect([none.code, none.stderr]).toEqual([
      0,
      expect.stringMatching(/no delivery of nothing with the outcome failed is recorded in \S+\/staging\n$/),
    ])
    const refused = await stack(['webhooks', 'deliveries', '--env', 'staging'], {
      cwd: shop.root,
      env: { STACK_SERVICE_ROLE_KEY: 'srk_wrong' },
    })
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('unauthorized: ')])
    expect((await run('--env', 'nowhere')).code).toBe(3)
  })
})
