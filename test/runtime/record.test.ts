/** Names and values as one object: of a query, of a form. */
import { expect, it } from 'vitest'
import { recordOf } from '../../runtime/record.ts'

it('keeps each value of a name, in order, and one alone as a text', () => {
  const record = recordOf(new URLSearchParams('a=1&b=2&a=&c=3&a=4&__proto__=5'))
  expect(Object.entries(record)).toEqual([
    ['a', ['1', '', '4']],
    ['b', '2'],
    ['c', '3'],
    ['__proto__', '5'],
  ])
  expect(Object.getPrototypeOf(record)).toBe(Object.prototype)
  expect(recordOf([])).toEqual({})
})
