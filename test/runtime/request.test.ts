/** What a request passes inside the worker, and how it is answered (contract 2.3, 2.4, 2.8, 2.11, 2.13, 4.6, 6), without a worker. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseBody, readBody } from '../../runtime/body.ts'
import type { Call } from '../../runtime/call.ts'
import { createCors } from '../../runtime/cors.ts'
import { CommitFailed, SqlError, Unavailable } from '../../runtime/database/unavailable.ts'
import { argumentsFor } from '../../runtime/injectors.ts'
import { writeLine } from '../../runtime/log.ts'
import { hasServiceRoleKey, requireKnownParameters } from '../../runtime/management.ts'
import { fail, reply } from '../../runtime/reply.ts'
import { createValidators, shortened, type Validate } from '../../runtime/schemas.ts'
import { isStorable } from '../../runtime/storable.ts'
import type { Parameter, Route } from '../../runtime/table.ts'
import { createTransactions } from '../../runtime/transact.ts'
import { HttpError } from '../../src/sdk/errors.ts'
import { scope } from '../../src/sdk/scope.ts'

interface Asked {
  env?: Record<string, unknown>
  headers?: Record<string, string>
  search?: string
  isPersonal?: boolean
  varies?: boolean
}

function callWith({ env = {}, headers = {}, search = '', isPersonal = false, varies = false }: Asked = {}) {
  const lines: string[] = []
  const later: Promise<unknown>[] = []
  const call = {
    env,
    request: new Request(`https://stack.example/a${search}`, { headers }),
    requestId: 'req_1',
    path: '/a',
    search,
    isPersonal,
    varies,
    log: (_level: string, message: string) => lines.push(message),
    waitUntil: (promise: Promise<unknown>) => later.push(promise),
  } as unknown as Call
  return { call, lines, later }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'passed',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )
const sqlError = (code: string, fields: object = {}) => Object.assign(new SqlError('no'), { code, ...fields })

describe('2.3, 2.13 an error', () => {
  const answered = async (error: unknown) => {
    const response = fail(callWith().call, error)
    return { status: response.status, ...((await response.json()) as object), headers: response.headers }
  }

  it.each([
    [sqlError('23505'), 409, 'conflict'],
    [new CommitFailed('COMMIT failed', { cause: sqlError('23505') }), 409, 'conflict'],
    [sqlError('42501', { routine: 'ExecWithCheckOptions' }), 403, 'forbidden'],
    [sqlError('42501', { routine: 'aclcheck_error' }), 500, 'internal_error'],
    [sqlError('40001'), 503, 'unavailable'],
    [sqlError('40P01'), 503, 'unavailable'],
    [sqlError('23503'), 500, 'internal_error'],
    [new CommitFailed('COMMIT failed', { cause: new Unavailable('cut') }), 500, 'internal_error'],
    [new Unavailable('cut'), 503, 'unavailable'],
    [new Error('the secret is 42'), 500, 'internal_error'],
    ['text', 500, 'internal_error'],
  ])('%o is answered %i %s, and nothing of its reason', async (error, status, code) => {
    const answer = await answered(error)
    expect(answer).toMatchObject({ status, error: code, request_id: 'req_1' })
    expect(JSON.stringify(answer)).not.toMatch(/secret|cut|"no"/)
  })

  it('of the project has its own members, which replace none of the envelope', async () => {
    const body = { error: 'ok', error_description: 'fine', status: 200, request_id: 'x', etag: '1' }
    const error = new HttpError(412, 'precondition_failed', 'it changed', { body })
    expect(await answered(error)).toMatchObject({
      error: 'precondition_failed',
      error_description: 'it changed',
      status: 412,
      request_id: 'req_1',
      etag: '1',
    })
  })

  it('of the project has headers, which replace none of the runtime’s', async () => {
    const headers = { 'Cache-Control': 'public', 'X-Own': 'a' }
    const { headers: sent } = await answered(new HttpError(400, 'a', 'b', { headers }))
    expect([sent.get('cache-control'), sent.get('x-own')]).toEqual(['no-store', 'a'])
  })

  it('401 of a route names the scheme, and one of no route does not', async () => {
    const error = new HttpError(401, 'unauthorized', 'no')
    const challenge = (varies: boolean) => fail(callWith({ varies }).call, error).headers.get('www-authenticate')
    expect([challenge(true), challenge(false)]).toEqual(['Bearer', null])
  })
})

describe('6.1 who may keep an answer', () => {
  const sent = (headers: Record<string, string>, asked: Asked) =>
    reply(callWith(asked).call, new Response('a', { headers }), 200).headers

  it('a Response of the handler is nobody’s but the caller’s, unless the handler says otherwise', () => {
    expect(sent({}, { isPersonal: true }).get('cache-control')).toBe('no-store')
    expect(sent({ 'cache-control': 'public' }, { isPersonal: true }).get('cache-control')).toBe('public')
    expect(sent({}, {}).get('cache-control')).toBe(null)
  })

  it('it varies with the token, and its type is not guessed', () => {
    expect(sent({}, { varies: true }).get('vary')).toBe('authorization')
    expect(sent({ vary: 'accept' }, { varies: true }).get('vary')).toBe('accept, authorization')
    expect(sent({ vary: 'Authorization' }, { varies: true }).get('vary')).toBe('Authorization')
    expect(sent({}, {}).get('x-content-type-options')).toBe('nosniff')
  })

  it('2.3 a value that JSON cannot hold is no answer', () => {
    expect(() => reply(callWith().call, () => 1, 200)).toThrow(TypeError)
    expect(reply(callWith().call, undefined, 200).status).toBe(204)
  })
})

describe('cors', () => {
  const listed = {
    origins: ['https://app.example'],
    credentials: true,
    headers: ['authorization'],
    exposed: [],
    maxAge: 60,
  }
  const asking = (origin: string, more: Record<string, string> = {}) =>
    new Request('https://stack.example/', { headers: { origin, ...more } })
  const answer = (cors: Parameters<typeof createCors>[0], origin: string) => {
    const { headers } = createCors(cors).apply(asking(origin), new Response())
    return ['access-control-allow-origin', 'access-control-allow-credentials', 'vary'].map((name) => headers.get(name))
  }

  it('names the origin that is listed, and no other', () => {
    expect(answer(listed, 'https://app.example')).toEqual(['https://app.example', 'true', 'origin'])
    expect(answer(listed, 'https://app.example.evil')).toEqual([null, null, 'origin'])
    expect(answer({ ...listed, credentials: false }, 'https://app.example')).toEqual([
      'https://app.example',
      null,
      'origin',
    ])
    expect(answer({ ...listed, origins: ['*'], credentials: false }, 'https://any.example')).toEqual(['*', null, null])
  })

  it('tells what may be sent only to an origin that is listed', () => {
    const preflight = (origin: string) =>
      createCors(listed).preflight(asking(origin, { 'access-control-request-method': 'PUT' }), 'GET, PUT')
    expect(preflight('https://app.example')['access-control-allow-methods']).toBe('GET, PUT')
    expect(preflight('https://evil.example')).toEqual({})
  })
})

describe('2.11 a body', () => {
  const parsed = (type: string | undefined, text: string) => {
    const request = { headers: new Headers(type === undefined ? {} : { 'content-type': type }) } as Request
    try {
      return parseBody(request, new TextEncoder().encode(text)).value
    } catch (error) {
      return [(error as HttpError).status, (error as HttpError).message]
    }
  }

  it.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/merge-patch+json; charset=utf-8', '1', 1],
    ['text/plain', '{}', [415, expect.any(String)]],
    ['application/x-www-form-urlencoded', '{}', [415, expect.any(String)]],
    ['application/jsonx', '{}', [415, expect.any(String)]],
    [undefined, '{}', [415, expect.any(String)]],
    ['application/json', '', [400, 'a JSON body is required']],
    [undefined, '', [400, 'a JSON body is required']],
    ['application/json', '{', [400, 'the body is not valid JSON']],
  ])('of type %s: %s', (type, text, expected) => {
    expect(parsed(type, text)).toEqual(expected)
  })

  const route = { parameters: [{ from: 'request' }], maxBodyBytes: 4 } as unknown as Route
  const read = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const { call } = callWith()
    call.request = new Request('https://stack.example/', {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    } as RequestInit)
    await readBody(call, route, undefined)
    return call.request.text()
  }
  const chunks = (text: string) => new Response(text).body!
  /** Node asks for an option that the Workers runtime does not have. */
  class HalfDuplex extends Request {
    constructor(input: RequestInfo, init: RequestInit = {}) {
      super(input, init.body ? ({ ...init, duplex: 'half' } as RequestInit) : init)
    }
  }
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('that the handler reads itself has a limit, whether its length is stated or not', async () => {
    expect(await read('abcd', { 'content-length': '4' })).toBe('abcd')
    expect(await codeOf(read('abcde', { 'content-length': '5' }))).toBe('payload_too_large')
    vi.stubGlobal('Request', HalfDuplex)
    expect(await read(chunks('abcd'))).toBe('abcd')
    expect(await codeOf(read(chunks('abcde')))).not.toBe('passed')
  })
})

