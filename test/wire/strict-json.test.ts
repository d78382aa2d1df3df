/** Strict JSON: each fault with its place, and otherwise the value that `JSON.parse` makes. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStrictJson } from '../../src/wire/strict-json.ts'
import { titled } from '../support/titles.ts'

const file = path.resolve(import.meta.dirname, '../../../shared/vectors/json-strict.json')
const isThere = fs.existsSync(file)
if (!isThere) process.stderr.write('the public JSON texts are not beside this repository: their tests are skipped\n')

/** The kind, the path and the place of each fault. */
const faultsOf = (text: string, options = {}) =>
  readStrictJson(text, options).faults.map(({ kind, path, line, column }) =>
    [kind, path.join('.'), `${line}:${column}`].join(' '),
  )

describe('a fault', () => {
  it.each(
    titled([
      ['{"a":1,"a":2}', 'duplicate a 1:8'],
      ['{"a":1,"\\u0061":2}', 'duplicate a 1:8'],
      ['{"__proto__":1,"__proto__":2}', 'duplicate __proto__ 1:16'],
      ['{"list":[{"key":"a",\n  "key":"b"}]}', 'duplicate list.0.key 2:3'],
      ['{"a":1,}', 'syntax  1:8'],
      ['[1,]', 'syntax 1 1:4'],
      ['{"a":1 /* why */}', 'syntax  1:8'],
      ["{'a':1}", 'syntax  1:2'],
      ['{"a":NaN}', 'syntax a 1:6'],
      ['{"a":01}', 'syntax  1:7'],
      ['{"a":"\n"}', 'syntax a 1:7'],
      ['{"a":"\\x"}', 'syntax a 1:6'],
      ['{"a":"b', 'syntax a 1:6'],
      ['{"a":"b\\', 'syntax a 1:6'],
      ['{} {}', 'syntax  1:4'],
      ['', 'syntax  1:1'],
      ['\ufeff{}', 'syntax  1:1'],
    ]),
  )('%s', (_title, text, fault) => {
    expect(faultsOf(text)).toEqual([fault])
  })

  it('null is one only where it is no value', () => {
    expect(faultsOf('{"a":null,"b":[null]}')).toEqual([])
    expect(faultsOf('{"a":null,"b":[null]}', { hasNull: false })).toEqual(['null a 1:6', 'null b.0 1:16'])
  })

  it('two names that differ are none', () => {
    expect(faultsOf('{"a":1,"A":2,"á":3,"a\\u0301":4,"b":{"a":1}}')).toEqual([])
  })

  it('64 levels are allowed, 65 are not', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(faultsOf(nested(64))).toEqual([])
    expect(readStrictJson(nested(65)).faults[0]).toMatchObject({ kind: 'nesting', line: 1, column: 65 })
    expect(readStrictJson('['.repeat(1_000_000)).faults).toHaveLength(1)
    expect(readStrictJson('{"a":'.repeat(100_000)).faults).toHaveLength(1)
  })

  it('of a thousand, fifty are told', () => {
    expect(faultsOf(`{${Array(1_000).fill('"a":1').join()}}`)).toHaveLength(50)
  })
})

describe('a place', () => {
  const { placeOf } = readStrictJson('{\n  "a": [10,\n    { "b": true }]\n}')
  it.each([
    [[], '1:1'],
    [['a'], '2:3'],
    [['a', 0], '2:9'],
    [['a', 1, 'b'], '3:7'],
    [['a', 1, 'missing'], '3:5'],
    [['missing', 'x'], '1:1'],
  ] as const)('of %j is %s', (path, place) => {
    const { line, column } = placeOf(path)
    expect(`${line}:${column}`).toBe(place)
  })
})

it('the value is that of JSON.parse', () => {
  const text = '{"a":[1,-0,2.5e3,true,false,null,"\\u00e4\\n\\ud83d\\ude00"],"__proto__":{"b":1},"constructor":1,"":{}}'
  const { value, faults } = readStrictJson(text)
  expect(faults).toEqual([])
  expect(value).toEqual(JSON.parse(text))
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.keys(value as object)).toEqual(['a', '__proto__', 'constructor', ''])
})

describe.skipIf(!isThere)('the public JSON texts', () => {
  interface Case {
    name: string
    expect?: 'accept' | 'reject' | 'either'
    b64?: string
    gen?: string
  }
  const { cases, extra } = isThere
    ? (JSON.parse(fs.readFileSync(file, 'utf8')) as { cases: Case[]; extra: Case[] })
    : { cases: [], extra: [] }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** `undefined` where the bytes are no UTF-8: a reader of bytes refuses them before this one. */
  const textOf = ({ b64 = '' }: Case): string | undefined => {
    try {
      return decoder.decode(Buffer.from(b64, 'base64'))
    } catch {
      return undefined
    }
  }

  it.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const text = textOf(one)
    if (text === undefined) return expect(one.expect).not.toBe('accept')
    const { value, faults } = readStrictJson(text)
    if (one.expect === 'reject') expect(faults).not.toEqual([])
    const harmless = faults.filter(({ kind }) => kind === 'syntax')
    if (one.expect === 'accept') expect(harmless).toEqual([])
    if (faults.length === 0) expect(value).toEqual(JSON.parse(text))
    else if (harmless.length === 0) expect(() => JSON.parse(text)).not.toThrow()
    else expect(() => JSON.parse(text)).toThrow()
  })

  it.each(extra.filter(({ b64 }) => b64).map((one) => [one.name, one] as const))('%s', (name, one) => {
    const faults = readStrictJson(textOf(one)!, { hasNull: false }).faults
    // an unknown field is refused by the reader of the document, not by the reader of JSON
    expect(faults.length > 0).toBe(name !== 'proto')
  })
})
