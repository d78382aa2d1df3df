/** 2.4 the life of a transaction: which step leads where, and that no step leads back. */
import { describe, expect, it } from 'vitest'
import { stateAfter, type TransactionState } from '../../runtime/database/transaction-state.ts'

const states = ['unopened', 'begun', 'read', 'written', 'lost', 'ended'] as const
const steps = ['begin', 'send', 'write', 'lose', 'end'] as const

describe('the life of a transaction', () => {
  const after = (...taken: (typeof steps)[number][]) => taken.reduce<TransactionState>(stateAfter, 'unopened')

  it('is read after statements that only read, and written once one wrote', () => {
    expect(after('begin', 'send', 'send')).toBe('read')
    expect(after('begin', 'send', 'write', 'send')).toBe('written')
    expect(after('begin', 'write')).toBe('written') // the statement still waits for BEGIN
  })

  it('is lost for good once a statement ended it', () => {
    expect(after('begin', 'send', 'lose', 'send', 'write')).toBe('lost')
    expect(after('begin', 'send', 'lose', 'end', 'begin')).toBe('ended')
  })

  it.each(states)('from %s no step leads back', (state) => {
    const reached = steps.map((step) => states.indexOf(stateAfter(state, step)))
    expect(Math.min(...reached)).toBe(states.indexOf(state))
  })
})
