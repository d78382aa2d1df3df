/** A proxy that serves a stack below a path, which it strips. The stack sees no other trace of the path. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export class PathProxy {
  /** `http://127.0.0.1:…/shop/api` */
  url = ''
  /** Method and path of every request, as the client wrote them. */
  requests: string[] = []
  #path: string
  #port = 0
  #server = http.createServer((request, response) => this.#forward(request, response))

  /** @param path begins with a slash, and ends without one. */
  constructor(path: string) {
    this.#path = path
  }

  /** @param port of the stack, which may start later. */
  listen(port: number): Promise<void> {
    this.#port = port
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', () => {
        this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#path}`
        resolve()
      })
    })
  }

  /** Ends every connection. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method, url = '', rawHeaders } = request
    this.requests.push(`${method} ${url}`)
    // an address that lacks the path belongs to another server, so the stack must never lead a client there
    if (!url.startsWith(`${this.#path}/`)) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('this address is outside the stack')
      return
    }
    const options = { host: '127.0.0.1', port: this.#port, method, path: url.slice(this.#path.length) }
    const sent = http.request({ ...options, headers: rawHeaders, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
    })
    sent.on('error', () => response.destroy())
    request.pipe(sent)
  }
}
