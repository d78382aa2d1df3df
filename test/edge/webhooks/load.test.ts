/**
 * Many large deliveries at once, more than 64 MiB in all, and one that arrives slowly. Each is handled once, and plain
 * requests are served meanwhile.
 */
import { createHmac } from 'node:crypto'
import * as fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

/** A project without a database that counts its deliveries, so that a lost or repeated one is seen. */
const source = `import { Controller, Get, Injectable, Module, On, Webhook } from '@stack/backend'

@Injectable()
export class Counts {
  readonly of = new Map<string, number>()
}

@Webhook({ name: 'stripe', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class LoadWebhook {
  constructor(private readonly counts: Counts) {}

  @On('load.sent')
  sent({ id }: { id: string }): void {
    this.counts.of.set(id, (this.counts.of.get(id) ?? 0) + 1)
  }
}

@Controller('/counts', { auth: false })
export class CountsController {
  constructor(private readonly counts: Counts) {}

  @Get()
  all(): Record<string, number> {
    return Object.fromEntries(this.counts.of)
  }
}

@Controller('/plain', { auth: false })
export class PlainController {
  @Get()
  plain() {
    return { ok: true }
  }
}

@Module({ controllers: [CountsController, PlainController], providers: [Counts, LoadWebhook] })
export class AppModule {}
`

const secret = 'whsec_of_the_load'
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-load-'))
for (const [name, contents] of [
  ['stack/project.json', '{ "project": "load" }\n'],
  ['src/app.module.ts', source],
] as const) {
  fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
  fs.writeFileSync(path.join(project, name), contents)
}
afterAll(() => fs.rmSync(project, { recursive: true, force: true }))
const load = useStack(project, { STRIPE_SECRET: secret })

interface Delivery {
  id: string
  body: string
  headers: Record<string, string>
}

function signed(id: string, length: number): Delivery {
  const empty = JSON.stringify({ id, type: 'load.sent', text: '' })
  const body = JSON.stringify({ id, type: 'load.sent', text: 'x'.repeat(length - empty.length) })
  const time = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return { id, body, headers: { 'content-length': String(length), 'stripe-signature': `t=${time},v1=${digest}` } }
}

/** Sends a request on a new connection: the server may close a kept one while this process is busy. */
function ask(address: string, { body, headers }: Partial<Delivery> = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const method = body === undefined ? 'GET' : 'POST'
  const request = http.request(`${load.url}${address}`, { agent: false, method, ...(headers ? { headers } : {}) })
  request.once('error', reject)
  request.once('response', (response) => {
    text(response).then((said) => resolve(`${response.statusCode} ${said}`), reject)
  })
  request.end(body)
  return promise
}

/** Sends a delivery again, as a provider does, while the bodies in flight leave no room for it (contract 7.8). */
async function deliver(delivery: Delivery): Promise<string> {
  for (;;) {
    const answer = await ask('/webhooks/stripe', delivery).catch((error: NodeJS.ErrnoException) => {
      // The connection is closed before the rest of a refused body is sent.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return '503'
      throw error
    })
    if (!answer.startsWith('503')) return answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const counts = async () => JSON.parse((await ask('/counts')).slice('200 '.length))

/** Sends the head of a delivery. */
function begin({ headers }: Delivery): net.Socket {
  const { hostname, port } = new URL(load.url)
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true })
  const lines = Object.entries({ host: 'load', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  socket.write(`POST /webhooks/stripe HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  return socket
}

/** Sends a delivery byte by byte. @returns the whole answer. */
async function trickle(delivery: Delivery): Promise<string> {
  const socket = begin(delivery)
  const answer = text(socket)
  for (const byte of delivery.body) {
    socket.write(byte)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return answer
}

const handled = '200 {"ok":true,"handled":true}'

it('two hundred of a megabyte at once, another a byte at a time: each is handled once, and plain requests are served', async () => {
  const large = Array.from({ length: 200 }, (_, index) => signed(`large-${index}`, 1_000_000))
  const slow = signed('slow', 1_000)
  let isOver = false
  const plain = (async () => {
    const answers: string[] = []
    while (!isOver) answers.push(await ask('/plain'))
    return answers
  })()
  const [answers, last] = await Promise.all([Promise.all(large.map(deliver)), trickle(slow)]).finally(() => {
    isOver = true
  })
  expect(new Set(answers)).toEqual(new Set([handled]))
  expect(last).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"ok":true,"handled":true\}$/)
  expect(new Set(await plain)).toEqual(new Set(['200 {"ok":true}']))
  expect(await counts()).toEqual(Object.fromEntries([...large, slow].map(({ id }) => [id, 1])))
}, 120_000)

it('one that breaks off is not handled, and nobody waits for it', async () => {
  const broken = signed('broken', 1_000_000)
  const socket = begin(broken)
  socket.write(broken.body.slice(0, 1_000))
  expect(await deliver(signed('beside', 1_000))).toBe(handled)
  socket.destroy()
  expect(await deliver(signed('after', 1_000))).toBe(handled)
  expect(await counts()).toMatchObject({ beside: 1, after: 1 })
  expect(await counts()).not.toHaveProperty('broken')
})
