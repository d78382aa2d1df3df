/** A delivery from its raw bytes to its handler (contract 7; the answers are the table "Webhook responses"). */

import { HttpError, refuse } from '../../src/sdk/errors.ts'
import type { WebhookMeta } from '../../src/sdk/webhooks.ts'
import { parseJson } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { errorFields } from '../log.ts'
import { reply } from '../reply.ts'
import type { Webhook } from '../table.ts'
import { eventKey } from './event-key.ts'
import { presets, type Scheme, schemeOf } from './presets.ts'
import { isGenuine, type RefusalReason, readClaim } from './verify.ts'

/** Longest event key that is logged whole. */
const loggedKeyLength = 200

/** Runs a handler in the request's scope and transactions. @returns its own response, or the table's. */
export type Dispatch = (call: Call, webhook: Webhook, method: string, args: unknown[]) => Promise<Response>

/** @returns the name in `/webhooks/<name>`, still as sent; `undefined` for every path outside the reserved segment. */
export function webhookName(path: string): string | undefined {
  if (path === '/webhooks') return ''
  return path.startsWith('/webhooks/') ? path.slice('/webhooks/'.length) : undefined
}

export function createReceiver(webhooks: readonly Webhook[], dispatch: Dispatch) {
  const mounted = new Map(
    webhooks.map((webhook) => {
      const scheme =
        'provider' in webhook.scheme ? presets[webhook.scheme.provider] : schemeOf(webhook.scheme.signature)
      return [
        webhook.name,
        { webhook, scheme, handlers: new Map(webhook.events.map(({ key, handler }) => [key, handler])) },
      ]
    }),
  )

  return async function receive(call: Call, name: string): Promise<Response> {
    const found = mounted.get(name)
    if (!found) throw refuse('not_found', `no webhook named ${name}`)
    if (call.request.method !== 'POST') {
      throw refuse('method_not_allowed', 'a webhook answers POST', { headers: { allow: 'POST' } })
    }
    const { webhook, scheme, handlers } = found
    const body = await verifiedBody(call, webhook, scheme)
    if (typeof body === 'string') {
      call.log('warn', `webhook ${name} refused a delivery: ${body}`, { webhook: name, reason: body })
      throw refuse('unauthorized', 'webhook signature rejected')
    }
    const parsed = parseJson(body)
    const payload = parsed ? parsed.value : body
    const key = eventKey(scheme, call.request.headers, payload)
    const handler = key === undefined ? undefined : handlers.get(key)
    if (key === undefined || handler === undefined) {
      const arrived = key === undefined ? 'none' : JSON.stringify(key.slice(0, loggedKeyLength))
      call.log('info', `webhook ${name} has no handler for this event: ${arrived}`, {
        webhook: name,
        reason: 'unhandled',
      })
      return reply(call, { ok: true, handled: false }, 200)
    }
    return answer(call, webhook, handler, [payload, { requestId: call.requestId, event: key } satisfies WebhookMeta])
  }

  async function answer(
    call: Call,
    webhook: Webhook,
    handler: string,
    args: [unknown, WebhookMeta],
  ): Promise<Response> {
    try {
      const response = await dispatch(call, webhook, handler, args)
      call.log('info', `webhook ${webhook.name} handled by ${webhook.class}.${handler}`, {
        webhook: webhook.name,
        event: args[1].event.slice(0, loggedKeyLength),
      })
      return response
    } catch (error) {
      call.log('error', `webhook ${webhook.name}: ${webhook.class}.${handler} failed`, errorFields(error))
      throw new HttpError(500, 'handler_failed', 'the handler for this event failed')
    }
  }
}

/** Headers and secret are refused before the body is read: an unsigned upload costs nothing. */
async function verifiedBody(call: Call, webhook: Webhook, scheme: Scheme): Promise<Uint8Array | RefusalReason> {
  const secret = textBinding(call.env, webhook.secret.env)
  if (secret === undefined) return 'unset_secret'
  const claim = readClaim(scheme, call.request.headers, Date.now() / 1000)
  if (typeof claim === 'string') return claim
  const body = new Uint8Array(await call.request.arrayBuffer())
  return (await isGenuine(scheme, claim, secret, body)) ? body : 'bad_signature'
}
