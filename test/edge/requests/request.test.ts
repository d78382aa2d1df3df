/** Arguments of handlers and the responses made of their results, through the real bundle (contract 2.3, 2.5, 6.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'äöü' })

describe('2.3 arguments and results', () => {
  it('each injector gives what it names', async () => {
    const answer = await probe.call('/request/injected/a%20b/c%2Fd?page=2&page=3', { headers: { 'x-probe': 'yes' } })
    const id = answer.headers.get('x-request-id')
    expect(answer.json).toEqual({
      first: 'a b',
      second: 'c/d',
      page: '2',
      header: 'yes',
      method: 'GET',
      id,
      trace: id,
      client: true,
    })
    expect((await probe.call('/request/injected/literal/x')).json).toEqual({ only: 'x' })
    expect((await probe.call('/request/injected/%ff/x')).json).toMatchObject({ error: 'invalid_request' })
  })

  describe('a character that no database can hold is 400, naming the field', () => {
    const reason = 'the text holds a character that cannot be stored: U+0000, or half of a surrogate pair'

    it.each([
      ['first', '/request/injected/a%00b/c'],
      ['second', '/request/injected/a/c%00'],
      ['page', '/request/injected/a/c?page=%00'],
    ])('%s of %s', async (path, target) => {
      const { json } = await probe.call(target)
      expect(json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path, reason }] })
    })

    it.each([
      ['body', '"\\u0000"'],
      ['body', '"\\ud800"'],
      ['a', '{"a":"x\\u0000"}'],
      ['a.b.1', '{"a":{"b":["x","\\u0000"]}}'],
      ['a', '{"a":{"\\u0000":1}}'],
      ['0', `["\\u0000",${'['.repeat(20_000)}${']'.repeat(20_000)}]`],
    ])('%s of the body %.40s', async (path, body) => {
      const { json } = await probe.call('/request/echo', { body, headers: { 'content-type': 'application/json' } })
      expect(json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path, reason }] })
    })

    it.each(['"\\ud83d\\ude00"', '"\\u0001"', '"\\\\u0000"', '{"a":"\\u00e9"}'])('%s is none', async (body) => {
      const answer = await probe.call('/request/echo', { body, headers: { 'content-type': 'application/json' } })
      expect([answer.status, answer.json]).toEqual([202, JSON.parse(body)])
    })
  })

  it('a Response is sent as it is, undefined is 204, anything else is JSON with the route’s status', async () => {
    const own = await probe.call('/request/response')
    expect([own.status, own.text, own.headers.get('x-own')]).toEqual([418, 'as it is', 'yes'])
    expect(own.headers.get('x-request-id')).toMatch(/^req_/)
    const nothing = await probe.call('/request/nothing')
    expect([nothing.status, nothing.text]).toEqual([204, ''])
    expect((await probe.call('/request/null')).text).toBe('null')
    const echo = await probe.call('/request/echo', { json: { __proto__: 1, a: [1, null] } })
    expect([echo.status, echo.text]).toEqual([202, '{"a":[1,null]}'])
  })

  it('HttpError becomes the envelope; any other error is 500 with nothing of its reason', async () => {
    const refused = await probe.call('/request/refusal')
    expect(refused.json).toMatchObject({ error: 'taken', status: 409, fields: [{ path: 'name', reason: 'taken' }] })
    const failed = await probe.call('/request/throw')
    expect(failed.json).toMatchObject({ error: 'internal_error', status: 500 })
    expect(failed.text).not.toContain('secret detail')
  })

  it.each(['header', 'body', 'nothing', 'function'])(
    'an answer that cannot be sent (%s) is the plain 500',
    async (what) => {
      const answer = await probe.call(`/request/unsendable/${what}`)
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
      expect(answer.headers.get('x-request-id')).toBe(answer.json.request_id)
    },
  )

  describe('2.5 Auth', () => {
    it('assigns, twice as once, and revokes; both are in force on the next request with the same token', async () => {
      const person = await probe.signUp()
      const enter = () => probe.call('/open/role', { token: person.token })
      const role = (method: string, name = 'insider') => probe.call(`/request/roles/${person.id}/${name}`, { method })
      expect((await enter()).status).toBe(403)
      expect((await role('PUT')).json).toContain('insider')
      expect((await enter()).status).toBe(200)
      expect((await role('DELETE')).json).not.toContain('insider')
      expect((await enter()).status).toBe(403)
      expect((await role('DELETE', 'nobody')).json).toEqual({ undefined: 'nobody' })
    })

    it('an error that the handler does not catch is a 500, and in the log', async () => {
      const undeclared = await probe.call('/request/roles/usr_1/nobody', { method: 'PUT' })
      expect([undeclared.status, undeclared.json.error]).toEqual([500, 'internal_error'])
      const unknown = await probe.call('/request/roles/usr_1/insider', { method: 'PUT' })
      expect(unknown.status).toBe(500)
      const line = await probe.logged(
        ({ request_id, level }) => request_id === unknown.json.request_id && level === 'error',
      )
      expect(line['error']).toBe('TransportError: user_not_found: there is no user "usr_1"')
    })
  })

  it('2.5 Storage keeps what is put, in the stack’s own folder', async () => {
    expect((await probe.call('/request/stored')).json).toEqual({
      text: 'stored',
      type: 'text/plain',
      missing: null,
      listed: [['notes/a b.txt', 6]],
      left: false,
    })
    expect(fs.existsSync(path.join(probe.root, '.stack/storage'))).toBe(true)
  })

  describe('6.1 who may keep an answer', () => {
    const headersOf = async (path: string, token?: string) => {
      const { headers } = await probe.call(path, token === undefined ? {} : { token })
      return ['cache-control', 'vary', 'x-content-type-options'].map((name) => headers.get(name))
    }

    it.each<[string, string | undefined, (string | null)[]]>([
      ['/request/nothing', undefined, ['no-store', 'authorization, origin', 'nosniff']],
      ['/request/response', undefined, [null, 'authorization, origin', 'nosniff']],
      ['/request/response', 'no token', ['no-store', 'authorization, origin', 'nosniff']],
      ['/request/cached', undefined, ['public, max-age=60', 'accept, authorization, origin', 'nosniff']],
      ['/request/cached', 'no token', ['public, max-age=60', 'accept, authorization, origin', 'nosniff']],
      ['/sql/hoarded', undefined, ['no-store', 'authorization, origin', 'nosniff']],
      ['/no/such/route', undefined, ['no-store', 'origin', 'nosniff']],
      ['/webhooks/nothing', undefined, ['no-store', null, 'nosniff']],
    ])('%s with %s', async (path, token, expected) => {
      expect(await headersOf(path, token)).toEqual(expected)
    })
  })

  it('3.3 a 401 of a route names the scheme, and says nothing more', async () => {
    const challengeOf = async (path: string, token?: string) => {
      const { status, headers } = await probe.call(path, token === undefined ? {} : { token })
      return [status, headers.get('www-authenticate')]
    }
    expect(await challengeOf('/gates/object')).toEqual([401, 'Bearer'])
    expect(await challengeOf('/gates/object', 'a.b.c')).toEqual([401, 'Bearer'])
    expect(await challengeOf('/request/refusal')).toEqual([409, null])
    const delivery = await probe.call('/webhooks/unset', { json: {} })
    expect([delivery.status, delivery.headers.get('www-authenticate')]).toEqual([401, null])
  })

  it('headers of an HttpError do not replace the runtime’s own', async () => {
    const { headers, json } = await probe.call('/request/unsendable/own')
    expect([headers.get('x-request-id'), headers.get('content-type'), headers.get('cache-control')]).toEqual([
      json.request_id,
      'application/json',
      'no-store',
    ])
  })

  it('instances are one per isolate', async () => {
    const first = (await probe.call('/request/served')).json
    expect((await probe.call('/request/served')).json).toBe(first + 1)
  })

  it('2.5 Secrets reads the environment, and throws for a name that is not set', async () => {
    expect((await probe.call('/request/secret')).json).toBe(3 + 6)
    expect((await probe.call('/request/unset')).status).toBe(500)
  })
})
