/** The instances of a project: one of each class in an isolate, built without the request of the moment (contract 2.2). */
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { createContainer, invoke } from '../../runtime/container.ts'
import type { Scope } from '../../runtime/transact.ts'

describe('2.2 an instance', () => {
  it('is built at its first use, and then stays', () => {
    const built: string[] = []
    const builders = ['orders', 'users'].map((name) => () => {
      built.push(name)
      return { name }
    })
    const instanceOf = createContainer(builders, undefined)
    expect(built).toEqual([])
    expect(instanceOf(1)).toBe(instanceOf(1))
    expect(instanceOf(0)).not.toBe(instanceOf(1))
    expect(built).toEqual(['users', 'orders'])
  })

  it('sees no request while it is built, so that it keeps the data of none', () => {
    const scope = new AsyncLocalStorage() as unknown as NonNullable<Scope>
    const seen: unknown[] = []
    const instanceOf = createContainer([() => ({ seen: seen.push(scope.getStore()) })], scope)
    scope.run({ caller: 'usr_1' } as never, () => instanceOf(0))
    expect(seen).toEqual([undefined])
  })

  it('whose constructor throws is built again by the next request', () => {
    let attempts = 0
    const instanceOf = createContainer(
      [
        () => {
          attempts += 1
          if (attempts === 1) throw new TypeError('not yet')
          return { attempts }
        },
      ],
      undefined,
    )
    expect(() => instanceOf(0)).toThrow('not yet')
    expect(instanceOf(0)).toEqual({ attempts: 2 })
  })

  it('is the receiver of its methods', () => {
    class Orders {
      constructor(private readonly name: string) {}
      show(...values: unknown[]) {
        return [this.name, ...values]
      }
    }
    expect(invoke(new Orders('orders'), 'show', [1, 'a'])).toEqual(['orders', 1, 'a'])
  })
})
