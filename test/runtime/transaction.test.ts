/** Both transactions of a request, from their first statement to the answer (contract 2.4, 2.15, 3.5), without a database. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeParameter } from '../../runtime/database/parameter.ts'
import { createRequestDatabase, type RequestDatabase } from '../../runtime/database/transaction.ts'
import { CommitFailed, SqlError, Unavailable } from '../../runtime/database/unavailable.ts'
import type { HttpError } from '../../src/sdk/errors.ts'
import { type FakeCall, type FakeDatabase, fakeCall, fakeDatabase, signedIn } from '../support/fake-driver.ts'

const held = vi.hoisted(() => ({ database: undefined as unknown as FakeDatabase }))
vi.mock('../../runtime/database/driver.ts', () => ({
  open: (...asked: unknown[]) => held.database.open(...asked),
  rowsOf: ({ rows }: { rows: unknown[] }) => rows,
}))

const roles = { caller: 'backend_authenticated', service: 'backend_service_role' }
const written = { tag: 'INSERT 0 1', transactionId: '7' }

let fake: FakeDatabase
let on: FakeCall
let database: RequestDatabase

function begin(options: { isReadOnly?: boolean; isPublic?: boolean } = {}): void {
  on = fakeCall()
  database = createRequestDatabase(on.call, roles, signedIn, options)
}

beforeEach(() => {
  fake = fakeDatabase()
  held.database = fake
  begin()
})

const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: Error) => error)
const codeOf = async (work: Promise<unknown>) => ((await failureOf(work)) as HttpError | undefined)?.code
const sqlError = (code: string) => Object.assign(new SqlError('no'), { code })

/** What was asked at the end, once everything that outlives the answer has ended. */
async function askedAfter(work: Promise<unknown>): Promise<string[]> {
  await work
  await on.settled()
  return fake.asked
}

describe('5.1 a connection', () => {
  it('of the caller and one of the service are bound to their own roles', async () => {
    await database.caller.query('a')
    await database.service.query('b')
    expect(fake.batches.map(([, binding]) => binding!.values[0])).toEqual([roles.caller, roles.service])
    expect(fake.asked).toEqual(['caller: begin', 'caller: a', 'service: begin', 'service: b'])
  })

  it('is opened for nothing that asks for none', async () => {
    await database.commit()
    expect(fake.asked).toEqual([])
  })
})

describe('2.4 a handler that returns', () => {
  it('has written before the answer, the service first', async () => {
    fake.reply = () => written
    await database.caller.query('insert')
    await database.service.query('insert')
    await database.commit()
    expect(fake.asked.filter((line) => /commit/.test(line))).toEqual(['service: commit', 'caller: commit'])
    await on.settled()
    expect(fake.asked.filter((line) => /close/.test(line))).toEqual(['service: close', 'caller: close'])
  })

  it('has its read-only transaction committed first: that one can only fail', async () => {
    begin({ isReadOnly: true })
    fake.reply = () => written
    await database.service.query('insert')
    await database.caller.query('insert')
    await database.commit()
    expect(fake.asked.filter((line) => /commit/.test(line))).toEqual(['caller: commit', 'service: commit'])
  })

  it('and has only read, is answered before its COMMIT', async () => {
    await database.caller.query('select')
    await database.commit()
    expect(await askedAfter(Promise.resolve())).toEqual([
      'caller: begin',
      'caller: select',
      'caller: commit',
      'caller: close',
    ])
  })

  it.each([
    ['an id', { transactionId: '7' }],
    ['a tag that writes', { tag: 'INSERT 0 1' }],
  ])('has written where the statement has %s', async (_name, reply) => {
    fake.reply = () => reply
    fake.commits['caller'] = new Unavailable('cut')
    await database.caller.query('x')
    expect(await failureOf(database.commit())).toBeInstanceOf(CommitFailed)
  })

  it('has written where a function may have notified, and where a read came after the write', async () => {
    fake.commits['caller'] = new Unavailable('cut')
    await database.caller.query(`select pg_notify('a', 'b')`)
    expect(await failureOf(database.commit())).toBeInstanceOf(CommitFailed)
    begin()
    fake.reply = (text) => (text === 'write' ? written : {})
    await database.caller.query('write')
    await database.caller.query('select')
    expect(await failureOf(database.commit())).toBeInstanceOf(CommitFailed)
  })

  it('is no success where COMMIT comes back as ROLLBACK', async () => {
    fake.reply = () => ({ error: sqlError('22012') })
    fake.commits['caller'] = 'ROLLBACK'
    await failureOf(database.caller.query('select 1 / 0'))
    expect((await failureOf(database.commit()))?.message).toContain('came back as ROLLBACK')
  })

  it('waits for the statement that it left running', async () => {
    const { promise, resolve } = Promise.withResolvers<object>()
    fake.reply = () => promise
    fake.commits['service'] = 'ROLLBACK'
    const left = database.service.query('insert')
    const done = failureOf(database.commit())
    resolve({ error: sqlError('23505') })
    await failureOf(left)
    expect((await done)?.message).toContain('the service transaction came back as ROLLBACK')
  })

  it.each(['caller', 'service'] as const)(
    'fails where the transaction of the %s that it left did not begin',
    async (whose) => {
      fake.refusals = [new Unavailable('refused')]
      const left = failureOf(database[whose].query('insert'))
      expect(await failureOf(database.commit())).toBeInstanceOf(Unavailable)
      await left
    },
  )

  it('has failed where the second COMMIT fails, and the log says what is kept', async () => {
    fake.reply = () => written
    fake.commits['caller'] = new Unavailable('cut')
    await database.service.query('insert')
    await database.caller.query('insert')
    expect((await failureOf(database.commit()))?.message).toBe(
      'the service transaction is committed, the caller transaction is not',
    )
    expect(on.lines).toEqual(['the service transaction is committed, the caller transaction is not'])
  })

  it('has left the service’s work where the service’s own COMMIT fails: the caller’s is not committed', async () => {
    fake.reply = () => written
    fake.commits['service'] = new Unavailable('cut')
    await database.service.query('insert')
    await database.caller.query('insert')
    await failureOf(database.commit())
    expect(fake.asked).not.toContain('caller: commit')
  })
})

