/** The trace of a request (contract 3.3): W3C Trace Context. */
import { describe, expect, it } from 'vitest'
import { traceOf } from '../../runtime/trace.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const of = (traceparent: string, more: Record<string, string> = {}) => traceOf(new Headers({ traceparent, ...more }))

describe('3.3 a trace of the caller', () => {
  it('goes on with a span of its own, which is the parent of what the request sends', () => {
    const trace = of(`00-${id}-${parent}-01`)!
    expect(trace.fields).toEqual({ trace_id: id, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(trace.fields.span_id).not.toBe(parent)
    expect(trace.headers).toEqual({ traceparent: `00-${id}-${trace.fields.span_id}-01` })
  })

  it('of a later version may say more; its beginning counts', () => {
    expect(of(`01-${id}-${parent}-00-more`)?.fields.trace_id).toBe(id)
    expect(of(`00-${id}-${parent}-00-more`)).toBeUndefined()
  })

  it.each([
    `ff-${id}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `00-${id.toUpperCase()}-${parent}-01`,
    `00-${id.slice(1)}-${parent}-01`,
    `00-${id}-${parent}-1`,
    `x00-${id}-${parent}-01`,
    `00-${id}-${parent}-01x`,
  ])('%s is none', (traceparent) => expect(of(traceparent)).toBeUndefined())

  it('is absent without the header', () => expect(traceOf(new Headers())).toBeUndefined())

  it('keeps a state of 512 characters, and drops a longer one', () => {
    const stateOf = (tracestate: string) => of(`00-${id}-${parent}-01`, { tracestate })?.headers['tracestate']
    expect(stateOf(`a=${'x'.repeat(510)}`)).toHaveLength(512)
    expect(stateOf(`a=${'x'.repeat(511)}`)).toBeUndefined()
  })
})
