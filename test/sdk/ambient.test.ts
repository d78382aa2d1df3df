/** Ambient services act only for the request that is being served (contract 2.4 to 2.6). */
import { describe, expect, it } from 'vitest'
import { Auth, Database, Log, Notifications, Secrets, Storage } from '../../src/sdk/ambient.ts'
import { OutsideRequest } from '../../src/sdk/errors.ts'
import { Get, Module } from '../../src/sdk/index.ts'
import { type RequestScope, scope } from '../../src/sdk/scope.ts'

function request(env: Record<string, unknown> = {}, answers: Response[] = []): RequestScope & { asked: unknown[] } {
  const asked: unknown[] = []
  const session = (name: string) => ({
    async query<T>(text: string, parameters: readonly unknown[] = []) {
      asked.push([name, text, parameters])
      return [] as T[]
    },
  })
  return {
    requestId: 'req_1',
    env,
    log: (...line) => asked.push(line),
    caller: session('caller'),
    service: session('service'),
    apart: async (work) => work(session('apart')),
    afterCommit: (work) => void work(),
    manage: async (...call) => {
      asked.push(call)
      return answers.shift() ?? new Response(null, { status: 204 })
    },
    isOver: false,
    asked,
  }
}

describe('Secrets', () => {
  it('gives what is set; an empty secret is none', () => {
    const read = (name: string) => scope.run(request({ SET: 'x', EMPTY: '', NUMBER: 7 }), () => Secrets.get(name))
    expect(read('SET')).toBe('x')
    for (const name of ['EMPTY', 'NUMBER', 'ABSENT', '__proto__', 'toString']) {
      expect(() => read(name)).toThrow(`the secret ${name} is not set`)
    }
  })
})

describe('Auth', () => {
  const calling = (answers: Response[], call: () => Promise<unknown>) => {
    const current = request({}, answers)
    return { done: scope.run(current, call), asked: current.asked }
  }
  const refused = (status: number, error: string) =>
    Response.json({ error, error_description: 'why' }, { status, headers: { 'x-request-id': 'req_2' } })

  it('calls the management surface, one route each', async () => {
    const names = Response.json({ data: [{ name: 'a' }, { name: 'b' }] })
    const { done, asked } = calling(
      [new Response(null, { status: 204 }), new Response(null, { status: 204 }), names],
      async () => {
        await Auth.assignRole('usr_1', 'staff' as never)
        await Auth.revokeRole('usr_1', 'staff' as never)
        return Auth.rolesOf('usr_1')
      },
    )
    expect(await done).toEqual(['a', 'b'])
    expect(asked).toEqual([
      ['PUT', '/v1/management/auth/users/usr_1/roles/staff'],
      ['DELETE', '/v1/management/auth/users/usr_1/roles/staff'],
      ['GET', '/v1/management/auth/users/usr_1/roles'],
    ])
  })

  it('4.4 a role is one segment of the path, whatever its name holds', async () => {
    const { done, asked } = calling([], async () => {
      await Auth.assignRole('usr_1', 'Größe?100%#' as never)
    })
    await done
    expect(asked).toEqual([['PUT', '/v1/management/auth/users/usr_1/roles/Gr%C3%B6%C3%9Fe%3F100%25%23']])
  })

  it.each(['..', 'usr_../x', 'usr_1/roles/x', '', 'usr_%2e'])('a user %j is nobody, and no other path', async (id) => {
    const { done, asked } = calling([], () => Auth.rolesOf(id))
    await expect(done).rejects.toMatchObject({ name: 'TransportError', code: 'user_not_found', status: 404 })
    expect(asked).toEqual([])
  })

  it.each(['..', 'a/b', '', 'a b', 'a"'])('a role %j is not defined', async (role) => {
    const { done, asked } = calling([], () => Auth.assignRole('usr_1', role as never))
    await expect(done).rejects.toMatchObject({ name: 'RoleNotDefined', role })
    expect(asked).toEqual([])
  })

  it('a role that nobody declared, and any other refusal', async () => {
    const call = () => Auth.assignRole('usr_1', 'staff' as never)
    await expect(calling([refused(404, 'role_not_defined')], call).done).rejects.toMatchObject({
      name: 'RoleNotDefined',
      role: 'staff',
    })
    await expect(calling([refused(401, 'unauthorized')], call).done).rejects.toMatchObject({
      name: 'TransportError',
      code: 'unauthorized',
      status: 401,
      requestId: 'req_2',
    })
    const bare = new Response('upstream', { status: 502 })
    await expect(calling([bare], call).done).rejects.toMatchObject({ code: 'internal_error', status: 502 })
  })
})

