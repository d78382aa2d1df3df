/** Decorators are blanked in place (contract 2.1). */
import { describe, expect, it } from 'vitest'
import { erase } from '../../build/emit/erase.ts'

const spans = (text: string, onMember: boolean) =>
  [...text.matchAll(/@\w+\([^)]*\)/g)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    onMember,
  }))

describe('erase', () => {
  it('keeps every other character at its line and column', () => {
    const text = '@C(\n  "x",\r\n)\nclass A {}\n'
    const erased = erase(text, spans(text, false))
    expect(erased).toHaveLength(text.length)
    expect(erased.replace(/[^\r\n]/g, '')).toBe('\n\r\n\n\n')
    expect(erased.trim()).toBe('class A {}')
    expect(erased.indexOf('class')).toBe(text.indexOf('class'))
  })

  it('leaves a semicolon for a member’s decorator, so that a field before it ends', () => {
    const text = 'class A { a = 1\n @D() [x]() {} }'
    expect(erase(text, spans(text, true))).toBe('class A { a = 1\n ;    [x]() {} }')
  })

  it('takes the spans in any order', () => {
    const text = '@A() @B() x'
    expect(erase(text, spans(text, false).reverse())).toBe('          x')
  })
})
