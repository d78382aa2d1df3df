import { describe, expect, it } from 'vitest'
import {
  booleanOf,
  contextTag,
  DerFault,
  namedBits,
  objectIdentifier,
  rawSignature,
  readDer,
  readElements,
  setOf,
  smallInteger,
  timeOf,
  wholeBits,
} from '../../src/wire/der.ts'
import { titled } from '../support/titles.ts'

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const read = (text: string) => readDer(hex(text))

describe('DER', () => {
  it.each(
    titled([
      ['an empty input', ''],
      ['a tag alone', '30'],
      ['a length without contents', '3001'],
      ['trailing bytes', '3000 00'],
      ['an indefinite length', '3080 0000'],
      ['a length in two octets that fits into one', '3081 01 00'],
      ['a length in three octets that fits into two', '308200 80'],
      ['a length of five octets', '30 85 0000000001 00'],
      ['a length beyond the input', '30 83 ffffff 00'],
      ['a high tag number that is padded', 'bf 80 1f 00'],
      ['a high tag number below 31', 'bf 1e 00'],
      ['a high tag number above 16,383', 'bf ff ff 7f 00'],
      ['a high tag number of another class', '1f 1f 00'],
    ]),
  )('refuses %s', (_title, _what, text) => {
    expect(() => read(text)).toThrow(DerFault)
  })

  it.each(
    titled([
      ['INTEGER', '02 00', smallInteger],
      ['INTEGER', '02 02 00 01', smallInteger],
      ['INTEGER', '02 02 ff ff', smallInteger],
      ['INTEGER', '02 01 80', smallInteger],
      ['INTEGER', '02 07 01000000000000', smallInteger],
      ['INTEGER', '0a 01 01', smallInteger],
      ['BOOLEAN', '01 01 01', booleanOf],
      ['BOOLEAN', '01 00', booleanOf],
      ['OBJECT IDENTIFIER', '06 00', objectIdentifier],
      ['OBJECT IDENTIFIER', '06 02 2a 80', objectIdentifier],
      ['OBJECT IDENTIFIER', '06 03 2a 80 01', objectIdentifier],
      ['OBJECT IDENTIFIER', '06 0b 2a ffffffffffffffffff 7f', objectIdentifier],
      ['BIT STRING', '03 00', wholeBits],
      ['BIT STRING', '03 02 01 80', wholeBits],
      ['named bits', '03 02 08 80', namedBits],
      ['named bits', '03 01 01', namedBits],
      ['named bits', '03 02 00 80', namedBits],
      ['named bits', '03 02 07 00', namedBits],
      ['SET OF', '31 06 02 01 02 02 01 01', (element: ReturnType<typeof read>) => setOf(element, 8)],
      ['SET OF', '31 06 02 01 01 02 01 02', (element: ReturnType<typeof read>) => setOf(element, 1)],
      ['UTCTime', '17 0d 323630313031303030303030 5a00', timeOf],
      ['UTCTime', '17 0b 32363031303130303030 5a', timeOf],
      ['UTCTime', '17 0d 323630323330303030303030 5a', timeOf],
      ['GeneralizedTime', '18 0d 323630313031303030303030 5a', timeOf],
      ['GeneralizedTime', '18 11 32303236303130313030303030302e35 5a', timeOf],
    ] as const),
  )('refuses an %s', (_title, _type, text, of) => {
    expect(() => of(readDer(hex(text.slice(0, 2) + text.slice(2))))).toThrow(DerFault)
  })

  it('reads values in their one encoding', () => {
    expect(smallInteger(read('02 01 00'))).toBe(0)
    expect(smallInteger(read('02 02 00 80'))).toBe(128)
    expect(booleanOf(read('01 01 ff'))).toBe(true)
    expect(objectIdentifier(read('06 09 2a864886f763640802'))).toBe('1.2.840.113635.100.8.2')
    expect(objectIdentifier(read('06 03 550413'.replace('13', '03')))).toBe('2.5.4.3')
    expect([...wholeBits(read('03 03 00 a1b2'))]).toEqual([0xa1, 0xb2])
    expect(namedBits(read('03 02 02 04'))).toBe(0x0400)
    expect(new Date(timeOf(read('17 0d 353030313031303030303030 5a'))).toISOString()).toBe('1950-01-01T00:00:00.000Z')
    expect(new Date(timeOf(read('18 0f 3230343830323239313233343536 5a'))).toISOString()).toBe(
      '2048-02-29T12:34:56.000Z',
    )
    expect(read('bf 85 45 00').tag).toBe(contextTag(709))
  })

  it('reads no more elements than were asked for', () => {
    expect(() =>
      readElements(
        new Uint8Array(4_000).fill(5).map((_, index) => (index % 2 === 0 ? 5 : 0)),
        100,
      ),
    ).toThrow(DerFault)
  })

  it('gives a signature the fixed length that WebCrypto takes', () => {
    const raw = rawSignature(hex('30 06 02 01 01 02 01 02'))
    expect([raw.length, raw[31], raw[63]]).toEqual([64, 1, 2])
    for (const wrong of [
      '30 03 02 01 01',
      '30 06 02 01 81 02 01 02',
      '30 09 02 01 01 02 01 02 02 01 03',
      `30 26 02 21 01${'00'.repeat(32)} 02 01 01`,
    ]) {
      expect(() => rawSignature(hex(wrong))).toThrow(DerFault)
    }
  })
})
