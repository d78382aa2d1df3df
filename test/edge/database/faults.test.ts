/** The connection between worker and database fails at each phase of a request (contract 2.4, 4.1, 5.6). */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keysAt } from '../../../local/keys.ts'
import { connectionKinds } from '../../support/connections.ts'
import { type Fault, FaultProxy } from '../../support/fault-proxy.ts'
import { type Answer, type Person, useStack } from '../../support/stack.ts'

describe.each(connectionKinds)('$kind', ({ isKept, variables }) => {
  const upstreamPort = () => Number(new URL(probe.stack.record.database_url).port)
  const caller = new FaultProxy(upstreamPort)
  const service = new FaultProxy(upstreamPort)

  const probe = useStack('test/edge/probe', async (root) => {
    const { passwords } = keysAt(path.join(root, '.stack/keys.json'))
    const url = (login: 'stack_backend' | 'stack_backend_service', { port }: FaultProxy) =>
      `postgresql://${login}:${encodeURIComponent(passwords[login])}@127.0.0.1:${port}/postgres?sslmode=disable`
    return {
      ...variables,
      PROBE_SECRET: 'secret',
      DATABASE_URL: url('stack_backend', await caller.listen()),
      DATABASE_SERVICE_URL: url('stack_backend_service', await service.listen()),
    }
  })

  /** Closes the pool's connections, so that the next request opens a new one. */
  const cutKept = () => {
    caller.cutKept()
    service.cutKept()
  }

  let person: Person

  beforeAll(async () => {
    person = await probe.signUp()
    await probe.role('PUT', person.id, 'insider')
  })

  afterAll(() => Promise.all([caller.close(), service.close()]))

  /** @param handler the name of a handler of the guarded controller. */
  const post = (handler: 'note' | 'swallow' | 'both', text: string) =>
    probe.call(`/guarded/${handler}/${text}`, { method: 'POST', token: person.token })

  const notes = async (like: string) =>
    (await probe.sql<{ text: string }>('select text from notes where text like $1 order by text', [`${like}%`])).map(
      ({ text }) => text,
    )

  /** @returns the error line of a request. Every line that its handler logged has arrived before it. */
  const errorOf = ({ json }: Answer) =>
    probe.logged(({ request_id, level }) => request_id === json.request_id && level === 'error')

  const handlerRan = (text: string) =>
    probe.log.some((line) => line['message'] === 'the guarded handler runs' && line['text'] === text)

  /** Expects that the next request is served, and that the row it wrote is in the database. */
  async function isServed() {
    const text = randomUUID()
    expect((await post('note', text)).json).toBe(text)
    expect(await notes(text)).toEqual([text])
  }

  async function isUnavailable(answer: Answer) {
    expect(answer.json).toEqual({
      error: 'unavailable',
      error_description: expect.any(String),
      status: 503,
      request_id: answer.headers.get('x-request-id'),
    })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(await errorOf(answer)).toMatchObject({ message: 'the database is unavailable' })
  }

  /** Expects the answer to an unknown outcome: an error that does not invite a retry, and a log line with the command. */
  async function isUnknown(answer: Answer) {
    expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
    expect(await errorOf(answer)).toMatchObject({ error: 'Error: COMMIT failed' })
  }

  describe('5.6 before the gate is read: 503, and the handler does not run', () => {
    it('the connection is refused', async () => {
      const text = randomUUID()
      await caller.close()
      const answer = await post('note', text)
      await caller.listen()
      await isUnavailable(answer)
      expect([handlerRan(text), await notes(text)]).toEqual([false, []])
      await isServed()
    })

    it('2.4 nor is what nobody awaits taken for done', async () => {
      const text = randomUUID()
      const unawaited = () => probe.call(`/sql/unawaited/${text}`, { method: 'POST', token: person.token })
      await caller.close()
      const answer = await unawaited()
      await caller.listen()
      await isUnavailable(answer)
      expect([(await unawaited()).status, await notes(text)]).toEqual([200, [text]])
    })

    it.each<Omit<Fault, 'how'>>([
      { at: 'start-up', when: 'before' },
      { at: 'start-up', when: 'after' },
      { at: 'password', when: 'before' },
      { at: 'password', when: 'after' },
      { at: 'bind', when: 'before' },
      { at: 'bind', when: 'after' },
    ])('it is cut at $at, $when', async (moment) => {
      const text = randomUUID()
      cutKept()
      const struck = caller.next({ ...moment, how: 'cut' })
      const answer = await post('note', text)
      await struck
      await isUnavailable(answer)
      expect([handlerRan(text), await notes(text)]).toEqual([false, []])
      await isServed()
    })

    it('4.1 the handler waits for the gate, however long that takes and whoever is served meanwhile', async () => {
      const text = randomUUID()
      const struck = caller.next({ at: 'bind', when: 'after', how: 'hold' })
      const answer = post('note', text)
      const { release } = await struck
      for (let i = 0; i < 2; i++) await isServed()
      expect(handlerRan(text)).toBe(false)
      release()
      expect((await answer).json).toBe(text)
      expect(await notes(text)).toEqual([text])
      await probe.logged((line) => line['text'] === text)
    })

    it('2.4 what needs no database is answered without one, and asks for no connection', async () => {
      await Promise.all([caller.close(), service.close()])
      const before = [caller.connections, service.connections]
      const open = await probe.call('/gates/not-required')
      const refused = await probe.call('/guarded/note/x', { method: 'POST' })
      const signedIn = await probe.call('/gates/object', { token: person.token })
      await Promise.all([caller.listen(), service.listen()])
      expect([open.status, refused.status, signedIn.status]).toEqual([200, 401, 200])
      expect([caller.connections, service.connections]).toEqual(before)
      await isServed()
    })
  })

  describe('5.6 in the handler: 503, and nothing is kept', () => {
    it.each<Fault['when']>(['before', 'after'])('its statement is cut, %s Postgres runs it', async (when) => {
      const text = randomUUID()
      const struck = caller.next({ at: 'statement', when, how: 'cut' })
      const answer = await post('note', text)
      await struck
      await isUnavailable(answer)
      expect([handlerRan(text), await notes(text)]).toEqual([true, []])
      await isServed()
    })

    it('2.4 a handler that swallows it has not succeeded', async () => {
      const text = randomUUID()
      const struck = caller.next({ at: 'statement', when: 'after', how: 'cut' })
      const answer = await post('swallow', text)
      await struck
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
      await errorOf(answer)
      expect([handlerRan(text), await notes(text)]).toEqual([true, []])
      await isServed()
    })

    it('the service’s connection is lost: the caller’s work is not kept either', async () => {
      const text = randomUUID()
      const struck = service.next({ at: 'statement', when: 'after', how: 'cut' })
      const answer = await post('both', text)
      await struck
      await isUnavailable(answer)
      expect([handlerRan(text), await notes(text)]).toEqual([true, []])
      await isServed()
    })
  })

  describe('2.4 at COMMIT: 500, never 200 and never "try again"', () => {
    it('it is cut before Postgres has seen it: nothing is kept', async () => {
      const text = randomUUID()
      const struck = caller.next({ at: 'commit', when: 'before', how: 'cut' })
      const answer = await post('note', text)
      await struck
      await isUnknown(answer)
      expect(await notes(text)).toEqual([])
      await isServed()
    })

    it('it is cut after Postgres has done it: that it may be kept is in the log', async () => {
      const text = randomUUID()
      const struck = caller.next({ at: 'commit', when: 'after', how: 'cut' })
      const answer = await post('note', text)
      await struck
      await isUnknown(answer)
      expect(await notes(text)).toEqual([text])
      await isServed()
    })

    it('the service’s is cut: the caller’s is rolled back', async () => {
      const text = randomUUID()
      const struck = service.next({ at: 'commit', when: 'before', how: 'cut' })
      const answer = await post('both', text)
      await struck
      await isUnknown(answer)
      expect(await notes(text)).toEqual([])
      await isServed()
    })

    it('the service’s is done and the caller’s is cut: the service’s work stays, and the log says so', async () => {
      const text = randomUUID()
      const struck = caller.next({ at: 'commit', when: 'before', how: 'cut' })
      const answer = await post('both', text)
      await struck
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
      await probe.logged(
        ({ message, request_id }) =>
          request_id === answer.json.request_id &&
          message === 'the service transaction is committed, the caller transaction is not',
      )
      expect(await notes(text)).toEqual([`${text} by the service`])
      await isServed()
    })
  })

  describe('5.6 a database that falls silent', () => {
    it('holds no request for ever, and meanwhile nobody else', async () => {
      const silent = async (fault: Omit<Fault, 'how'>) => {
        const text = randomUUID()
        cutKept()
        const struck = caller.next({ ...fault, how: 'silence' })
        const answer = post('note', text)
        await struck
        await isServed()
        return { text, answer }
      }
      const connecting = await silent({ at: 'start-up', when: 'before' })
      const authenticating = await silent({ at: 'password', when: 'after' })
      const binding = await silent({ at: 'bind', when: 'before' })
      const bound = await silent({ at: 'bind', when: 'after' })
      const working = await silent({ at: 'statement', when: 'before' })
      const committing = await silent({ at: 'commit', when: 'before' })
      const committed = await silent({ at: 'commit', when: 'after' })
      for (const { answer, text } of [connecting, authenticating, binding, bound]) {
        await isUnavailable(await answer)
        expect([handlerRan(text), await notes(text)]).toEqual([false, []])
      }
      await isUnavailable(await working.answer)
      await isUnknown(await committing.answer)
      await isUnknown(await committed.answer)
      expect([await notes(working.text), await notes(committing.text)]).toEqual([[], []])
      expect(await notes(committed.text)).toEqual([committed.text])
      await isServed()
    })
  })

  it('after all of this no connection is left where it should not be, and no error belongs to no request', async () => {
    const states = `select state from pg_stat_activity where usename in ('stack_backend', 'stack_backend_service')`
    await vi.waitUntil(
      async () => (await probe.sql<{ state: string }>(states)).every(({ state }) => isKept && state === 'idle'),
      { timeout: 20_000, interval: 50 },
    )
    expect(probe.log.filter(({ level, request_id }) => level !== 'info' && request_id === undefined)).toEqual([])
  })

  if (isKept) {
    describe('5.4 a connection that is kept', () => {
      /** Sends so many requests at once that every object of the pool has an idle connection afterwards. */
      const tenAreServed = async () => {
        const texts = Array.from({ length: 10 }, () => randomUUID())
        const answers = await Promise.all(texts.map((text) => post('note', text)))
        expect(answers.map(({ json }) => json)).toEqual(texts)
      }

      it.each<Fault['when']>(['before', 'after'])(
        'and breaks as it is taken, %s it is bound, is replaced',
        async (when) => {
          await tenAreServed()
          const text = randomUUID()
          const struck = caller.next({ at: 'bind', when, how: 'cut' })
          const answer = await post('note', text)
          await struck
          expect([answer.json, await notes(text)]).toEqual([text, [text]])
        },
      )

      it.each<Fault['when']>(['before', 'after'])(
        'and breaks as it is given back, %s that is done, is replaced',
        async (when) => {
          const text = randomUUID()
          const struck = caller.next({ at: 'return', when, how: 'cut' })
          expect((await post('note', text)).json).toBe(text)
          await struck
          await isServed()
        },
      )

      it('and is ended by Postgres as it lies idle, is replaced: nobody notices', async () => {
        await tenAreServed()
        await probe.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename like 'stack_backend%'`)
        await tenAreServed()
      })
    })
  }
})
