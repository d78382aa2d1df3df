/** 2.4 – 2.6: ambient services act for the request that is being served, and for nobody else. */
import { describe, expect, it } from 'vitest'
import { Database, Log, Secrets } from '../../src/sdk/ambient.ts'
import { OutsideRequest } from '../../src/sdk/errors.ts'
import { Get, Module } from '../../src/sdk/index.ts'
import { type RequestScope, scope } from '../../src/sdk/scope.ts'

function request(env: Record<string, unknown> = {}): RequestScope & { asked: unknown[] } {
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