describe('Notifications', () => {
  const sending = (answer: Response, message: Parameters<typeof Notifications.send>[0]) => {
    const current = request({}, [answer])
    return { done: scope.run(current, () => Notifications.send(message)), asked: current.asked }
  }

  it('2.5 is one call of the management surface, whose values are texts', async () => {
    const answer = Response.json({ message_id: 'msg_1' }, { status: 202 })
    const { done, asked } = sending(answer, { to: 'usr_1', template: 'receipt', variables: { order: 7, total: '1' } })
    expect(await done).toEqual({ messageId: 'msg_1' })
    const body = { to: 'usr_1', template: 'receipt', variables: { order: '7', total: '1' } }
    expect(asked).toEqual([['POST', '/v1/management/auth/messages', body]])
  })

  it('throws what the auth worker refuses', async () => {
    const refusal = Response.json(
      { error: 'invalid_message', error_description: 'no template "x" is declared' },
      { status: 422, headers: { 'x-request-id': 'req_2' } },
    )
    await expect(sending(refusal, { to: 'a@example.com', template: 'x' }).done).rejects.toMatchObject({
      name: 'TransportError',
      code: 'invalid_message',
      status: 422,
      requestId: 'req_2',
    })
    const current = request()
    current.manage = () => Promise.reject(new Error('gone'))
    const done = scope.run(current, () => Notifications.send({ to: 'a@example.com', template: 'x' }))
    await expect(done).rejects.toMatchObject({ code: 'unavailable', status: 503 })
  })
})

describe('Storage', () => {
  it('needs its binding, and passes everything on', async () => {
    const put: unknown[] = []
    const bucket = { put: async (...given: unknown[]) => put.push(given) }
    await scope.run(request({ STORAGE: bucket }), () => Storage.put('a', 'b', { httpMetadata: { contentType: 'x/y' } }))
    expect(put).toEqual([['a', 'b', { httpMetadata: { contentType: 'x/y' } }]])
    await expect(scope.run(request(), () => Storage.get('a'))).rejects.toThrow('the binding STORAGE is not set')
  })
})

describe('Database', () => {
  it('binds every value, on the connection that was asked for', async () => {
    const current = request()
    await scope.run(current, async () => {
      await Database.sql`select ${1}, ${"'; drop table x"}`
      await Database.$asService().query('select $1', ['a'])
    })
    expect(current.asked).toEqual([
      ['caller', 'select $1, $2', [1, "'; drop table x"]],
      ['service', 'select $1', ['a']],
    ])
  })
})

describe('outside a request', () => {
  it('every service throws OutsideRequest, naming itself', async () => {
    expect(() => Secrets.get('X')).toThrow(new OutsideRequest('Secrets'))
    expect(() => Log.info('x')).toThrow(/^Log was used outside a request/)
    await expect(Database.sql`select 1`).rejects.toThrow(/^Database was used outside a request/)
    await expect(Database.$asService().query('select 1')).rejects.toBeInstanceOf(OutsideRequest)
    await expect(Auth.rolesOf('usr_1')).rejects.toThrow(new OutsideRequest('Auth'))
    await expect(Notifications.send({ to: 'a', template: 'b' })).rejects.toThrow(new OutsideRequest('Notifications'))
    await expect(Storage.get('a')).rejects.toThrow(new OutsideRequest('Storage'))
  })

  it('so does work that outlives its request', async () => {
    const current = request()
    let later: Promise<unknown> | undefined
    scope.run(current, () => {
      later = Promise.resolve().then(() => Database.sql`select 1`)
    })
    current.isOver = true
    await expect(later).rejects.toBeInstanceOf(OutsideRequest)
  })
})

it('2.1 a decorator that is executed unbuilt throws', () => {
  expect(() => Module({})).toThrow('@Module is read by "stack build" and erased')
  expect(() => Get()).toThrow('@Get is read by "stack build"')
})
