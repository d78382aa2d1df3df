/** A delivery from its raw bytes to its handler (contract 7; the answers are the table "Webhook responses"). */

import { HttpError, refuse } from '../../src/sdk/errors.ts'
import type { WebhookMeta } from '../../src/sdk/webhooks.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { readBody } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { invoke } from '../container.ts'
import type { RequestDatabase } from '../database/transaction.ts'
import { errorFields } from '../log.ts'
import { fail, reply } from '../reply.ts'
import type { Webhook } from '../table.ts'
import { answerHandshake, tableAnswer } from './answers.ts'
import { type Claim, type Readers, type Refusal, readClaim, refusal } from './claim.ts'
import { eventKey, parsePayload } from './payload.ts'
import { secretKey } from './secret.ts'
import type { createStore, Fate } from './store.ts'
import { urlsOf } from './urls.ts'

/** Longest text of a sender's that is logged whole. */
const loggedLength = 200

/** What the worker does for a delivery. */
export interface Receiving {
  /** Runs the work in a request's scope and transactions, for no user; `isReadOnly` is the caller's transaction. */
  run(call: Call, isReadOnly: boolean, work: (database: RequestDatabase) => Promise<Response>): Promise<Response>
  instance(index: number): object
  readers: Readers
  /** Absent where no webhook keeps anything. */
  store: ReturnType<typeof createStore> | undefined
}

interface Proven {
  body: Uint8Array<ArrayBuffer>
  claim: Claim
  /** The vault entry whose secret it was signed with. */
  entry: string
}

interface Mounted {
  webhook: Webhook
  /** Event key → method. */
  handlers: ReadonlyMap<string, string>
}

export type Receive = (call: Call, name: string) => Promise<Response>

