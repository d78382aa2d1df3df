/** The header Device-Assertion: one spelling for each value, within its bounds (contract 3.7). */
import { describe, expect, it } from 'vitest'
import { appExtensions, assertedText, readAssertion } from '../../src/wire/device-assertion.ts'

const decode = (text: string) => {
  const bytes = new Uint8Array(Buffer.from(text, 'base64url'))
  return Buffer.from(bytes).toString('base64url') === text ? bytes : undefined
}
const read = (value: string) => readAssertion(value, decode)
const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)])
const b64u = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const headerOf = (parts: { k?: string; t?: string; n?: string; proof?: string } = {}) => {
  const {
    k = b64u(point),
    t = '1790000000',
    n = b64u(Buffer.alloc(16, 1)),
    proof = `es256=${b64u(Buffer.alloc(70))}`,
  } = parts
  return `v=1, k=${k}, t=${t}, n=${n}, ${proof}`
}

describe('the header', () => {
  it.each(['es256', 'apple'] as const)('gives the parts of an assertion by %s', (form) => {
    expect(read(headerOf({ proof: `${form}=${b64u(Buffer.alloc(70, 2))}` }))).toEqual({
      point: new Uint8Array(point),
      time: 1_790_000_000,
      nonce: b64u(Buffer.alloc(16, 1)),
      form,
      proof: new Uint8Array(70).fill(2),
    })
  })

  it('has 1,200 characters at most', () => {
    const rest = 1_200 - headerOf({ proof: 'apple=' }).length
    // a text of base64url has a length of 4 n + 1 never
    const lengths = [rest, rest + 1].map((length) => headerOf({ proof: `apple=${'A'.repeat(length)}` }))
    expect(lengths.map((value) => [value.length, read(value) !== undefined])).toEqual([
      [1_200, true],
      [1_201, false],
    ])
  })

  it.each([
    ['a compressed point', { k: b64u(Buffer.alloc(33, 2)) }],
    ['a point of another form', { k: b64u(Buffer.concat([Buffer.from([6]), point.subarray(1)])) }],
    ['a longer point', { k: b64u(Buffer.concat([point, Buffer.from([0])])) }],
    [
      'a point with bits that no byte holds',
      { k: `${b64u(point).slice(0, -1)}${b64u(point).at(-1) === 'd' ? 'c' : 'd'}` },
    ],
    ['a time with a zero before it', { t: '0179000000' }],
    ['a time of 11 digits', { t: '17900000000' }],
    ['a negative time', { t: '-179000000' }],
    ['a time with a fraction', { t: '1790000000.5' }],
    ['a nonce of 15 bytes', { n: b64u(Buffer.alloc(15)) }],
    ['a nonce of 17 bytes', { n: b64u(Buffer.alloc(17)) }],
    ['a nonce in another spelling', { n: `${'A'.repeat(21)}B` }],
    ['padding', { n: `${'A'.repeat(21)}=` }],
    ['a short proof', { proof: `es256=${'A'.repeat(11)}` }],
    ['another form', { proof: `es384=${'A'.repeat(96)}` }],
    ['both forms', { proof: `es256=${'A'.repeat(96)}, apple=${'A'.repeat(96)}` }],
    ['a line end behind it', { proof: `es256=${'A'.repeat(96)}\n` }],
  ])('with %s is none', (_what, parts) => {
    expect(read(headerOf(parts))).toBeUndefined()
  })

  it.each([
    ['another order', (value: string) => value.replace(/(k=\S+), (t=\S+)/, '$2, $1')],
    ['no blanks', (value: string) => value.replaceAll(', ', ',')],
    ['two blanks', (value: string) => value.replace(', ', ',  ')],
    ['upper-case names', (value: string) => value.replace('v=', 'V=')],
    ['another version', (value: string) => value.replace('v=1', 'v=2')],
    ['itself behind it', (value: string) => `${value}, ${value}`],
    ['nothing', () => ''],
  ])('in %s is none', (_what, change) => {
    expect(read(headerOf())).toBeDefined()
    expect(read(change(headerOf()))).toBeUndefined()
  })
})

describe('the signed text', () => {
  it('has seven lines, and the first is no request of another kind', () => {
    const request = { time: 1, nonce: 'n', method: 'GET', target: '/a?b', bodyDigest: 'x', tokenDigest: 'y' }
    expect(assertedText(request)).toBe('stack-device-1\n1\nn\nGET\n/a?b\nx\ny')
  })
})

describe('the extensions of iOS 27', () => {
  const of = (entries: [string, string | number | Uint8Array<ArrayBuffer>][]) => appExtensions(new Map(entries))
  const [category, version] = ['apple_validation_category_01', 'apple_bundle_version_01']

  it('have a category in little-endian order, and a bundle version', () => {
    expect(of([[category, new Uint8Array([4, 1, 0, 0])]])).toEqual({ category: 260 })
    expect(of([[version, '2.1']])).toEqual({ bundle_version: '2.1' })
    expect(of([['another', 1]])).toEqual({})
    expect(of([[version, 'a'.repeat(100)]])).toEqual({ bundle_version: 'a'.repeat(100) })
  })

  it.each([
    ['no map', 7],
    ['a category of 3 bytes', new Map([[category, new Uint8Array(3)]])],
    ['a category that is a number', new Map([[category, 4]])],
    ['a version that is a number', new Map([[version, 7]])],
    ['an empty version', new Map([[version, '']])],
    ['a version of 101 characters', new Map([[version, 'a'.repeat(101)]])],
  ])('are malformed with %s', (_what, value) => {
    expect(appExtensions(value as never)).toBeUndefined()
  })
})
