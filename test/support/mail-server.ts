/** Mail servers on loopback that take mail, refuse it, or behave badly, and gateways that take messages over HTTP. */
import http from 'node:http'
import net from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'

/** A mail as the server got it. */
interface TakenMail {
  from: string
  to: string[]
  /** The login that was proved, or `undefined`. */
  user: string | undefined
  isSecure: boolean
  /** Headers in lower case, unfolded. */
  headers: Map<string, string[]>
  raw: string
}

export interface MailServer {
  port: number
  taken: TakenMail[]
  /** Connections so far. */
  connections: number
}

/** A server of SMTP that ends with the test. Without options it asks for no login. */
export async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const found: MailServer = { port: 0, taken: [], connections: 0 }
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onConnect(_session, done) {
      found.connections++
      done()
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8')
        const { mailFrom, rcptTo } = session.envelope
        found.taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: session.user,
          isSecure: session.secure,
          headers: headersOf(raw),
          raw,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {}) // a client that refuses the certificate ends the handshake
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  found.port = (server.server.address() as net.AddressInfo).port
  return found
}

/** A refusal of the server with its code. */
export function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}

function headersOf(raw: string): Map<string, string[]> {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ')
  const headers = new Map<string, string[]>()
  for (const line of head.split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), decodedWords(value)])
  }
  return headers
}

/** Decodes the words of a header (RFC 2047). */
function decodedWords(text: string): string {
  return text.replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=(?:\s+(?==\?))?/gi, (_, kind: string, word: string) => {
    if (kind.toLowerCase() === 'b') return Buffer.from(word, 'base64').toString('utf8')
    const bytes = word
      .replaceAll('_', ' ')
      .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString('utf8')
  })
}

/** A server of TCP that ends with the test. */
export async function rawServer(
  onSocket: (socket: net.Socket) => void,
): Promise<{ port: number; connections: number }> {
  const found = { port: 0, connections: 0 }
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    found.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  found.port = (server.address() as net.AddressInfo).port
  return found
}

/** A gateway that ends with the test. @param answer the status of each request, and headers. */
export async function gateway(
  answer: (request: http.IncomingMessage, response: http.ServerResponse) => void,
): Promise<{ url: string; requests: { headers: http.IncomingHttpHeaders; body: string }[] }> {
  const requests: { headers: http.IncomingHttpHeaders; body: string }[] = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ headers: request.headers, body })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/messages`, requests }
}
