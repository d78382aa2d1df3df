/** Fifty users at once in one isolate, and clients that leave before the answer (contract 2.4, 2.5, 5.1, 5.4). */
import { randomUUID } from 'node:crypto'
import net from 'node:net'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { connectionKinds, mostKept } from '../../support/connections.ts'
import { type Person, useStack } from '../../support/stack.ts'

/** Number of users. */
const people = 50
/** Number of requests: enough for a fault of one in a thousand to show. */
const requests = 10_000
/** Number of requests at a time, more than the pool has connections. */
const atOnce = 32

describe.each(connectionKinds)('$kind', ({ isKept, variables }) => {
  const probe = useStack('test/edge/probe', { ...variables, PROBE_SECRET: 'secret' })

  /** One of so many requests asks the database. The others run between its steps. */
  const asksDatabase = isKept ? 2 : 16
  const persons: Person[] = []

  beforeAll(async () => {
    await each(people, 4, async (index) => {
      persons[index] = await probe.signUp()
    })
    const ids = persons.map(({ id }) => id)
    await probe.sql(
      'insert into notes (owner, text) select id, id || n from unnest($1::text[]) id, generate_series(1, 3) n order by n',
      [ids],
    )
    await each(people / 2, 4, async (index) => {
      await probe.role('PUT', ids[index * 2]!, 'insider')
    })
  })

  /** Does the work for each number, with a number of workers that each take the next one when they are done. */
  async function each(count: number, workers: number, work: (index: number) => Promise<void>): Promise<void> {
    let next = 0
    const run = async () => {
      for (let index = next++; index < count; index = next++) await work(index)
    }
    await Promise.all(Array.from({ length: workers }, run))
  }

  /** @returns the connections of the backend worker, each with its state and its last statement. */
  const connections = () =>
    probe.sql<{ state: string; query: string }>(
      `select state, query from pg_stat_activity where usename in ('stack_backend', 'stack_backend_service')`,
    )

  /** Waits until no client holds a connection. Postgres checks once a second whether a client has gone. */
  const allHaveLeft = () =>
    vi.waitUntil(async () => (await connections()).every(({ state }) => isKept && state === 'idle'), {
      timeout: 25_000,
      interval: 50,
    })

  /** @returns the answer that a person must get: their own data and no others. */
  function expectedOf(number: number, requestId: string, nonce: string) {
    const { id, email } = persons[number]!
    return {
      user: {
        id,
        email,
        role: 'authenticated',
        emailVerified: false,
        metadata: {},
        roles: number % 2 === 0 ? ['insider'] : [],
        device: null,
      },
      id: requestId,
      notes: [1, 2, 3].map((n) => ({ owner: id, text: `${id}${n}`, uid: id, nonce })),
    }
  }

  it('10,000 interleaved requests of fifty people: each sees its own user, claims, rows and request, and logs under its own id', async () => {
    const ids = new Map<string, string>()
    const crossed: unknown[] = []
    await each(requests, atOnce, async (index) => {
      const isDatabase = index % asksDatabase === 0
      // Requests that follow each other are of different people.
      const number = (isDatabase ? index / asksDatabase : index) % people
      const { token } = persons[number]!
      const nonce = `${index}-${number}`
      const { status, headers, json } = await probe.call(`/mine${isDatabase ? '' : '/ambient'}?nonce=${nonce}`, {
        token,
      })
      const requestId = headers.get('x-request-id')!
      ids.set(requestId, nonce)
      const expected = isDatabase
        ? expectedOf(number, requestId, nonce)
        : { authorization: `Bearer ${token}`, id: requestId, nonce }
      if (status !== 200 || JSON.stringify(json) !== JSON.stringify(expected)) crossed.push({ status, json, expected })
    })
    expect(crossed).toEqual([])
    expect(ids.size).toBe(requests)
    const lines = () => probe.log.filter(({ message }) => message === 'somebody looked')
    await vi.waitUntil(() => lines().length === requests / asksDatabase, { timeout: 10_000 })
    expect(lines().filter(({ request_id, nonce }) => ids.get(request_id as string) !== nonce)).toEqual([])
    await allHaveLeft()
  }, 120_000)

  describe('people who leave', () => {
    /**
     * Sends a request and leaves before its answer. workerd notices a reset at once. After a plain close the client might
     * still read, so the handler goes on.
     */
    function leaver(text: string, seconds: number, number: number, how: 'reset' | 'close') {
      const { host, hostname, port } = new URL(probe.url)
      const lines = [
        `POST /mine/slow/${text}?seconds=${seconds} HTTP/1.1`,
        `host: ${host}`,
        `authorization: Bearer ${persons[number % people]!.token}`,
        'content-length: 0',
      ]
      const socket = net.connect(Number(port), hostname)
      socket.on('error', () => {})
      const sent = new Promise<void>((resolve) => {
        socket.once('connect', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`, () => resolve()))
      })
      return {
        sent,
        leave: () => (how === 'reset' ? socket.resetAndDestroy() : socket.destroy()),
        gone: new Promise((resolve) => socket.once('close', resolve)),
      }
    }
    const isServed = async () => {
      const answer = await probe.call('/mine?nonce=next', { token: persons[0]!.token })
      // Notes that the first person's ended requests have kept are in the answer too.
      const { user, id, notes } = expectedOf(0, answer.headers.get('x-request-id')!, 'next')
      expect(answer.json).toMatchObject({ user, id })
      expect(answer.json.notes.slice(0, 3)).toEqual(notes)
      expect(answer.json.notes.filter(({ owner }: { owner: string }) => owner !== user.id)).toEqual([])
    }
    const keptOf = async (text: string) =>
      (await probe.sql<{ text: string }>('select text from notes where text like $1', [`${text}%`])).map(
        (row) => row.text,
      )

    it('by a reset while their handlers wait for Postgres: nothing is kept, and no connection stays', async () => {
      const text = randomUUID()
      const leavers = Array.from({ length: 40 }, (_, index) => leaver(`${text}-${index}`, 9, index, 'reset'))
      await vi.waitUntil(
        async () =>
          (await connections()).filter(({ query }) => query.includes('pg_sleep')).length ===
          (isKept ? mostKept : leavers.length),
        { timeout: 8_000, interval: 20 },
      )
      for (const { leave } of leavers) leave()
      await isServed()
      await allHaveLeft()
      expect(await keptOf(text)).toEqual([])
    })

    it('a thousand after 20 ms, wherever their request is by then: each is kept whole or not at all', async () => {
      const text = randomUUID()
      const answered = () => probe.log.filter(({ path }) => String(path).startsWith(`/mine/slow/${text}`))
      for (let start = 0; start < 1000; start += 50) {
        await each(50, 50, async (index) => {
          const number = start + index
          const { sent, leave, gone } = leaver(`${text}-${number}-`, 0.1, number, number % 2 === 0 ? 'reset' : 'close')
          await sent
          setTimeout(leave, 20 + (index % 10))
          await gone
        })
        // Requests of clients that closed are answered all the same. More at once would exceed Postgres' connections.
        await vi.waitUntil(() => answered().length >= (start + 50) / 2, { timeout: 20_000, interval: 20 })
      }
      await isServed()
      await allHaveLeft()
      const kept = await keptOf(text)
      const ended = (which: string) => kept.filter((note) => note.endsWith(which)).map((note) => note.split(' ')[0])
      expect(ended('first').sort()).toEqual(ended('last').sort())
      // Every request whose client only closed its connection ran to its end.
      expect(kept.length).toBeGreaterThanOrEqual(1000)
      const stuck = await probe.sql(`select state from pg_stat_activity where state like 'idle in transaction%'`)
      expect(stuck).toEqual([])
      await isServed()
    }, 120_000)
  })
})
