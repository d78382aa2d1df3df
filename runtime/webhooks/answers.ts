/** Answers to the senders of genuine deliveries (contract 7.6). */
import { HttpError, httpError } from '../../src/sdk/errors.ts'
import type { Scheme } from '../../src/wire/webhook-schemes.ts'
import { toHex } from '../bytes.ts'
import type { Call } from '../call.ts'
import { reply } from '../reply.ts'
import { field, type Payload, textField } from './payload.ts'
import { utf8 } from './signed.ts'

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** The answer of the table "Webhook responses", in the content type that the provider accepts. */
export function tableAnswer(call: Call, { formAnswer }: Scheme, { kind }: Payload, handled: boolean): Response {
  if (formAnswer === undefined || kind === 'json') return reply(call, { ok: true, handled }, 200)
  if (formAnswer === 'empty') return reply(call, new Response(null, { headers }), 200)
  const document = '<?xml version="1.0" encoding="UTF-8"?><Response></Response>'
  return reply(call, new Response(document, { headers: { ...headers, 'content-type': 'text/xml' } }), 200)
}

/** @returns the handler's own answer; `undefined` where the table's answer is sent. */
export function handlerAnswer(call: Call, { isInteractive }: Scheme, result: unknown): Response | undefined {
  const isOwn = result instanceof Response || result instanceof HttpError
  const isAnswer = isOwn || (isInteractive && typeof result === 'object' && result !== null)
  return isAnswer ? reply(call, result, 200) : undefined
}

/** The form of Zoom's `plainToken`. It excludes colons: a signed text like `v0:{ts}:{body}` would pass as the signature of a delivery. */
const plainTokenShape = /^[A-Za-z0-9_+/=-]{1,200}$/

/** @param secret the key of the delivery's signature. @returns `undefined` for a delivery that is not a handshake. */
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

/** Longest challenge in characters that is echoed. The provider sends a number of about ten digits. */
const longestChallenge = 200

/** Answers a `subscribe` handshake whose token was verified with the challenge as plain text. @throws HttpError 400 */
export function answerSubscription(call: Call, challenge: string): Response {
  if (challenge === '' || challenge.length > longestChallenge) {
    const reason = `hub.challenge must be 1 to ${longestChallenge} characters`
    throw httpError('invalid_request', reason, { fields: [{ path: 'hub.challenge', reason }] })
  }
  return reply(call, new Response(challenge, { headers: { ...headers, 'content-type': 'text/plain' } }), 200)
}