describe('2.8 the arguments of a handler', () => {
  const named = { from: 'query', name: 'a' } as Parameter
  const args = (
    parameters: Parameter[],
    { search, body, validators = [] }: { search?: string; body?: string; validators?: Validate[] } = {},
  ) => {
    const { call } = callWith({ headers: { 'content-type': 'application/json' }, ...(search ? { search } : {}) })
    return argumentsFor(
      call,
      parameters,
      [0],
      null,
      validators,
      body === undefined ? undefined : bytes(body),
      undefined,
    )
  }
  const bytes = (text: string) => new TextEncoder().encode(text)

  it('User() is never null', async () => {
    expect(await codeOf(args([{ from: 'user' }]))).toBe('unauthorized')
    expect(await args([{ from: 'optionalUser' }])).toEqual([null])
  })

  it.each(['"\\u0000"', '{"a\\u0000":1}', '"\\uD800"', '[["\\udfff"]]'])(
    'a body of %s holds what cannot be stored',
    async (body) => {
      expect(await codeOf(args([{ from: 'body' }], { body }))).toBe('invalid_request')
    },
  )

  it('nor may an address, and text that can be stored passes', async () => {
    expect(await codeOf(args([named], { search: '?a=%00' }))).toBe('invalid_request')
    expect(await args([named], { search: '?a=b' })).toEqual(['b'])
    expect(await args([{ from: 'body' }], { body: '"\\ud83d\\ude00"' })).toEqual(['😀'])
    expect(['a', 'a\0', '\ud800'].map(isStorable)).toEqual([true, false, false])
  })

  it('a value is what its schema makes of it, and a violation is no value', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) =>
          value === 'b' ? { value: 'B' } : { issues: [{ message: 'x'.repeat(500), path: ['deep'] }] },
      },
    }
    const validators = createValidators([[schema, '@Query() of A.b', 'a', true]])
    const parameter = { ...named, schema: 0 } as Parameter
    expect(await args([parameter], { search: '?a=b', validators })).toEqual(['B'])
    const refused = await args([parameter], { search: '?a=c', validators }).catch((error: HttpError) => error)
    expect((refused as HttpError).details.fields).toEqual([{ path: 'a.deep', reason: `${'x'.repeat(199)}…` }])
    expect(shortened('x'.repeat(200))).toBe('x'.repeat(200))
  })
})

