/** Requests that no honest client sends, made of the documented example of each operation by a generator with a seed. */
import { documentedOperation } from './document.ts'
import { createRandom } from './random.ts'
import type { Operation } from './surface.ts'

export interface HostileInput {
  /** Names the kind of the request in a failed test. */
  name: string
  /** As it stands on the first line of the request. */
  target: string
  headers: [name: string, value: string][]
  body: Buffer
}

/** JSON texts that take the place of a value, among them some that `JSON.stringify` never writes. */
const values = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1.5', '1e308', '1e999', '-1e999', '9007199254740993', '5e-324'],
  ...['""', '" "', '[]', '{}', '[[]]', '[null]', '[{}]', '{"":""}', '{"0":"a","length":1}', '{"toString":1}'],
  ...['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ufeff"', '"\\u202e"', '"\\r\\n\\r\\n"', '"%00"'],
  ...['"__proto__"', '{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{}}}', '"$(id)"', `"' or 1=1 --"`],
  ...['"2026-02-30T25:61:61Z"', '"+275760-09-13T00:00:00.001Z"', '"infinity"', '"NaN"', '"-infinity"'],
  '9'.repeat(5_000),
  `"${'a'.repeat(20_000)}"`,
  `"${'\\u0301'.repeat(2_000)}"`,
  `${'['.repeat(300)}${']'.repeat(300)}`,
  `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
  `[${Array(2_000).fill('"a"').join(',')}]`,
]

/** Whole bodies that are no object, or no JSON. */
const bodies = [
  ...['', ' ', 'null', 'true', '7', '"text"', '[]', '[{}]', '{', '{"a"', '{"a":1}}', '{}{}', "{'a':1}", '{"a":1,}'],
  ...[
    '{a:1}',
    'NaN',
    '{"a":Infinity}',
    '{"a":01}',
    '{"a":"\n"}',
    '// a\n{}',
    '\u2028{}',
    '{"a":"\\x41"}',
    '{"a":"\\ud8"}',
  ],
  '['.repeat(60_000),
  '{"a":'.repeat(60_000),
  `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
].map((text) => Buffer.from(text))
const binaryBodies = [
  Buffer.from('\ufeff{}', 'utf8'),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00]),
  Buffer.alloc(64),
]

const types = [
  ...['', 'text/plain', 'application/xml', 'application/json, application/json', 'application/json; charset=utf-16'],
  ...[
    'application/jsonx',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'application/x-www-form-urlencoded',
  ],
  ...['json', ';', '*/*', 'application/json;charset="', 'application/merge-patch+json'],
]

const segments = [
  ...[
    '%00',
    '%2e%2e',
    '%2e',
    '%2F',
    '..%2f..',
    '%ff',
    '%c0%af',
    '%ed%a0%80',
    '%',
    '%zz',
    '%25',
    '%0d%0a',
    ';a=b',
    '%5c',
  ],
  ...['a'.repeat(4_000), '%F0%9F%98%80', '%E2%80%AE', "'", '%22', 'null', '-1', '__proto__', 'constructor', '*', '%20'],
]

const queries = [
  ...[
    'limit=99999999999999999999',
    'limit=-1',
    'limit=1e1',
    'limit=%00',
    'cursor=%00',
    'cursor=%ff',
    'cursor=e30',
    '%=%',
  ],
  ...[
    '=',
    '&&&',
    'a[]=1&a[]=2',
    'limit=1&limit=2',
    '__proto__=1',
    '%ed%a0%80=1',
    'from=infinity',
    'from=0000-00-00',
    '?',
  ],
  `a=${'b'.repeat(7_000)}`,
  Array.from({ length: 500 }, (_, at) => `k${at}=1`).join('&'),
]

