/** Which errors of the database are outages, and how long the wait for an answer is (contract 5.6). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  errorOf,
  failureOf,
  isLoginRefused,
  normalise,
  openMs,
  SqlError,
  statementMs,
  Unavailable,
  within,
} from '../../runtime/database/unavailable.ts'

const raised = (code: unknown) => Object.assign(new Error('raised'), { code })

describe('an error', () => {
  it.each(['08006', '53300', '57P01', '57014', '25P03', '25P04'])('%s is an outage', (code) => {
    expect(normalise(raised(code)).name).toBe('Unavailable')
  })

  it.each(['23505', '42501', '40001', '57000', '25P02', '28P01'])('%s is about the statement', (code) => {
    expect(normalise(raised(code))).toMatchObject({ name: 'SqlError', code })
  })

  it.each([[raised('ECONNRESET')], [raised(7)], [{ code: '23505' }], [undefined], ['text']])(
    '%j is an outage',
    (error) => {
      expect(normalise(error).name).toBe('Unavailable')
    },
  )

  it.each(['28P01', '58P01', '22023'])('%s: the login does not open', (code) => {
    expect(isLoginRefused(Object.assign(new SqlError('no'), { code }))).toBe(true)
  })

  it.each(['28000', '53300', '42501'])('%s: no fault of the login', (code) => {
    expect(isLoginRefused(Object.assign(new SqlError('no'), { code }))).toBe(false)
  })

  it('keeps its kind and its fields on the way to another isolate', () => {
    const sql = Object.assign(new SqlError('no'), { code: '23505', constraint: 'a' })
    expect(errorOf(failureOf(sql))).toMatchObject({ name: 'SqlError', message: 'no', code: '23505', constraint: 'a' })
    expect(errorOf(failureOf(new Unavailable('gone')))).toBeInstanceOf(Unavailable)
  })
})

describe('5.6 the wait for an answer', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is 10 s for a statement and 5 s for a connection', () => {
    expect([statementMs, openMs]).toEqual([10_000, 5_000])
  })

  it('ends two seconds after the limit of a statement', async () => {
    const waiting = within(new Promise(() => {})).catch((error: Error) => error)
    await vi.advanceTimersByTimeAsync(11_999)
    await vi.advanceTimersByTimeAsync(1)
    expect(await waiting).toBeInstanceOf(Unavailable)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is over with the answer', async () => {
    expect(await within(Promise.resolve(7), 1_000)).toBe(7)
    expect(vi.getTimerCount()).toBe(0)
  })
})
