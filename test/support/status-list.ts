/** Google's list of revoked keys, as a server of a test serves it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

export interface StatusList {
  entries: Record<string, { status: string }>
  etag: string
  /** Any other status than 200 is the whole answer. */
  status: number
  /** Number of requests. */
  asked: number
  /** Number of requests that were answered with 304. */
  unchanged: number
  /** Starts the server. @returns the bindings with which the auth worker asks it. */
  start: () => Promise<{ ANDROID_STATUS_URL: string }>
}

/** The server ends after the tests of the group. */
export function useStatusList(): StatusList {
  const server = createServer((request, response) => {
    list.asked++
    if (list.status !== 200) return response.writeHead(list.status).end()
    if (request.headers['if-none-match'] === list.etag) {
      list.unchanged++
      return response.writeHead(304).end()
    }
    response.writeHead(200, { etag: list.etag }).end(JSON.stringify({ entries: list.entries }))
  })
  const list: StatusList = {
    ...{ entries: {}, etag: '"1"', status: 200, asked: 0, unchanged: 0 },
    async start() {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { ANDROID_STATUS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/status` }
    },
  }
  afterAll(() => server.close())
  return list
}
