/** A server that records each request as it arrived, and answers with the bytes that a test gives. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Recorded {
  method: string
  /** Path and query as they stood in the request line. */
  url: string
  headers: http.IncomingHttpHeaders
  /** Names and values in the order of the request. */
  rawHeaders: string[]
  body: string
}

/** Answers a request, or leaves it without an answer. */
export type Answer = (response: http.ServerResponse, request: Recorded) => void

/** The server ends with the test. */
export async function record(answer: Answer): Promise<{ url: string; requests: Recorded[] }> {
  const requests: Recorded[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers, rawHeaders } = request
      const recorded = { method: method!, url: url!, headers, rawHeaders, body: Buffer.concat(chunks).toString() }
      requests.push(recorded)
      answer(response, recorded)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