describe('4.6, 9.7 the service-role key', () => {
  const keys = { accepts: 'the method that knows the keys' } as never
  const perform = (async (_call: Call, method: unknown, [given]: unknown[]) =>
    method === 'the method that knows the keys' && given === 'the-key') as never
  const has = (headers: Record<string, string>) => hasServiceRoleKey(callWith({ headers }).call, keys, perform)

  it.each([
    ['the-key', true],
    ['the-kex', false],
    ['the-ke', false],
    ['', false],
  ])('%j is it: %j', async (apikey, expected) => {
    expect(await has({ apikey })).toBe(expected)
  })

  it('counts neither beside DPoP nor where the request has none', async () => {
    expect(await codeOf(has({ apikey: 'the-key', dpop: 'x' }))).toBe('unauthorized')
    expect(await codeOf(has({ apikey: 'the-key', authorization: 'DPoP x' }))).toBe('unauthorized')
    expect(await has({})).toBe(false)
  })

  it('9 a query parameter that the route does not take is refused', () => {
    const parameters = [{ from: 'query', name: 'limit' }] as Parameter[]
    const ask = (search: string) => () => requireKnownParameters(callWith({ search }).call, parameters)
    expect(ask('?limit=1')).not.toThrow()
    expect(ask('?limt=1')).toThrow('there is no query parameter "limt"')
  })
})

