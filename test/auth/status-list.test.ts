/** Google's list of revoked attestation keys, as the auth worker fetches and reads it (3.7). */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchStatusList, type StatusList } from '../../src/auth/devices/status-list.ts'

let answer: http.RequestListener = () => {}
const asked: { url: string; tag: string | undefined }[] = []
const server = http.createServer((request, response) => {
  asked.push({ url: request.url!, tag: request.headers['if-none-match'] })
  answer(request, response)
})
let url: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Fetches what the server answers. */
function fetched(
  body: string | Buffer,
  headers: http.OutgoingHttpHeaders = {},
  status = 200,
  etag: string | null = null,
) {
  answer = (_request, response) => response.writeHead(status, headers).end(body)
  return fetchStatusList(url, etag)
}
const entriesOf = (names: readonly string[]) =>
  JSON.stringify({ entries: Object.fromEntries(names.map((name) => [name, { status: 'REVOKED' }])) })

describe('the list', () => {
  it('has every serial number once, in lower case and without leading zeros', async () => {
    const names = ['1', '0', '00', '0ABC', 'abc', '2c8cdddfd5e03bfc', '00000000000000000001', 'F'.repeat(64)]
    const { serials } = (await fetched(entriesOf(names))) as StatusList
    expect([...serials].sort()).toEqual(['0', '1', '2c8cdddfd5e03bfc', 'abc', 'f'.repeat(64)])
  })

  it('counts entries of every status', async () => {
    const entries = { a1: { status: 'REVOKED' }, a2: { status: 'SUSPENDED' }, a3: { status: 'NEW' }, a4: null }
    expect(await fetched(JSON.stringify({ entries }))).toMatchObject({ serials: ['a1', 'a2', 'a3', 'a4'] })
  })

  it('is unchanged where the server knows its tag, and only then', async () => {
    expect(await fetched('', {}, 304, '"7"')).toBe('unchanged')
    expect(asked.at(-1)!.tag).toBe('"7"')
    await expect(fetched('', {}, 304)).rejects.toThrow('answered 304')
    expect(asked.at(-1)!.tag).toBeUndefined()
  })

  it('has the tag of its answer, unless that is too long to keep', async () => {
    for (const [etag, kept] of [
      ['"8"', '"8"'],
      [`"${'a'.repeat(298)}"`, `"${'a'.repeat(298)}"`],
      [`"${'a'.repeat(299)}"`, null],
    ] as const) {
      expect(await fetched(entriesOf(['1']), { etag })).toMatchObject({ etag: kept })
    }
  })

  it('has 50,000 entries and 4 MiB at most', async () => {
    const names = Array.from({ length: 50_001 }, (_, index) => (index + 1).toString(16))
    expect(await fetched(entriesOf(names.slice(1)))).toMatchObject({ serials: { length: 50_000 } })
    await expect(fetched(entriesOf(names))).rejects.toThrow('more than 50000 entries')
    const filled = (length: number) => `{"entries":{}${' '.repeat(length - 14)}}`
    expect(await fetched(filled(4 * 1024 * 1024))).toMatchObject({ serials: [] })
    await expect(fetched(filled(4 * 1024 * 1024 + 1))).rejects.toThrow('larger than 4194304 bytes')
  })

  it.each<[string, string | Buffer]>([
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['no entries', '{}'],
    ['entries that are null', '{"entries":null}'],
    ['entries in an array', '{"entries":["1"]}'],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"entries":{"1":"'), Buffer.from([0xff]), Buffer.from('"}}')]),
    ],
    ['a serial number that is none', entriesOf(['1', 'x1'])],
    ['an empty serial number', entriesOf([''])],
    ['a negative serial number', entriesOf(['-1'])],
    ['a serial number of 65 digits', entriesOf(['a'.repeat(65)])],
  ])('is none with %s', async (_what, body) => {
    await expect(fetched(body)).rejects.toThrow(Error)
  })

  it.each([201, 204, 206, 301, 302, 307, 404, 500, 503])('is none in an answer of %i', async (status) => {
    const before = asked.length
    await expect(fetched(status === 204 ? '' : entriesOf([]), { location: '/elsewhere' }, status)).rejects.toThrow(
      `answered ${status}`,
    )
    expect(asked.slice(before).map((one) => one.url)).toEqual(['/status']) // a redirect is not followed
  })

  it('is awaited for 5 s, the body included', async () => {
    answer = () => {}
    const silent = fetchStatusList(url, null)
    const isRefused = expect(silent).rejects.toThrow(/timeout|aborted/i)
    await expect.poll(() => asked.length).toBeGreaterThan(0)
    answer = (_request, response) => void response.writeHead(200).write('{"entries":')
    await Promise.all([isRefused, expect(fetchStatusList(url, null)).rejects.toThrow(/timeout|aborted/i)])
  }, 30_000)
})

describe('the address', () => {
  it.each(['http://status.example.com/', 'http://10.0.0.1/', 'ftp://127.0.0.1/', 'http://127.0.0.1.example.com/'])(
    '%s is refused',
    async (address) => {
      await expect(fetchStatusList(address, null)).rejects.toThrow('ANDROID_STATUS_URL must be https')
    },
  )
})
