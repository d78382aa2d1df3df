/**
 * One HTTP request of the command line. `fetch` encodes some characters of a path again, and follows redirects with the
 * credential, so requests are written with Node's own client: what is sent is what was typed (contract 9.6).
 */
import * as http from 'node:http'
import * as https from 'node:https'

export interface Request {
  method: string
  /** Begins with a slash, holds the query, and is appended to the path of the base URL. */
  path: string
  headers: Record<string, string>
  body?: string
}

export interface Answer {
  status: number
  /** The value of the header `ETag`, where there is one. */
  etag: string | undefined
  text: string
}

/** Largest answer in bytes. The largest one of a stack is the export of an account, which has a few hundred KiB. */
const mostBytes = 64 * 1024 * 1024

/** @throws Error with a sentence about the connection where no whole answer arrives in time. Nothing is sent twice. */
export async function request(
  baseUrl: string,
  { method, path, headers, body }: Request,
  timeoutMs: number,
): Promise<Answer> {
  const { protocol, hostname, port, pathname } = new URL(baseUrl)
  const sent = (protocol === 'https:' ? https : http).request({
    method,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: `${pathname.replace(/\/+$/, '')}${path}`,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    agent: false,
  })
  const timeout = new Error(`nothing within ${timeoutMs / 1000} s`)
  const timer = setTimeout(() => sent.destroy(timeout), timeoutMs)
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve)
      sent.on('error', reject)
      sent.end(body)
    })
    const text = await textOf(response)
    return { status: response.statusCode!, etag: response.headers.etag, text }
  } catch (error) {
    if (sent.errored === timeout) throw timeout
    throw error
  } finally {
    clearTimeout(timer)
    sent.destroy()
  }
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error(`the answer is longer than ${mostBytes / 1024 / 1024} MiB`)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
