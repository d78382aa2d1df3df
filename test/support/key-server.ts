/** Serves key sets over HTTP, one for each path. The test sets each answer, and every request is counted. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** The body of the answer, or a function that answers or breaks the request itself. */
export type KeyAnswer = string | ((response: http.ServerResponse) => void)

export class KeyServer {
  readonly #answers = new Map<string, KeyAnswer>()
  readonly #requests = new Map<string, number>()
  readonly #server = http.createServer(({ url = '/' }, response) => {
    response.on('error', () => {})
    this.#requests.set(url, this.requests(url) + 1)
    const answer = this.#answers.get(url)
    if (typeof answer === 'function') answer(response)
    else response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(answer)
  })

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`
  }

  answer(path: string, answer: KeyAnswer): void {
    this.#answers.set(path, answer)
  }

  requests(path: string): number {
    return this.#requests.get(path) ?? 0
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
