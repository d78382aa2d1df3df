/** The workers' JSON lines, printed for a person. */
import { describe, expect, it } from 'vitest'
import { createLogPrinter } from '../../local/log.ts'

const printed = (line: object | string) =>
  createLogPrinter(
    {},
    process.stderr,
  )(typeof line === 'string' ? line : JSON.stringify(line))?.replace(/^\d\d:\d\d:\d\d\.\d{3} /, '')

describe('createLogPrinter', () => {
  it('prints a request, a line with its fields, and an error with its stack', () => {
    const request = {
      level: 'info',
      worker: 'front',
      method: 'GET',
      path: '/x',
      status: 200,
      ms: 3,
      request_id: 'req_1',
    }
    expect(printed(request)).toBe('GET /x 200 3 ms req_1')
    expect(printed({ level: 'warn', worker: 'auth', message: 'said', reason: 'x', n: [1] })).toBe(
      'warn auth: said reason=x n=[1]',
    )
    const failed = { level: 'error', worker: 'backend', message: 'failed', stack: 'Error: no\n    at x' }
    expect(printed(failed)).toBe('error failed\n    Error: no\n        at x')
  })

  it('a line about scheduled work without the fields that its message has, and a project’s line with all of its own', () => {
    const fields = {
      level: 'info',
      worker: 'backend',
      class: 'Jobs',
      method: 'go',
      outcome: 'finished',
      schedule: '* * * * *',
    }
    expect(printed({ ...fields, message: 'cron Jobs.go finished', scheduled_at: 'now', request_id: 'req_1' })).toBe(
      'info cron Jobs.go finished schedule=* * * * * scheduled_at=now req_1',
    )
    expect(printed({ level: 'info', worker: 'backend', message: 'cron begins', class: 'Jobs' })).toBe(
      'info cron begins class=Jobs',
    )
  })

  it('an error and what it came from, each with its stack', () => {
    const cause = { error: 'Error: full', stack: 'Error: full\n    at y', cause: { error: 'a text' } }
    const failed = {
      level: 'error',
      worker: 'backend',
      message: 'failed',
      error: 'no',
      stack: 'Error: no\n    at x',
      cause,
    }
    expect(printed(failed)).toBe(
      'error failed\n    Error: no\n        at x\n    caused by Error: full\n        at y\n    caused by a text',
    )
  })

  it('one line for a delivery: the backend’s own, unless it has none', () => {
    const delivery = { level: 'info', worker: 'front', method: 'POST', path: '/webhooks/a', status: 401, ms: 3 }
    expect(printed(delivery)).toBeUndefined()
    expect(printed({ ...delivery, status: 405 })).toBe('POST /webhooks/a 405 3 ms')
    expect(printed({ ...delivery, path: '/webhooksy' })).toBe('POST /webhooksy 401 3 ms')
  })

  it('says of a delivery what the message does not say already', () => {
    const line = {
      level: 'warn',
      worker: 'backend',
      message: 'webhook a refused a delivery: b',
      webhook: 'a',
      reason: 'b',
    }
    expect(printed(line)).toBe('warn webhook a refused a delivery: b')
  })

  it('passes on what is no line of ours, and no control character of anybody', () => {
    expect(printed('plain \u001b[31mred')).toBe('plain \\x1b[31mred')
    expect(printed('[1]')).toBe('[1]')
    expect(printed({ level: 'info', worker: 'backend', message: 'a\u001b[2J\r', x: '\u0007' })).toBe(
      'info a\\x1b[2J\\x0d x=\\x07',
    )
  })
})
