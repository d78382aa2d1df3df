import { describe, expect, it } from 'vitest'
import { CborFault, readCbor, readCborPrefix } from '../../src/wire/cbor.ts'
import { titled } from '../support/titles.ts'

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('CBOR', () => {
  it.each(
    titled([
      ['an empty input', ''],
      ['trailing bytes', '01 01'],
      ['a number in a longer form', '18 17'],
      ['a number in two bytes that fits into one', '19 00ff'],
      ['a number in four bytes that fits into two', '1a 0000ffff'],
      ['a number in eight bytes that fits into four', '1b 00000000ffffffff'],
      ['a number above 2^53', '1b 0020000000000000'],
      ['bytes of an indefinite length', '5f 41 01 ff'],
      ['a text of an indefinite length', '7f 61 61 ff'],
      ['a list of an indefinite length', '9f ff'],
      ['a map of an indefinite length', 'bf ff'],
      ['a break alone', 'ff'],
      ['a reserved length', '1c'],
      ['bytes beyond the input', '5a ffffffff 00'],
      ['a list beyond the input', '9a ffffffff 00'],
      ['a text that is not UTF-8', '61 ff'],
      ['a key twice', 'a2 01 00 01 00'],
      ['a key of text twice', 'a2 6161 00 6161 00'],
      ['a list as a key', 'a1 80 00'],
      ['bytes as a key', 'a1 41 00 00'],
      ['a tag', 'c0 00'],
      ['a floating-point number', 'fb 3ff0000000000000'],
      ['undefined', 'f7'],
      ['a simple value', 'f8 20'],
      ['lists that are 10,000 deep', '81'.repeat(10_000)],
      ['2,000 values', `9907d0${'00'.repeat(2_000)}`],
    ]),
  )('refuses %s', (_title, _what, text) => {
    expect(() => readCbor(hex(text))).toThrow(CborFault)
  })

  it('reads values in their one encoding', () => {
    expect(readCbor(hex('83 01 20 f5'))).toEqual([1, -1, true])
    expect(readCbor(hex('a2 01 02 6161 43 010203'))).toEqual(
      new Map<unknown, unknown>([
        [1, 2],
        ['a', hex('010203')],
      ]),
    )
    expect(readCbor(hex('1b 001fffffffffffff'))).toBe(Number.MAX_SAFE_INTEGER)
    expect(readCbor(hex('f6'))).toBeNull()
  })

  it('tells which bytes follow the first value', () => {
    expect(readCborPrefix(hex('01 02 03'))).toEqual({ value: 1, rest: hex('0203') })
  })
})
