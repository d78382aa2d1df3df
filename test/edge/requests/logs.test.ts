/** The lines that a request writes to the log, and the trace that they belong to (contract 2.5, 3.3). */
import * as fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createLogPrinter } from '../../../local/log.ts'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'äöü' })

describe('a trace of the caller (W3C Trace Context)', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traced = async (traceparent: string, more: Record<string, string> = {}) => {
    const answer = await probe.call('/request/log', { headers: { traceparent, ...more } })
    const id = answer.headers.get('x-request-id')
    return { id, line: await probe.logged(({ request_id }) => request_id === id) }
  }

  it('is in the lines of the log, with a span of the request’s own', async () => {
    const { line } = await traced(`00-${trace}-00f067aa0ba902b7-01`)
    expect(line).toMatchObject({ trace_id: trace, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(line['span_id']).not.toBe('00f067aa0ba902b7')
  })

  it.each([
    `00-${trace}-00f067aa0ba902b7-01-more`,
    `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-00f067aa0ba902b7-01`,
    `00-${trace}-00f067aa0ba902b7`,
    'x',
  ])('that is malformed is none: %s', async (traceparent) => {
    expect((await traced(traceparent)).line).not.toHaveProperty('trace_id')
  })

  it('goes on to the auth worker; TraceId() stays the request’s own id', async () => {
    const person = await probe.signUp()
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-00`, tracestate: 'vendor=1' }
    const { json } = await probe.call('/request/injected/a/b', { headers })
    expect([json.trace, json.trace.startsWith('req_')]).toEqual([json.id, true])
    // The auth worker writes a line when it fails.
    await probe.sql('alter table auth.roles rename to roles_away')
    try {
      await probe.call(`/request/roles/${person.id}/insider`, { method: 'DELETE', headers })
    } finally {
      await probe.sql('alter table auth.roles_away rename to roles')
    }
    expect(await probe.logged(({ worker, trace_id }) => worker === 'auth' && trace_id === trace)).toMatchObject({
      level: 'error',
    })
  })
})

it('Log writes what JSON has no form for, and no field poses as the line’s own', async () => {
  const { headers } = await probe.call('/request/log-error')
  const line = await probe.logged(({ message }) => message === 'it failed')
  expect(line).toMatchObject({ level: 'error', request_id: headers.get('x-request-id'), big: '1' })
  expect(line['error']).toMatchObject({ error: 'TypeError: the reason' })
})

it('a rejection that nobody awaits is in the log', async () => {
  expect((await probe.call('/request/lost')).json).toBe('ok')
  const line = await probe.logged(({ error }) => error === 'Error: nobody listens')
  expect(line).toMatchObject({ level: 'error', worker: 'backend' })
})

it('the stack in the log names file, line and column of the project, through the minified bundle', async () => {
  const { json } = await probe.call('/request/throw')
  const line = await probe.logged((entry) => entry['request_id'] === json.request_id && entry['level'] === 'error')
  const out = probe.stack.record && `${probe.root}/.stack/out`
  const printed = createLogPrinter({ backend: out }, process.stderr)(JSON.stringify(line))
  expect(printed).toContain('Error: a secret detail')
  const source = fs.readFileSync(`${probe.root}/src/request.controller.ts`, 'utf8').split('\n')
  const number = source.findIndex((text) => text.includes("new Error('a secret detail')")) + 1
  expect(printed).toContain(`src/request.controller.ts:${number}:`)
})

it('Log writes one JSON line with the request’s id', async () => {
  const { headers } = await probe.call('/request/log')
  const id = headers.get('x-request-id')
  const line = await probe.logged(({ message, request_id }) => message === 'said by a handler' && request_id === id)
  expect(line).toMatchObject({
    level: 'warn',
    worker: 'backend',
    line: 'one\ntwo',
  })
})
