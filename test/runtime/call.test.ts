/** What a request is before its route is known, and the names of its lines in the log (contract 2.5, 3.3, 7.1). */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { beginCall, webhookName } from '../../runtime/call.ts'

const context = { waitUntil() {} } as unknown as ExecutionContext
const begin = (url: string, headers: Record<string, string> = {}) =>
  beginCall(new Request(url, { headers }), { STACK_WORKER: 'shop' }, context)

afterEach(() => {
  vi.restoreAllMocks()
})

describe('an address', () => {
  it.each([
    ['https://shop.example/a/b?c=1?d', '/a/b', '?c=1?d'],
    ['https://shop.example/', '/', ''],
    ['https://shop.example/?', '/', '?'],
    ['https://shop.example/a%2Fb%3F?x=%2F', '/a%2Fb%3F', '?x=%2F'],
    ['https://shop.example//a', '//a', ''],
  ])('%s is path and query, as they were sent', (url, path, search) => {
    expect(begin(url)).toMatchObject({ path, search })
  })

  it('names a webhook below /webhooks alone', () => {
    const names = ['/webhooks', '/webhooks/', '/webhooks/a', '/webhooks/a/b', '/webhooksa', '/a/webhooks/b'].map(
      webhookName,
    )
    expect(names).toEqual(['', '', 'a', 'a/b', undefined, undefined])
  })
})

describe('2.5 a line of the log', () => {
  it('has the id of its own request, whatever the project logs', () => {
    const lines: Record<string, unknown>[] = []
    vi.spyOn(console, 'info').mockImplementation((line: string) => void lines.push(JSON.parse(line)))
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const call = begin('https://shop.example/', { traceparent: `00-${trace}-00f067aa0ba902b7-01` })
    const forged = { request_id: 'req_another', trace_id: 'another', level: 'error', worker: 'other', message: 'other' }
    call.log('info', 'hello', { ...forged, order: 7 })
    expect(lines).toEqual([
      {
        level: 'info',
        worker: 'shop',
        message: 'hello',
        request_id: call.requestId,
        trace_id: trace,
        span_id: call.trace!.fields.span_id,
        order: 7,
      },
    ])
    expect(call.requestId).toMatch(/^req_[0-9A-Z]{26}$/)
  })
})