const headers: [string, string][] = [
  ...['Bearer', 'Bearer ', 'Bearer a.b.c', 'Basic eDp5', `Bearer ${'a'.repeat(6_000)}`].map(
    (value): [string, string] => ['authorization', value],
  ),
  ...['*', '"', 'W/"1"', `"${'9'.repeat(400)}"`, '"1", "2"'].map((value): [string, string] => ['if-match', value]),
  ...['gzip', 'br', 'identity, gzip', 'x'].map((value): [string, string] => ['content-encoding', value]),
  ...['', 'x', '\u00ff', `a${'b'.repeat(6_000)}`].map((value): [string, string] => ['x-request-id', value]),
  ...['x', 'time=1', `${'a,'.repeat(2_000)}`].map((value): [string, string] => ['device-assertion', value]),
  ...['x', ', ,', '::ffff:999.1.1.1', 'a'.repeat(3_000)].map((value): [string, string] => ['cf-connecting-ip', value]),
  ['user-agent', '\u00e9'.repeat(3_000)],
  ['accept-language', ','.repeat(3_000)],
]

/** @returns the places of all values in a document, the document itself left out. */
function placesOf(value: unknown, at: string[] = []): string[][] {
  const own = at.length === 0 ? [] : [at]
  if (typeof value !== 'object' || value === null) return own
  return [...own, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))]
}

/** Writes a document with another JSON text at a place. */
function textWith(value: unknown, [name, ...rest]: string[], text: string): string {
  if (name === undefined) return text
  const mark = `\u0001${name}`
  const copy = structuredClone(value) as Record<string, unknown>
  const member = textWith(copy[name], rest, text)
  copy[name] = mark
  return JSON.stringify(copy).replace(JSON.stringify(mark), () => member)
}

/** Writes a name with an escape, which is the same name for a parser of JSON. */
const escaped = (name: string) => `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`

/** @param count number of requests for each operation. */
export function hostileInputs(operations: Operation[], seed: number, count: number): [Operation, HostileInput[]][] {
  const random = createRandom(seed)
  const any = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

  function inputFor({ method, path }: Operation): HostileInput {
    const content = documentedOperation(method, path).requestBody?.content
    const documented = content?.['application/json']
    const example = (documented?.example ?? {}) as Record<string, unknown>
    const input: HostileInput = {
      name: '',
      target: path.replace(/:\w+/g, 'unknown'),
      headers: [],
      body: Buffer.from(content ? JSON.stringify(example) : ''),
    }
    const type = content && !documented ? Object.keys(content)[0]! : 'application/json'
    const kinds: (() => string)[] = [
      () => {
        input.target += `?${any(queries)}`
        return 'query'
      },
      () => {
        input.headers.push(any(headers))
        return 'header'
      },
      () => {
        input.target = /:\w+/.test(path)
          ? path.replace(/:\w+/g, () => any(segments))
          : `${path}${any(['/', '//', '/.', '/..', ''])}${any(segments)}`
        return 'path'
      },
      () => {
        input.body = random() < 0.7 ? any(bodies) : any(binaryBodies)
        return 'body'
      },
    ]
    const places = placesOf(example)
    if (content) {
      kinds.push(() => {
        input.headers.push(['content-type', any(types)])
        return 'type'
      })
    }
    if (places.length > 0) {
      const inPlace = () => {
        input.body = Buffer.from(textWith(example, any(places), any(values)))
        return 'value'
      }
      const repeated = () => {
        const name = any(Object.keys(example))
        const other = random() < 0.5 ? escaped(name) : JSON.stringify(name)
        input.body = Buffer.from(`{${other}:${any(values)},${JSON.stringify(example).slice(1)}`)
        return 'repeated name'
      }
      kinds.push(inPlace, inPlace, inPlace, inPlace, inPlace, repeated)
    }
    const name = any(kinds)()
    if (content && !input.headers.some(([one]) => one === 'content-type')) input.headers.push(['content-type', type])
    return { ...input, name: `${name}: ${method} ${input.target.slice(0, 200)} ${input.body.toString().slice(0, 200)}` }
  }

  return operations.map((operation) => [operation, Array.from({ length: count }, () => inputFor(operation))])
}
