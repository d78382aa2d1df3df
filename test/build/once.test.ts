/** A build remembers which declarations are sound, and for what (contract 8.6). */
import { describe, expect, it } from 'vitest'
import type { Application } from '../../build/application.ts'
import type { ClassDeclaration, Span } from '../../build/declaration.ts'
import { type Refusal, refusal } from '../../build/refusals/index.ts'
import type { BuildContext } from '../../build/refuse/context.ts'
import { once } from '../../build/refuse/once.ts'

const declaration = { name: 'Orders' } as ClassDeclaration
const under = (root?: ClassDeclaration) => ({ roots: root ? [root] : [] }) as unknown as Application
const context = {} as BuildContext
const root = { name: 'AppModule' } as ClassDeclaration

/** @returns a remembering check that finds as many refusals as it is told, and the number of its runs. */
function counted(found: () => number) {
  let runs = 0
  const place: Span = { file: 'src/orders.ts', start: 0, end: 1 }
  const check = once(() => {
    runs++
    return Array.from({ length: found() }, (): Refusal<Span> => refusal('default-export', place, { name: 'Orders' }))
  })
  return { check, runs: () => runs }
}

describe('8.6 a sound declaration', () => {
  it('is not checked again', () => {
    const { check, runs } = counted(() => 0)
    for (const _ of [1, 2]) expect(check(declaration, under(root), context)).toEqual([])
    expect(runs()).toBe(1)
  })

  it('is checked again under another root, in another context, and as another declaration', () => {
    const { check, runs } = counted(() => 0)
    check(declaration, under(root), context)
    check(declaration, under(root), { ...context })
    expect(runs()).toBe(2)
    check(declaration, under(root), context)
    check(declaration, under({ ...root }), context)
    expect(runs()).toBe(4)
    check({ ...declaration }, under(root), context)
    expect(runs()).toBe(5)
  })

  it('is checked each time while no module is the root', () => {
    const { check, runs } = counted(() => 0)
    for (const _ of [1, 2]) check(declaration, under(), context)
    expect(runs()).toBe(2)
  })
})

it('8.6 a refused declaration is refused each time', () => {
  const { check } = counted(() => 1)
  const slugs = [1, 2].map(() => check(declaration, under(root), context).map(({ slug }) => slug))
  expect(slugs).toEqual([['default-export'], ['default-export']])
})
