/** What senders are told of a delivery that was genuine (contract 7.6). */
import { refuse } from '../../src/sdk/errors.ts'
import type { Scheme } from '../../src/wire/webhook-schemes.ts'
import { toHex } from '../bytes.ts'
import type { Call } from '../call.ts'
import { reply } from '../reply.ts'
import { field, type Payload, textField } from './payload.ts'
import { utf8 } from './signed.ts'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** The table's answer, in the form that the sender can read. */
export function tableAnswer(call: Call, { formAnswer }: Scheme, { kind }: Payload, handled: boolean): Response {
  if (formAnswer === undefined || kind === 'json') return reply(call, { ok: true, handled }, 200)
  if (formAnswer === 'empty') return reply(call, new Response(null, { headers }), 200)
  const document = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>'
  return reply(call, new Response(document, { headers: { ...headers, 'content-type': 'text/xml' } }), 200)
}

/** What a handler returned. @returns `undefined` where the answer is the table's. */
export function handlerAnswer(call: Call, { isInteractive }: Scheme, result: unknown): Response | undefined {
  const isAnswer = result instanceof Response || (isInteractive && typeof result === 'object' && result !== null)
  return isAnswer ? reply(call, result, 200) : undefined
}

/** What Zoom sends as `plainToken`. A time, a colon and a body would be signed like a delivery, and are refused. */
const plainTokenShape = /^[A-Za-z0-9_+/=-]{1,200}$/

/** @param secret that the delivery was signed with. @returns `undefined` for a delivery that is no handshake. */
export async function answerHandshake(
  call: Call,
  { handshake }: Scheme,
  key: string | undefined,
  payload: unknown,
  secret: CryptoKey,
): Promise<Response | undefined> {
  if (handshake === 'challenge' && key === 'url_verification') {
    const challenge = textField(payload, 'challenge')
    return challenge === undefined ? undefined : reply(call, { challenge }, 200)
  }
  if (handshake === 'token' && key === 'endpoint.url_validation') {
    const plainToken = textField(field(payload, 'payload'), 'plainToken')
    if (plainToken === undefined || !plainTokenShape.test(plainToken)) return undefined
    const encryptedToken = toHex(await crypto.subtle.sign('HMAC', secret, utf8(plainToken)))
    return reply(call, { plainToken, encryptedToken }, 200)
  }
  if (handshake !== 'ping' || key !== 'PING') return undefined
  return field(payload, 'type') === 1 ? reply(call, { type: 1 }, 200) : reply(call, undefined, 204)
}

/** Longest challenge that is echoed; the provider sends a number of about ten digits. */
const longestChallenge = 200

/** The answer to a `subscribe` handshake whose token was right: the challenge, as plain text. */
export function answerSubscription(call: Call, challenge: string): Response {
  if (challenge === '' || challenge.length > longestChallenge) {
    const reason = `hub.challenge must be 1 to ${longestChallenge} characters`
    throw refuse('invalid_request', reason, { fields: [{ path: 'hub.challenge', reason }] })
  }
  return reply(call, new Response(challenge, { headers: { ...headers, 'content-type': 'text/plain' } }), 200)
}
