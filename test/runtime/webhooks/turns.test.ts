/** 7.7 which of equal deliveries is handled. Two transactions of a real Postgres meet in every order. */
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStore } from '../../../runtime/webhooks/store.ts'
import { useMigratedPostgres } from '../../support/migrated-postgres.ts'

const { sql, connect } = useMigratedPostgres()
const webhook = 'once'
/** The connections of two deliveries. */
let one: pg.Client
let other: pg.Client
let count = 0
let id: string

async function begin(): Promise<pg.Client> {
  const client = await connect('stack_backend_service')
  await client.query('set role backend_service_role')
  return client
}

beforeAll(async () => {
  one = await begin()
  other = await begin()
})
beforeEach(() => {
  id = `id:evt_${count++}`
})

const turnOf = (client: pg.Client, own = id) =>
  createStore().claimTurn(
    {
      query: async <T>(text: string, values: readonly unknown[] = []) =>
        (await client.query(text, [...values])).rows as T[],
    },
    webhook,
    own,
  )

/** Claims a turn in a transaction, while another one that has claimed its own is open. */
async function turnBeside(own: string, end: 'commit' | 'rollback' = 'rollback') {
  await one.query('begin')
  const first = await turnOf(one)
  const turn = await turnOf(other, own)
  await one.query(end)
  return [first, turn]
}

describe('of two deliveries, the second', () => {
  it('is busy while the first of its id is handled, and never waits', async () => {
    expect(await turnBeside(id)).toEqual(['first', 'busy'])
  })

  it('of another id is handled at once', async () => {
    expect(await turnBeside(`${id}-2`)).toEqual(['first', 'first'])
  })

  it.each([
    ['commit', 'copy'],
    ['rollback', 'first'],
  ] as const)('after a %s of the first is %s', async (end, turn) => {
    await turnBeside(id, end)
    expect(await turnOf(other)).toBe(turn)
  })

  // A statement reads as of its start, so it misses a delivery that is committed before it tries the lock. The test holds the row
  // without the lock, which is what such a statement meets.
  it.each([
    ['commit', 'copy'],
    ['rollback', 'first'],
  ] as const)('that has not seen the first one, whose transaction ends with %s, is %s', async (end, turn) => {
    await one.query('begin')
    await one.query('insert into webhooks.seen (webhook, id) values ($1, $2)', [webhook, id])
    const claimed = turnOf(other)
    await vi.waitUntil(async () => (await sql('select from pg_locks where not granted')).length > 0, {
      timeout: 20_000,
    })
    await one.query(end)
    expect(await claimed).toBe(turn)
  })
})
