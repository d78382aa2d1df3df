/** The mailbox of the local stack: it takes every mail and text message that the stack sends, and shows them on loopback. */
import http from 'node:http'
import { html, raw } from 'hono/html'
import { isLoopback } from '../src/wire/loopback.ts'
import type { Message } from '../src/wire/message.ts'

/** Messages that are kept, the newest ones: a developer looks at the last few. */
const mostKept = 500
/** Bytes of a message: templates may have 64 KiB in three parts, and JSON escapes them. */
const largestMessage = 1_048_576

/** A message with the time of its arrival, as `GET /mailbox.json` gives it. */
export interface CapturedMessage extends Message {
  received_at: string
}

export interface Mailbox {
  /** The page with all messages. */
  url: string
  /** The address that messages are posted to. */
  inbox: string
  stop(): Promise<void>
}

export async function startMailbox(): Promise<Mailbox> {
  const kept: CapturedMessage[] = []
  const server = http.createServer((request, response) => {
    answer(kept, request).then(
      ({ status, type, body }) => {
        response.writeHead(status, {
          'content-type': type,
          'cache-control': 'no-store',
          'content-security-policy': policyOf(request.url ?? ''),
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        })
        response.end(body)
      },
      () => response.destroy(), // the client is gone, or its body is too large
    )
  })
  server.requestTimeout = 10_000 // milliseconds for one message from the stack, which is on this machine
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: '127.0.0.1', port: 0 }, resolve)
  await promise
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/`,
    inbox: `http://127.0.0.1:${port}/messages`,
    async stop() {
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      server.closeAllConnections()
      await promise
    },
  }
}

interface Answer {
  status: number
  type: string
  body: string
}

const json = (body: unknown, status = 200): Answer => ({ status, type: 'application/json', body: JSON.stringify(body) })
const page = (body: unknown, status = 200): Answer => ({ status, type: 'text/html; charset=utf-8', body: String(body) })

async function answer(kept: CapturedMessage[], request: http.IncomingMessage): Promise<Answer> {
  // a page of another site must not read messages under a name of its own that leads here
  const host = URL.parse(`http://${request.headers.host}/`)
  if (!host || !isLoopback(host.hostname)) return json({ error: 'forbidden' }, 403)
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const route = `${request.method} ${pathname}`
  // browsers tell where a request comes from: only the stack, which is none, may put a message here
  if (request.method !== 'GET' && request.headers.origin !== undefined) return json({ error: 'forbidden' }, 403)
  if (route === 'POST /messages') return take(kept, await bodyOf(request))
  if (route === 'GET /mailbox.json') return json({ data: kept })
  if (route === 'DELETE /mailbox.json') return json({ removed: kept.splice(0).length })
  if (route === 'GET /') return page(listPage(kept))
  const [, id, isSource] = /^GET \/messages\/(msg_[0-9A-Z]{26})(\.html)?$/.exec(route) ?? []
  const message = kept.find((one) => one.id === id)
  if (!message)
    return page(frame('Not found', html`<p>There is no such message. <a href="/">All messages</a></p>`), 404)
  return page(isSource ? message.html : messagePage(message))
}

/** The newest message comes first. */
function take(kept: CapturedMessage[], body: string): Answer {
  const message = JSON.parse(body) as Message
  kept.unshift({ ...message, received_at: new Date().toISOString() })
  kept.splice(mostKept)
  return json({ id: message.id }, 201)
}

async function bodyOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largestMessage) throw new Error('the message is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The HTML of a message runs no script and loads nothing. Its links open in a tab of their own. */
function policyOf(url: string): string {
  const common = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
  const sandbox = 'sandbox allow-popups allow-popups-to-escape-sandbox'
  return url.endsWith('.html') ? `${common}; frame-ancestors 'self'; ${sandbox}` : `${common}; frame-src 'self'`
}

function listPage(kept: readonly CapturedMessage[]) {
  const rows = kept.map(
    ({ id, to, subject, text, channel, received_at }) => html`<tr>
      <td><time>${received_at.slice(11, 19)}</time></td>
      <td>${to}</td>
      <td><a href="/messages/${id}">${channel === 'sms' ? text : subject}</a></td>
    </tr>`,
  )
  const empty = html`<p>No message yet. Mail and text messages that the local stack sends appear here.</p>`
  const table = html`<table>
    <thead><tr><th>UTC</th><th>To</th><th>Message</th></tr></thead>
    <tbody>${rows}</tbody>
  </table>`
  return frame('Mailbox', kept.length === 0 ? empty : table, 5)
}

function messagePage({ id, to, from, subject, text, channel, received_at }: CapturedMessage) {
  const mail = html`<iframe title="The message as HTML" src="/messages/${id}.html"></iframe>
    <h2>Plain text</h2>`
  return frame(
    subject || 'Text message',
    html`<p><a href="/">All messages</a></p>
    <dl><dt>To</dt><dd>${to}</dd><dt>From</dt><dd>${from}</dd><dt>Received</dt><dd>${received_at}</dd></dl>
    ${channel === 'email' ? mail : ''}
    <pre>${text}</pre>`,
  )
}

/** @param refreshSeconds after which the browser loads the page again. */
function frame(title: string, body: unknown, refreshSeconds?: number) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refreshSeconds === undefined ? '' : raw(`<meta http-equiv="refresh" content="${refreshSeconds}">`)}
<title>${title}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid #8886; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
iframe { width: 100%; height: 28rem; border: 1px solid #8886; border-radius: 6px; background: #fff; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main><h1>${title}</h1>${body}</main>
</body>
</html>`
}