describe('2.4 a handler that throws', () => {
  it('keeps nothing of either transaction, and no connection', async () => {
    fake.reply = () => written
    await database.caller.query('insert')
    await database.service.query('insert')
    const asked = await askedAfter(database.rollback())
    expect(asked.filter((line) => /commit/.test(line))).toEqual([])
    expect(asked.filter((line) => /close/.test(line)).sort()).toEqual(['caller: close', 'service: close'])
  })

  it('keeps nothing of what it has only read', async () => {
    await database.caller.query('select')
    expect(await askedAfter(database.rollback())).toEqual(['caller: begin', 'caller: select', 'caller: close'])
  })

  it('is over: what it left behind opens no transaction', async () => {
    await database.rollback()
    expect((await failureOf(database.caller.query('insert')))?.message).toContain('this request has ended')
    expect((await failureOf(database.service.query('insert')))?.message).toContain('this request has ended')
    expect((await failureOf(database.apart(async () => 1)))?.message).toContain('this request has ended')
    expect(fake.asked).toEqual([])
  })
})

describe('2.4 a transaction that was lost', () => {
  const lost = {
    'SQL that ended it': { hasEnded: true },
    'a connection that broke': { error: new Unavailable('cut') },
    'an answer that was too large': { error: sqlError('54000') },
    'a COMMIT before it': { error: sqlError('25P01') },
  }

  it.each(Object.keys(lost) as (keyof typeof lost)[])(
    'by %s runs nothing more, and is never a success',
    async (how) => {
      fake.reply = () => lost[how]
      await failureOf(database.caller.query('x'))
      fake.reply = () => ({})
      expect((await failureOf(database.caller.query('y')))?.message).toContain('the transaction is the request')
      expect(fake.asked).toEqual(['caller: begin', 'caller: x'])
      expect(await failureOf(database.commit())).toBeInstanceOf(CommitFailed)
      expect(fake.asked).not.toContain('caller: commit')
    },
  )
})

describe('2.4 the transaction is not the handler’s to end', () => {
  it.each([
    'commit',
    ' ; COMMIT',
    '-- a\ncommit',
    '/* a */ rollback',
    'end',
    'abort',
    'begin',
    'start transaction',
    `prepare transaction 'a'`,
    'rollback work',
  ])('%s', async (text) => {
    expect((await failureOf(database.caller.query(text)))?.message).toContain('the transaction is the request')
    expect(fake.asked).toEqual([])
  })

  it.each([
    'savepoint a',
    'rollback to a',
    'rollback work to savepoint a',
    'prepare a as select 1',
    'select 1 -- commit',
  ])('%s is no end of it', async (text) => {
    await database.caller.query(text)
    expect(fake.asked.at(-1)).toBe(`caller: ${text}`)
  })
})

