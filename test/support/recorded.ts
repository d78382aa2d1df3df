/** Answers of a running stack as examples: what differs from run to run becomes one and the same value. */
import type { RecordedAnswer } from '../../build/emit/openapi-answers.ts'
import type { Answer } from './stack.ts'
import type { SurfaceCall } from './surface.ts'

/** Headers that tell a caller of an operation something beside the body. */
const told = ['etag', 'location', 'retry-after', 'content-disposition', 'allow']

/** Rows that an example shows of a list. */
const mostRows = 1

/** A pattern, and what every text that it matches becomes. The order counts. */
const patterns: [RegExp, string][] = [
  [/\bhttps?%3A%2F%2F(?:127\.0\.0\.1|localhost)%3A\d+/g, 'https%3A%2F%2Fstack.example'],
  [/https?:\/\/(?:127\.0\.0\.1|localhost):\d+/g, 'https://stack.example'],
  [/\b(usr|ses|fac|aud|req|msg|dlv|dev|chl|clk|wac)_[0-9A-HJKMNP-TV-Z]{26}\b/g, '$1_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  [/\b(chl|wac)_[\w-]{20,}/g, '$1_ZXhhbXBsZQ'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2026-01-31T12:00:00.000Z'],
  [/\bsrk_[\w-]+/g, 'srk_ZXhhbXBsZQ'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'],
  [/\brt_[\w-]+/g, 'rt_cmVmcmVzaCB0b2tlbg'],
  [/\b(person|role)-[0-9a-z]+(?:-[0-9a-z]+)*/g, '$1'],
  [/\+491[56]\d{8}\b/g, '+4915112345678'],
  [/(?<=totp\/|issuer=)127\.0\.0\.1/g, 'stack.example'],
  [/\b127\.0\.0\.1\b/g, '203.0.113.7'],
  [/^\d{6}$/g, '123456'],
  [/\bin \d+ s\b/g, 'in 60 s'],
  [/(secret=)[A-Z2-7]{16,}/g, '$1JBSWY3DPEHPK3PXP'],
  [/^[A-Z2-7]{32}$/g, 'JBSWY3DPEHPK3PXP'],
  [/^[0-9a-f]{16}$/g, '0123456789abcdef'],
  [/-----BEGIN PRIVATE KEY-----[\s\S]*-----END PRIVATE KEY-----\n?/g, '-----BEGIN PRIVATE KEY-----…'],
  [/[A-Za-z0-9_-]{43,}/g, 'ZXhhbXBsZQ'],
]

/** Members whose value is random and has no form of its own. */
const random: Record<string, unknown> = {
  qr_svg: '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
  recovery_codes: ['example-code'],
  subject: undefined,
}

function steady(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (name === 'etag') return '"7"'
    return patterns.reduce((text, [pattern, other]) => text.replace(pattern, other), value)
  }
  if (Array.isArray(value)) {
    const rows = name === 'data' || name === 'keys' ? value.slice(0, mostRows) : value
    return rows.map((one) => steady(one))
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const isRandom = random[key] !== undefined && one !== null && typeof one === typeof random[key]
      return [key, isRandom && (key !== 'recovery_codes' || Array.isArray(one)) ? random[key] : steady(one, key)]
    }),
  )
}

/** @param name what the answer is an example of. */
export function recorded(name: string, { json }: SurfaceCall, answer: Answer): RecordedAnswer {
  const { status, text } = answer
  const type = text === '' ? null : answer.headers.get('content-type')!.split(';')[0]!
  const headers = Object.fromEntries(
    told.flatMap((header) => {
      const value = answer.headers.get(header)
      const fixed = header === 'retry-after' ? '60' : header === 'etag' ? '"7"' : steady(value ?? '')
      return value === null ? [] : [[header, fixed as string]]
    }),
  )
  return {
    name,
    status,
    type,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(json === undefined ? {} : { request: steady(json) }),
    ...(type === 'application/json' ? { body: steady(answer.json) } : {}),
  }
}

/** One line for each answer: a changed answer is one line of a diff. */
export function recordedText(answers: Record<string, RecordedAnswer[]>): string {
  const operations = Object.entries(answers).map(([operation, own]) => {
    const lines = own.map((one) => `    ${JSON.stringify(one)}`)
    return `  ${JSON.stringify(operation)}: [\n${lines.join(',\n')}\n  ]`
  })
  return `{\n${operations.join(',\n')}\n}\n`
}
