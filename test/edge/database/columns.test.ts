/** Checks docs/columns.md line by line: the value of each type in a handler in workerd, and in its JSON answer. */
import * as fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'x' })

const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../../docs/columns.md'), 'utf8')
const lines = page
  .split('\n')
  .filter((line) => /^\| (?!type|-)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '))
  .map(([type, ...cells]) => [type!, ...cells.map((cell) => cell.trim().slice(1, -1))].map((cell) => cell.trim()))

beforeAll(async () => {
  await probe.sql(`create type mood as enum ('glad');
    create type pair as (a int, b text);
    create domain cents as int8`)
})

const read = async (text: string) => (await probe.call('/columns', { json: { text: `select ${text} as it` } })).json

describe('docs/columns.md', () => {
  it('has a line for every type that people declare', () => {
    expect(lines.length).toBeGreaterThan(40)
    for (const line of lines) expect(line).toHaveLength(4)
  })

  it.each(lines)('%s', async (_type, example, kind, json) => {
    expect(await read(example!)).toEqual([{ name: 'it', kind, json: JSON.parse(json!) }])
  })

  it('what it says of counts, days, moods and bytes', async () => {
    expect(await read('count(*)')).toMatchObject([{ kind: 'string', json: '1' }])
    expect(await read('count(*)::int4')).toMatchObject([{ kind: 'number', json: 1 }])
    expect(await read(`(date '2026-01-02')::text`)).toMatchObject([{ json: '2026-01-02' }])
    expect(await read(`array['glad'::mood]::text[]`)).toMatchObject([{ kind: 'string[]', json: ['glad'] }])
    expect(await read(`encode('\\xdead', 'base64')`)).toMatchObject([{ json: '3q0=' }])
    expect(await read(`'infinity'::timestamptz`)).toMatchObject([{ kind: 'number', json: null }])
    expect(await read(`'NaN'::float8`)).toMatchObject([{ kind: 'number', json: null }])
    expect(await read(`'null'::jsonb`)).toMatchObject([{ kind: 'null', json: null }])
    expect(await read(`array[0.1234567890123456789]::numeric[]`)).toMatchObject([{ json: [0.12345678901234568] }])
    expect(await read(`array[0.1234567890123456789]::numeric[]::text[]`)).toMatchObject([
      { json: ['0.1234567890123456789'] },
    ])
  })

  it('a moment is a Date in the handler', async () => {
    const text = `select timestamptz '2026-01-02 03:04:05.123456+02' as at`
    expect((await probe.call('/columns/moment', { json: { text } })).json).toEqual({
      iso: '2026-01-02T01:04:05.123Z',
      isDate: true,
    })
  })
})