describe('2.4 the transactions of a request', () => {
  function subject(commit: () => Promise<void> = async () => {}) {
    const asked: string[] = []
    const database = {
      caller: {},
      service: {},
      apart: async () => {},
      commit: () => {
        asked.push('commit')
        return commit()
      },
      rollback: async () => void asked.push('rollback'),
    }
    const open = vi.fn(() => database)
    const run = createTransactions(scope, open as never)
    return { asked, open, run: (call: Call, work: () => Promise<unknown>) => run(call, database as never, work) }
  }

  it('are kept when the work returns, and rolled back when it throws', async () => {
    const { asked, run } = subject()
    expect(await run(callWith().call, async () => 'done')).toBe('done')
    expect(await codeOf(run(callWith().call, () => Promise.reject(new Error('no'))))).toBe('no')
    expect(asked).toEqual(['commit', 'rollback'])
  })

  it('that are not kept are no success', async () => {
    const { run } = subject(() => Promise.reject(new Error('not kept')))
    expect(await codeOf(run(callWith().call, async () => 'done'))).toBe('not kept')
  })

  it('2.6 work that outlives the request is outside of it', async () => {
    const { run } = subject()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    await run(callWith().call, async () => {
      const current = scope.getStore()!
      setTimeout(() => resolve(current.isOver), 0)
    })
    expect(await promise).toBe(true)
  })

  it('2.16 work for after the commit has transactions of its own, at most a hundred times', async () => {
    const { asked, open, run } = subject()
    const { call, later, lines } = callWith()
    await run(call, async () => {
      for (let index = 0; index < 100; index++)
        scope.getStore()!.afterCommit(async () => {
          if (index === 0) throw new Error('no')
        })
      expect(() => scope.getStore()!.afterCommit(async () => {})).toThrow('100 works')
    })
    await Promise.all(later)
    expect([open.mock.calls.length, asked.length, lines.length]).toEqual([100, 101, 1])
  })

  it('2.5 the service-role key leaves over the binding alone, and follows no redirect', async () => {
    const { run } = subject()
    const sent: RequestInit[] = []
    const auth = { fetch: async (_url: string, init: RequestInit) => (sent.push(init) ? new Response() : undefined) }
    const manage = (env: Record<string, unknown>) =>
      run(callWith({ env }).call, () => scope.getStore()!.manage('GET', '/v1/management'))
    vi.stubGlobal('fetch', () => Promise.reject(new Error('over the network')))
    expect(await codeOf(manage({ SERVICE_ROLE_KEY: 'k', STACK_URL: 'https://a' }))).toBe(
      'the service binding AUTH is not set',
    )
    vi.unstubAllGlobals()
    await manage({ AUTH: auth, SERVICE_ROLE_KEY: 'k' })
    expect(sent).toMatchObject([{ redirect: 'manual', headers: { apikey: 'k' } }])
  })
})

describe('a line of the log', () => {
  it('keeps its own fields, whatever a project logs', () => {
    const lines: string[] = []
    const log = vi.spyOn(console, 'info').mockImplementation((line: string) => void lines.push(line))
    writeLine({}, 'info', 'a', { level: 'error', message: 'b', worker: 'c', own: 1 })
    log.mockRestore()
    expect(JSON.parse(lines[0]!)).toEqual({ level: 'info', worker: 'backend', message: 'a', own: 1 })
  })
})