describe('3.5 a session that was ended', () => {
  beforeEach(() => {
    fake.context.session_ended = true
  })

  it('is 401 at the first statement, also where the handler catches it', async () => {
    expect(await codeOf(database.caller.query('select'))).toBe('unauthorized')
    expect(await codeOf(database.commit())).toBe('unauthorized')
    expect(fake.asked).toEqual(['caller: begin'])
  })

  it('has no grants, and leaves the service without a user', async () => {
    expect(await database.readGrants(false)).toBe(null)
    fake.context.session_ended = false
    await database.service.query('select')
    expect(fake.batches[1]![1]!.values[1]).toBe('{}')
  })

  it('is no session on a public route: what follows has no user', async () => {
    begin({ isPublic: true })
    await database.caller.query('select')
    await database.commit()
    expect(fake.batches.map(([, binding]) => binding!.values[1])).toEqual([JSON.stringify(signedIn.claims), '{}'])
  })

  it('has no grants on a public route, nor has the service its claims', async () => {
    begin({ isPublic: true })
    expect(await database.readGrants(false)).toBe(null)
    fake.context.session_ended = false // what the request has once decided stays decided
    await database.service.query('select')
    expect(fake.batches.at(-1)![1]!.values[1]).toBe('{}')
  })

  it('is 401 in a transaction apart, also where its work catches that', async () => {
    expect(await codeOf(database.apart((queries) => failureOf(queries.query('select'))))).toBe('unauthorized')
  })
})

describe('3.5 the grants of a live session', () => {
  it('are read with the transaction that the handler uses', async () => {
    expect(await database.readGrants(false)).toBe(fake.context)
    await database.caller.query('select')
    expect(fake.asked).toEqual(['caller: begin', 'caller: select'])
  })

  it('are read alone on a route that administers: it holds no connection meanwhile', async () => {
    expect(await database.readGrants(true)).toBe(fake.context)
    await on.settled()
    expect(fake.asked).toEqual(['caller: begin', 'caller: close'])
  })
})

describe('2.15 a transaction apart', () => {
  it('is the service’s, and kept whatever becomes of the request', async () => {
    fake.reply = () => written
    expect(await database.apart((queries) => queries.query('insert').then(() => 'done'))).toBe('done')
    await database.rollback()
    await on.settled()
    expect(fake.asked).toEqual(['service: begin', 'service: insert', 'service: commit', 'service: close'])
    expect(fake.batches[0]![1]!.values[0]).toBe(roles.service)
  })

  it('of work that fails is not kept', async () => {
    fake.reply = () => written
    const work = database.apart(async (queries) => {
      await queries.query('insert')
      throw new Error('no')
    })
    expect((await failureOf(work))?.message).toBe('no')
    expect(await askedAfter(Promise.resolve())).toEqual(['service: begin', 'service: insert', 'service: close'])
  })
})

describe('a value of a parameter', () => {
  it.each([
    [null, null],
    [undefined, null],
    ['a', 'a'],
    [1.5, '1.5'],
    [true, 'true'],
    [10n, '10'],
    [new Uint8Array([0, 255]), '\\x00ff'],
    [new Uint8Array([1]).buffer, '\\x01'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ a: 1 }, '{"a":1}'],
    [['a"b\\c', null, ['d']], '{"a\\"b\\\\c",NULL,{"d"}}'],
    [[{ a: 1 }], '{"{\\"a\\":1}"}'],
  ])('%o', (value, text) => {
    expect(encodeParameter(value)).toBe(text)
  })

  it.each([() => 1, Symbol('a')])('that is %o is none', (value) => {
    expect(() => encodeParameter(value)).toThrow(TypeError)
  })

  it('reaches the connection encoded, and one that has no form reaches no connection', async () => {
    await database.caller.query('x', [['a'], { b: 1 }])
    expect((await failureOf(database.caller.query('y', [() => 1])))?.name).toBe('TypeError')
    expect((await failureOf(database.caller.query({} as string)))?.name).toBe('TypeError')
    expect(fake.asked).toEqual(['caller: begin', 'caller: x'])
  })
})