export function createReceiver(webhooks: readonly Webhook[], { run, instance, readers, store }: Receiving): Receive {
  const mounted = new Map<string, Mounted>(
    webhooks.map((webhook) => [
      webhook.name,
      { webhook, handlers: new Map(webhook.events.map(({ key, handler }) => [key, handler])) },
    ]),
  )

  return async function receive(call, name) {
    const found = mounted.get(name)
    if (!found) {
      const near = nearest(name.slice(0, loggedLength), [...mounted.keys()])
      const others = near === undefined ? `mounted: ${[...mounted.keys()].join(', ')}` : `did you mean ${near}?`
      call.log('info', `webhook ${printed(name)} is not mounted; ${others}`)
      throw refuse('not_found', `no webhook named ${name}`)
    }
    if (call.request.method !== 'POST') {
      throw refuse('method_not_allowed', 'a webhook answers POST', { headers: { allow: 'POST' } })
    }
    const began = Date.now()
    const fate: Fate = { outcome: 'refused' }
    const answer = await deliver(call, found, fate, began).catch((error: unknown) => fail(call, error))
    // the sender waits for no record of it
    if (found.webhook.record) call.waitUntil(record(call, found, fate, answer.status, began))
    return answer
  }

  async function deliver(call: Call, found: Mounted, fate: Fate, began: number): Promise<Response> {
    const { webhook, handlers } = found
    const { name, scheme } = webhook
    const proven = await prove(call, found, fate)
    if ('reason' in proven) {
      fate.reason = proven.reason
      call.log('warn', `webhook ${name} refused a delivery: ${proven.reason}: ${proven.detail}`, {
        webhook: name,
        reason: proven.reason,
      })
      throw refuse('unauthorized', 'webhook signature rejected')
    }
    const { body, claim, entry } = proven
    const payload = parsePayload(claim.isJson ? ['json'] : scheme.payload, body)
    const key = eventKey(scheme.event, call.request.headers, payload)
    if (key !== undefined) fate.event = key
    const about = { webhook: name, ...(webhook.secret.previous === undefined ? {} : { secret: entry }) }
    const handler = key === undefined ? undefined : handlers.get(key)
    if (key === undefined || handler === undefined) {
      const handshake = answerHandshake(call, scheme, key, payload)
      fate.outcome = handshake ? 'handshake' : 'unhandled'
      if (handshake) {
        call.log('info', `webhook ${name} answered the handshake ${printed(key!)}`, about)
        return handshake
      }
      call.log('info', `webhook ${name} has no handler for this event: ${unhandled(key, handlers)}`, {
        ...about,
        reason: 'unhandled',
      })
      return tableAnswer(call, scheme, claim, false)
    }
    const id = webhook.dedupe ? await store!.deliveryId(scheme.idField, claim, payload, body) : undefined
    const meta: WebhookMeta = { requestId: call.requestId, event: key }
    try {
      const response = await run(call, id !== undefined, async ({ service }) => {
        if (id !== undefined && !(await store!.isFirst(service, name, id))) {
          fate.outcome = 'duplicate'
          return tableAnswer(call, scheme, claim, true)
        }
        const result = await invoke(instance(webhook.receiver), handler, [payload, meta])
        return result instanceof Response ? reply(call, result, 200) : tableAnswer(call, scheme, claim, true)
      })
      const isDuplicate = fate.outcome === 'duplicate'
      if (!isDuplicate) fate.outcome = 'handled'
      const what = isDuplicate
        ? 'was handled before: this delivery is a copy'
        : `handled by ${webhook.class}.${handler} in ${Date.now() - began} ms`
      call.log('info', `webhook ${name}: ${printed(key)} ${what}`, { ...about, event: key.slice(0, loggedLength) })
      return response
    } catch (error) {
      fate.outcome = 'failed'
      fate.reason = error instanceof Error ? error.message : String(error)
      call.log('error', `webhook ${name}: ${webhook.class}.${handler} failed`, { ...about, ...errorFields(error) })
      throw new HttpError(500, 'handler_failed', 'the handler for this event failed')
    }
  }

  /** Headers and secret are refused before the body is read: an unsigned upload costs nothing. */
  async function prove(call: Call, { webhook }: Mounted, fate: Fate): Promise<Proven | Refusal> {
    const { secret, scheme } = webhook
    const { proof } = scheme
    const current = textBinding(call.env, secret.env)
    if (current === undefined) return refusal('unset_secret', `${secret.env} is not set`)
    const key = await secretKey(proof, current)
    if (typeof key === 'string') return refusal('malformed_secret', `${secret.env}: ${key}`)
    const urls = proof.by === 'url' ? signedUrls(call, webhook) : []
    const claim = readClaim(readers, proof, { headers: call.request.headers, urls, now: Date.now() / 1000 })
    if ('reason' in claim) return claim
    const body = await readBody(call.request, webhook.maxBodyBytes)
    fate.body = body
    if (await claim.holds(key, body)) return { body, claim, entry: secret.env }
    const before = secret.previous === undefined ? undefined : textBinding(call.env, secret.previous)
    const previous = before === undefined ? undefined : await secretKey(proof, before)
    if (previous && typeof previous !== 'string' && (await claim.holds(previous, body))) {
      return { body, claim, entry: secret.previous! }
    }
    const tried = urls.length > 0 ? `, or the URL is not the one that it was sent to: ${printed(urls[0]!)}` : ''
    return refusal('bad_signature', `the secret in ${secret.env} is another, or the body is${tried}`)
  }

  /** In a transaction of its own; that it fails is nothing to the sender. */
  async function record(call: Call, { webhook }: Mounted, fate: Fate, status: number, began: number) {
    try {
      await run(call, true, async ({ service }) => {
        await store!.recordDelivery(service, call, webhook, fate, status, began)
        return new Response()
      })
    } catch (error) {
      call.log('error', `webhook ${webhook.name}: the delivery could not be recorded`, errorFields(error))
    }
  }
}

function signedUrls(call: Call, { publicUrl }: Webhook): string[] {
  const base = textBinding(call.env, 'STACK_PUBLIC_URL')?.replace(/\/+$/, '')
  const configured = publicUrl ?? (base === undefined ? undefined : `${base}${call.path}`)
  return urlsOf(configured, call.request.url, call.search)
}

function unhandled(key: string | undefined, handlers: ReadonlyMap<string, string>): string {
  if (key === undefined) return 'none'
  const bound = [...handlers.keys()]
  const near = nearest(key.slice(0, loggedLength), bound)
  return `${printed(key)}; ${near === undefined ? `bound: ${bound.slice(0, 10).join(', ')}` : `did you mean "${near}"?`}`
}

/** What a sender wrote: in quotes, and no longer than a line of a log may be. */
function printed(text: string): string {
  return JSON.stringify(text.slice(0, loggedLength))
}
