/** The mailbox of the local stack: it takes every mail and text message that the stack sends, and shows them on loopback. */
import { randomUUID } from 'node:crypto'
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
      ({ status, type, body, policy }) => {
        response.writeHead(status, {
          'content-type': type,
          'cache-control': 'no-store',
          'content-security-policy': `default-src 'none'; base-uri 'none'; form-action 'none'; ${policy ?? "frame-ancestors 'none'"}`,
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
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
  /** Directives of the Content-Security-Policy beside those of every answer. */
  policy?: string
}

const json = (body: unknown, status = 200): Answer => ({ status, type: 'application/json', body: JSON.stringify(body) })
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
  if (route === 'GET /') return listPage(kept)
  const [, id, isSource] = /^GET \/messages\/(msg_[0-9A-Z]{26})(\.html)?$/.exec(route) ?? []
  const message = kept.find((one) => one.id === id)
  if (!message) return page('Not found', html`<p>There is no such message.</p>${back}`, { status: 404 })
  return isSource ? source(message) : messagePage(message)
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
function source(message: CapturedMessage): Answer {
  const policy =
    "style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
  return { status: 200, type: 'text/html; charset=utf-8', body: message.html, policy }
}

const back = html`<p><a class="back" href="/">All messages</a></p>`

function listPage(kept: readonly CapturedMessage[]): Promise<Answer> {
  const rows = kept.map(
    ({ id, to, subject, text, channel, received_at }) => html`<li id="${id}">
<a href="/messages/${id}">${(channel === 'sms' ? text : subject) || 'No subject'}</a>
<p>${channel === 'sms' ? 'Text message' : 'Mail'} to ${to}, <time datetime="${received_at}">${received_at.slice(11, 19)} UTC</time></p>
</li>`,
  )
  const content = html`<p id="empty" ${kept.length === 0 ? '' : 'hidden'}>No message yet. Mail and text messages that the local stack sends appear here.</p>
<ol reversed role="list">${rows}</ol>
<p id="news" role="status" class="quiet"></p>`
  return page('Mailbox', content, { script: showNewMessages })
}

/** Milliseconds between two looks for new messages. */
const pollMs = 2_000

/** Adds new messages to the list. The page is not loaded again, so that focus and scroll position stay. */
const showNewMessages = `
const list = document.querySelector('ol')
setInterval(async () => {
  if (document.hidden) return
  const response = await fetch('/').catch(() => undefined)
  if (!response?.ok) return
  const text = await response.text()
  // the list alone: the style of another answer has another nonce
  const next = new DOMParser().parseFromString(text.slice(text.indexOf('<ol'), text.indexOf('</ol>')), 'text/html')
  const fresh = [...next.querySelectorAll('li')].filter(({ id }) => document.getElementById(id) === null)
  if (fresh.length === 0) return
  list.prepend(...fresh)
  document.getElementById('empty').hidden = true
  document.getElementById('news').textContent = fresh.length === 1 ? '1 new message' : fresh.length + ' new messages'
}, ${pollMs})
`

function messagePage({ id, to, from, subject, text, channel, received_at }: CapturedMessage): Promise<Answer> {
  const time = `${received_at.slice(0, 19).replace('T', ' ')} UTC`
  const mail = html`<h2>As HTML</h2>
<iframe title="The message as HTML" src="/messages/${id}.html"></iframe>
<h2>As plain text</h2>`
  const content = html`${back}
<dl><dt>To</dt><dd>${to}</dd><dt>From</dt><dd>${from}</dd><dt>Received</dt><dd><time datetime="${received_at}">${time}</time></dd></dl>
${channel === 'email' ? mail : ''}
<pre>${linked(text)}</pre>`
  return page(channel === 'sms' ? 'Text message' : subject || 'No subject', content)
}

/** Text with its web addresses as links. */
function linked(text: string) {
  const parts = text.split(/(https?:\/\/[^\s<>"]+)/)
  return parts.map((part, at) =>
    at % 2 === 0 ? part : html`<a href="${part}" target="_blank" rel="noreferrer">${part}</a>`,
  )
}

async function page(
  title: string,
  content: unknown,
  { status = 200, script }: { status?: number; script?: string } = {},
): Promise<Answer> {
  const nonce = randomUUID()
  const scripts = script === undefined ? '' : ` script-src 'nonce-${nonce}'; connect-src 'self';`
  return {
    status,
    type: 'text/html; charset=utf-8',
    policy: `style-src 'nonce-${nonce}';${scripts} frame-src 'self'; frame-ancestors 'none'`,
    body: String(await frame(title, content, nonce, script)),
  }
}

function frame(title: string, content: unknown, nonce: string, script: string | undefined) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style nonce="${nonce}">${raw(style)}</style>
</head>
<body>
<main><h1>${title}</h1>${content}</main>
${script === undefined ? '' : html`<script type="module" nonce="${nonce}">${raw(script)}</script>`}
</body>
</html>
`
}

const style = `
:root { color-scheme: light dark; --text: #1a1d21; --muted: #4a5361; --line: #d5dae1; --accent: #1a56db; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e9ecf0; --muted: #b4bcc8; --line: #3a424e; --accent: #8ab4ff; --page: #14181d; }
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 24px 16px; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0 0 8px; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 24px 0 8px; font-size: 1.0625rem; }
a { color: var(--accent); }
ol { margin: 16px 0; padding: 0; list-style: none; border-top: 1px solid var(--line); }
li { padding: 4px 0 12px; border-bottom: 1px solid var(--line); }
li a, .back { display: inline-block; min-height: 44px; padding: 10px 0; font-weight: 600; }
li p { margin: 0; }
li p, dt, .quiet { color: var(--muted); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; }
dd { margin: 0; }
iframe { display: block; width: 100%; height: 26rem; border: 1px solid var(--line); border-radius: 8px; background: Canvas; }
pre { margin: 0; padding: 16px; border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; font: 0.9375rem/1.5 ui-monospace, monospace; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`
