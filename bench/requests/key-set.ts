/** The address of a key set, which counts its requests. */
import http from 'node:http'
import type net from 'node:net'

export interface KeySetServer {
  url: string
  asked(): number
  close(): void
}

/** Delay of an answer, in milliseconds, as over a network: requests that arrive meanwhile wait for the same fetch. */
const answerMs = 50

/** @param body the key set. Without it the address answers 500. */
export async function serveKeySet(body?: string): Promise<KeySetServer> {
  let asked = 0
  const server = http.createServer((_request, response) => {
    asked++
    response.writeHead(body === undefined ? 500 : 200, { 'content-type': 'application/json' })
    setTimeout(() => response.end(body), answerMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  return {
    url: `http://127.0.0.1:${port}/jwks.json`,
    asked: () => asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
