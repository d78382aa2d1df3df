/** What senders are told of a delivery that was genuine (contract 7.6). */
import type { Scheme } from '../../src/wire/webhook-schemes.ts'
import type { Call } from '../call.ts'
import { reply } from '../reply.ts'
import type { Claim } from './claim.ts'
import { field, textField } from './payload.ts'

/** For a sender to whom JSON is an error, a message without a reply. */
export function tableAnswer(call: Call, { repliesInTwiml }: Scheme, { isJson }: Claim, handled: boolean): Response {
  if (!repliesInTwiml || isJson) return reply(call, { ok: true, handled }, 200)
  const document = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>'
  const headers = { 'content-type': 'text/xml', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return reply(call, new Response(document, { headers }), 200)
}

/** @returns `undefined` for what is no handshake. */
export function answerHandshake(
  call: Call,
  { handshake }: Scheme,
  key: string | undefined,
  payload: unknown,
): Response | undefined {
  if (handshake === 'challenge' && key === 'url_verification') {
    const challenge = textField(payload, 'challenge')
    return challenge === undefined ? undefined : reply(call, { challenge }, 200)
  }
  if (handshake !== 'ping' || key !== 'PING') return undefined
  return field(payload, 'type') === 1 ? reply(call, { type: 1 }, 200) : reply(call, undefined, 204)
}
