/** Text of an address or a header becomes the numbers, booleans and lists that its schema takes (contract 2.8). */
import { describe, expect, it } from 'vitest'
import { texts } from '../../runtime/coerce.ts'
import type { Coercion, Parameter } from '../../runtime/table.ts'

const numbers: Coercion = { one: ['number'] }
const query = (coerce: Coercion): Parameter => ({ from: 'query', name: 'q', coerce })
const read = (coerce: Coercion, value: unknown) => texts.coerced(query(coerce), value)

describe('2.8 a number', () => {
  it.each([
    ['7', 7],
    ['-7.5', -7.5],
    ['1e3', 1000],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', 9_007_199_254_740_992],
  ])('%s is one', (text, value) => expect(read(numbers, text)).toBe(value))

  it.each(['', ' 7', '7 ', '0x10', '07', '+7', '7.', '.5', 'Infinity', 'NaN', '1_000', '9007199254740993'])(
    '"%s" is none, and the schema gets the text',
    (text) => expect(read(numbers, text)).toBe(text),
  )

  it('-0 is 0', () => expect(Object.is(read(numbers, '-0'), 0)).toBe(true))
})

describe('2.8 a boolean', () => {
  const booleans: Coercion = { one: ['boolean'] }
  it('is "true" or "false", and no other text', () => {
    const values = ['true', 'false', 'TRUE', '1', '0', '', 'yes'].map((text) => read(booleans, text))
    expect(values).toEqual([true, false, 'TRUE', '1', '0', '', 'yes'])
  })

  it('is tried in the order of the forms', () => {
    expect(['7', 'true', 'x'].map((text) => read({ one: ['number', 'boolean'] }, text))).toEqual([7, true, 'x'])
  })
})

describe('2.8 a list', () => {
  const lists: Coercion = { list: ['number'] }
  it('is a repeated parameter, and one alone where the schema takes no single value', () => {
    expect([read(lists, ['1', '2']), read(lists, '1')]).toEqual([[1, 2], [1]])
    expect(read({ one: ['number'], list: ['number'] }, '1')).toBe(1)
  })

  it('stays as it is where the schema takes none', () => expect(read(numbers, ['1', '2'])).toEqual(['1', '2']))

  it('of a path or a header is joined by commas; of a query it is not', () => {
    const of = (from: 'param' | 'header'): Parameter => ({ from, name: 'q', position: 0, coerce: lists }) as Parameter
    expect(texts.coerced(of('param'), '1, 2')).toEqual([1, 2])
    expect(texts.coerced(of('header'), '1,2')).toEqual([1, 2])
    expect(read(lists, '1,2')).toEqual(['1,2'])
    const either: Parameter = { from: 'header', name: 'q', coerce: { one: ['number'], list: ['number'] } }
    expect(texts.coerced(either, '1,2')).toBe('1,2')
  })

  it('of an address is found by its name', () => {
    const given = new URLSearchParams('a=1&b=2&a=3')
    expect(['a', 'b', 'c'].map((name) => texts.listed(given, name))).toEqual([['1', '3'], '2', undefined])
  })
})

describe('2.8 a whole query', () => {
  it('has the form of each name, and of the rest for other names', () => {
    const coerce = { named: [['page', numbers]] as [string, Coercion][], rest: { one: ['boolean' as const] } }
    const whole: Parameter = { from: 'wholeQuery', coerce }
    expect(texts.coerced(whole, { page: '2', deep: 'true' })).toEqual({ page: 2, deep: true })
    const named: Parameter = { from: 'wholeQuery', coerce: { named: coerce.named } }
    expect(texts.coerced(named, { page: '2', deep: 'true' })).toEqual({ page: 2, deep: 'true' })
  })

  it('without a schema is text, and what is absent stays absent', () => {
    expect(texts.coerced({ from: 'query', name: 'q' }, '7')).toBe('7')
    expect(read(numbers, undefined)).toBeUndefined()
  })
})
