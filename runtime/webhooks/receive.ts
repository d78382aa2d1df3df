/** A delivery from its raw bytes to its answer (contract 7; the answers are the table "Webhook responses"). */
import { HttpError, httpError } from '../../src/sdk/errors.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { holdBody } from '../body.ts'
import { isSame } from '../bytes.ts'
import type { Call } from '../call.ts'
import { textBinding } from '../env.ts'
import { fail } from '../reply.ts'
import type { Webhook } from '../table.ts'
import { answerSubscription } from './answers.ts'
import { type Fault, fault, type Readers } from './claim.ts'
import { type Delivery, loggedLength, type Mounted, quoted } from './delivery.ts'
import { faultLine } from './faults.ts'
import { type Handling, handle } from './handle.ts'
import { eventKey, field, isKeyInBody, readPayload } from './payload.ts'
import { prove } from './prove.ts'
import type { Recorder } from './recorder.ts'
import { utf8 } from './signed.ts'
import { bodyTimeFault } from './window.ts'

export interface Receiving extends Handling {
  readers: Readers
}

export type Receive = (call: Call, name: string) => Promise<Response>

type Step = (delivery: Delivery) => Promise<Response>

export function createReceiver(webhooks: readonly Webhook[], receiving: Receiving): Receive {
  const mounted = new Map<string, Mounted>(
    webhooks.map((webhook) => [
      webhook.name,
      { webhook, handlers: new Map(webhook.events.map(({ key, handler }) => [key, handler])) },
    ]),
  )
  const record = receiving.store?.createRecorder(receiving.run)
  const deliver: Step = (delivery) => deliverTo(delivery, receiving)

  return async function receive(call, name) {
    const found = mounted.get(name)
    if (!found) throw unmountedError(call, name, [...mounted.keys()])
    const step = stepFor(call, found.webhook, deliver)
    const releases: (() => void)[] = []
    const delivery: Delivery = {
      ...found,
      call,
      began: Date.now(),
      outcome: { outcome: 'refused' },
      async hold(most) {
        const { bytes, release } = await holdBody(call.request, { most, isPatient: true })
        releases.push(release)
        return bytes
      },
    }
    const answer = await step(delivery).catch((error: unknown) => {
      if (error instanceof HttpError) delivery.outcome.reason ??= error.code
      return fail(call, error)
    })
    const release = () => {
      for (const end of releases) end()
    }
    // the sender does not wait for the record
    if (found.webhook.record && record)
      call.waitUntil(recordLater(delivery, answer.status, record, release).finally(release))
    else release()
    return answer
  }
}

function unmountedError(call: Call, name: string, mounted: readonly string[]): HttpError {
  const near = nearest(name.slice(0, loggedLength), mounted)
  const others = near === undefined ? `mounted: ${mounted.join(', ')}` : `did you mean ${near}?`
  call.log('info', `webhook ${quoted(name)} is not mounted; ${others}`)
  return httpError('not_found', `no webhook named ${name}`)
}

/** @throws HttpError 405 for a method by which the provider sends nothing. */
function stepFor({ request: { method }, search, log }: Call, { name, scheme }: Webhook, deliver: Step): Step {
  if (method === 'POST') return deliver
  const isSubscribable = scheme.handshake === 'subscribe'
  if (isSubscribable && method === 'GET' && /[?&]hub\.mode=subscribe(?:&|$)/.test(search)) return subscribe
  const allow = isSubscribable ? 'GET, POST' : 'POST'
  log(
    'info',
    `webhook ${name} was called by ${quoted(method)}, and deliveries come by POST. If the provider sent it, set the method of its callback to POST there.`,
    { webhook: name },
  )
  throw httpError('method_not_allowed', `a webhook answers ${allow.replace(', ', ' and ')}`, { headers: { allow } })
}

async function deliverTo(delivery: Delivery, receiving: Receiving): Promise<Response> {
  const { call, webhook, outcome } = delivery
  const { name, scheme, secret } = webhook
  const proven = await prove(delivery, receiving.readers)
  if ('reason' in proven) throw rejection(delivery, proven)
  const payload = readPayload(proven.claim.isJson ? ['json'] : scheme.payload, proven.body)
  const about = { webhook: name, ...(secret.previous === undefined ? {} : { secret: proven.entry }) }
  if (payload.kind === undefined && isKeyInBody(scheme.event)) throw unreadableError(delivery, about)
  const { timestampField } = proven.claim
  if (timestampField !== undefined) {
    const untimely = bodyTimeFault(field(payload.value, timestampField), Date.now() / 1000)
    if (untimely) throw rejection(delivery, untimely)
  }
  const key = eventKey(scheme.event, call.request.headers, payload.value)
  if (key !== undefined) outcome.event = key
  return handle({ delivery, proven, payload, key, about }, receiving)
}

/** Answers the provider's GET that checks the URL with a token that both sides know. */
async function subscribe(delivery: Delivery): Promise<Response> {
  const { call, webhook, outcome } = delivery
  const { name, secret } = webhook
  const query = new URLSearchParams(call.search)
  const expected = secret.verify === undefined ? undefined : textBinding(call.env, secret.verify)
  if (expected === undefined) {
    const entry = secret.verify ?? 'that `secret.verify` must name'
    throw rejection(delivery, fault('unset_secret', `the vault entry ${entry} is not set`))
  }
  const token = query.get('hub.verify_token') ?? ''
  const [own, other] = await Promise.all([expected, token].map(digestOf))
  if (!isSame(own!, other!)) {
    throw rejection(delivery, fault('bad_signature', `hub.verify_token is not what ${secret.verify} holds`))
  }
  const answer = answerSubscription(call, query.get('hub.challenge') ?? '')
  outcome.outcome = 'handshake'
  call.log('info', `webhook ${name} answered the handshake "subscribe"`, { webhook: name })
  return answer
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))
}

/** Logs the reason of a refusal. @returns the error for the sender, which is the same for every reason. */
function rejection({ call, webhook, outcome }: Delivery, why: Fault): HttpError {
  outcome.outcome = 'refused'
  outcome.reason = why.reason
  call.log('warn', faultLine(webhook, why), { webhook: webhook.name, reason: why.reason })
  return httpError('unauthorized', 'webhook signature rejected')
}

/** Logs a genuine delivery whose body cannot be parsed. @returns the error for the sender. */
function unreadableError({ call, webhook, outcome }: Delivery, about: object): HttpError {
  const reason = 'the body is not valid JSON'
  outcome.outcome = 'failed'
  outcome.reason = reason
  const line = `webhook ${webhook.name}: the signature is right, but ${reason}. Check at the provider which content type it sends.`
  call.log('warn', line, { ...about, reason: 'invalid_request' })
  return httpError('invalid_request', reason, { fields: [{ path: 'body', reason }] })
}

/** @param release called before the record waits for its turn, where the record does not need the body. */
async function recordLater(delivery: Delivery, status: number, record: Recorder, release: () => void): Promise<void> {
  const { call, webhook, outcome, began } = delivery
  await delivery.verifyLate?.()
  delete delivery.verifyLate // the function refers to the body
  if (!outcome.body) release()
  await record(call, webhook, outcome, status, began)
}
