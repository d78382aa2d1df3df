/** A delivery from its raw bytes to its handler (contract 7; the answers are the table "Webhook responses"). */

import { HttpError, refuse } from '../../src/sdk/errors.ts'
import type { WebhookMeta } from '../../src/sdk/webhooks.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { proofUnder } from '../../src/wire/webhook-schemes.ts'
import { holdBody } from '../body.ts'
import { isSame } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { invoke } from '../container.ts'
import type { RequestDatabase } from '../database/transaction.ts'
import { errorFields } from '../log.ts'
import { fail } from '../reply.ts'
import type { Webhook } from '../table.ts'
import { answerHandshake, answerSubscription, handlerAnswer, tableAnswer } from './answers.ts'
import { type Claim, type Readers, type Refusal, readClaim, refusal } from './claim.ts'
import { eventKey, field, isKeyInBody, readPayload } from './payload.ts'
import { refusalLine } from './refusals.ts'
import { secretKey } from './secret.ts'
import { utf8 } from './signed.ts'
import type { createStore, Outcome } from './store.ts'
import { urlsOf } from './urls.ts'
import { refuseBodyTime } from './window.ts'

/** Longest text of a sender's that is logged whole. */
const loggedLength = 200

/** Longest body that is read of a delivery whose time has passed, in bytes, where `maxBodyBytes` sets no bound: it is read to be recorded. */
const longestStale = 1024 * 1024

/**
 * Longest body in bytes whose form is sorted before it is known who sent it, where `maxBodyBytes` sets no other bound. Sorting
 * takes a quarter of a second for each MiB, and a sender's forms have a few KiB.
 */
const longestSorted = 4 * 1024 * 1024

/** A copy looks so often, in milliseconds, whether the first has been handled, and gives up after the longest wait. */
const copyRetryMs = 200
const copyWaitMs = 1_000

/** What the worker does for a delivery. */
export interface Receiving {
  /** Runs the work in a request's scope and transactions, for no user; `isReadOnly` is the caller's transaction. */
  run(call: Call, isReadOnly: boolean, work: (database: RequestDatabase) => Promise<Response>): Promise<Response>
  instance(index: number): object
  readers: Readers
  /** Absent where no webhook keeps anything. */
  store: ReturnType<typeof createStore> | undefined
}

interface Mounted {
  webhook: Webhook
  /** Event key → method. */
  handlers: ReadonlyMap<string, string>
}

/** One delivery, from its arrival to its record. */
interface Delivery extends Mounted {
  call: Call
  /** Unix time in milliseconds. */
  began: number
  outcome: Outcome
  /** Reads the body; it counts as in flight until the delivery has ended. */
  hold(most: number | undefined): Promise<Uint8Array<ArrayBuffer>>
  /** Tells whether a delivery that was refused for its time was genuine. */
  wasGenuine?: () => Promise<boolean>
}

interface Proven {
  body: Uint8Array<ArrayBuffer>
  claim: Claim
  /** The vault entry whose secret it was signed with. */
  entry: string
  key: CryptoKey
}

/** A sound secret, and what the headers claim under it. */
interface Candidate extends Pick<Proven, 'entry' | 'key'> {
  claim: Claim | Refusal
}

export type Receive = (call: Call, name: string) => Promise<Response>

/** Another transaction is handling the same delivery. */
class Busy extends Error {}

/** The handler answered outside 2xx: both transactions are rolled back, and its answer is sent. */
class Declined extends Error {
  readonly response: Response

  constructor(response: Response) {
    super(`the handler answered ${response.status}`)
    this.response = response
  }
}

export function createReceiver(webhooks: readonly Webhook[], { run, instance, readers, store }: Receiving): Receive {
  const mounted = new Map<string, Mounted>(
    webhooks.map((webhook) => [
      webhook.name,
      { webhook, handlers: new Map(webhook.events.map(({ key, handler }) => [key, handler])) },
    ]),
  )
  const record = store?.createRecorder(run)

  return async function receive(call, name) {
    const found = mounted.get(name)
    if (!found) {
      const near = nearest(name.slice(0, loggedLength), [...mounted.keys()])
      const others = near === undefined ? `mounted: ${[...mounted.keys()].join(', ')}` : `did you mean ${near}?`
      call.log('info', `webhook ${printed(name)} is not mounted; ${others}`)
      throw refuse('not_found', `no webhook named ${name}`)
    }
    const { webhook } = found
    const step = stepFor(call, webhook)
    const releases: (() => void)[] = []
    const outcome: Outcome = { outcome: 'refused' }
    const delivery: Delivery = {
      ...found,
      call,
      began: Date.now(),
      outcome,
      async hold(most) {
        const { bytes, release } = await holdBody(call.request, { most, isPatient: true })
        releases.push(release)
        return bytes
      },
    }
    const answer = await step(delivery).catch((error: unknown) => {
      if (error instanceof HttpError) outcome.reason ??= error.code
      return fail(call, error)
    })
    const release = () => {
      for (const end of releases) end()
    }
    // the sender does not wait for the record
    if (webhook.record && record) call.waitUntil(recordLate(delivery, answer.status, release).finally(release))
    else release()
    return answer
  }

  /** @throws HttpError 405 for a method that no sender uses here. */
  function stepFor(
    { request: { method }, search, log }: Call,
    { name, scheme }: Webhook,
  ): (one: Delivery) => Promise<Response> {
    if (method === 'POST') return deliver
    const isSubscribable = scheme.handshake === 'subscribe'
    if (isSubscribable && method === 'GET' && /[?&]hub\.mode=subscribe(?:&|$)/.test(search)) return subscribe
    const allow = isSubscribable ? 'GET, POST' : 'POST'
    log(
      'info',
      `webhook ${name} was called by ${printed(method)}, and deliveries come by POST. If the provider sent it, set the method of its callback to POST there.`,
      { webhook: name },
    )
    throw refuse('method_not_allowed', `a webhook answers ${allow.replace(', ', ' and ')}`, { headers: { allow } })
  }

  async function deliver(delivery: Delivery): Promise<Response> {
    const { call, webhook, handlers, outcome, began } = delivery
    const { name, scheme } = webhook
    const proven = await prove(delivery)
    if ('reason' in proven) throw refused(delivery, proven)
    const { body, claim, entry } = proven
    const payload = readPayload(claim.isJson ? ['json'] : scheme.payload, body)
    const about = { webhook: name, ...(webhook.secret.previous === undefined ? {} : { secret: entry }) }
    if (payload.kind === undefined && isKeyInBody(scheme.event)) throw unreadable(delivery, about)
    if (claim.timestampField !== undefined) {
      const untimely = refuseBodyTime(field(payload.value, claim.timestampField), Date.now() / 1000)
      if (untimely) throw refused(delivery, untimely)
    }
    const key = eventKey(scheme.event, call.request.headers, payload.value)
    if (key !== undefined) outcome.event = key
    const handler = key === undefined ? undefined : handlers.get(key)
    if (key === undefined || handler === undefined) {
      const handshake = await answerHandshake(call, scheme, key, payload.value, proven.key)
      outcome.outcome = handshake ? 'handshake' : 'unhandled'
      if (handshake) {
        call.log('info', `webhook ${name} answered the handshake ${printed(key!)}`, about)
        return handshake
      }
      call.log('info', `webhook ${name} has no handler for this event: ${unhandled(key, handlers)}`, {
        ...about,
        reason: 'unhandled',
      })
      return tableAnswer(call, scheme, payload, false)
    }
    const id = webhook.dedupe ? await store!.deliveryId(scheme, key, claim, payload.value, body) : undefined
    const meta: WebhookMeta = { requestId: call.requestId, event: key }
    const work = async ({ service }: RequestDatabase): Promise<Response> => {
      const turn = id === undefined ? 'first' : await store!.takeTurn(service, name, id)
      if (turn === 'busy') throw new Busy()
      if (turn === 'copy') {
        outcome.outcome = 'duplicate'
        return tableAnswer(call, scheme, payload, true)
      }
      const result = await invoke(instance(webhook.receiver), handler, [payload.value, meta])
      const answer = handlerAnswer(call, scheme, result) ?? tableAnswer(call, scheme, payload, true)
      if (!answer.ok) throw new Declined(answer)
      return answer
    }
    try {
      const response = id === undefined ? await run(call, false, work) : await inTurn(call, work)
      const isDuplicate = outcome.outcome === 'duplicate'
      if (!isDuplicate) outcome.outcome = 'handled'
      const what = isDuplicate
        ? 'was handled before: this delivery is a copy'
        : `handled by ${webhook.class}.${handler} in ${Date.now() - began} ms`
      call.log('info', `webhook ${name}: ${printed(key)} ${what}`, { ...about, event: key.slice(0, loggedLength) })
      return response
    } catch (error) {
      outcome.outcome = 'failed'
      outcome.reason = error instanceof Error ? error.message : String(error)
      if (error instanceof Busy) {
        outcome.reason = 'another delivery of this id is being handled'
        call.log(
          'info',
          `webhook ${name}: ${printed(key)} is still being handled, and this copy of it must come again`,
          about,
        )
        throw refuse('unavailable', outcome.reason, { headers: { 'retry-after': '1' } })
      }
      if (error instanceof Declined) {
        const { status } = error.response
        call.log(
          'warn',
          `webhook ${name}: ${webhook.class}.${handler} answered ${status}, so nothing it wrote is kept`,
          about,
        )
        return error.response
      }
      call.log('error', `webhook ${name}: ${webhook.class}.${handler} failed`, { ...about, ...errorFields(error) })
      throw new HttpError(500, 'handler_failed', 'the handler for this event failed')
    }
  }

  /** While another transaction handles the delivery, this one is ended: a copy that waits holds no connection. */
  async function inTurn(call: Call, work: (database: RequestDatabase) => Promise<Response>): Promise<Response> {
    for (let waitedMs = 0; ; waitedMs += copyRetryMs) {
      try {
        return await run(call, true, work)
      } catch (error) {
        if (!(error instanceof Busy) || waitedMs >= copyWaitMs) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, copyRetryMs))
    }
  }

  /** Headers and secret are refused before the body is read: an unsigned upload costs nothing. */
  async function prove(delivery: Delivery): Promise<Proven | Refusal> {
    const { call, webhook, outcome } = delivery
    const { secret, scheme } = webhook
    const current = textBinding(call.env, secret.env)
    if (current === undefined) return refusal('unset_secret', `the vault entry ${secret.env} is not set`)
    const urls = scheme.proof.by === 'url' ? signedUrls(call, webhook) : []
    const arrival = { headers: call.request.headers, urls, now: Date.now() / 1000 }
    const candidateOf = async (entry: string, text: string): Promise<Candidate | string> => {
      const proof = proofUnder(scheme.proof, text)
      const key = await secretKey(proof, text)
      return typeof key === 'string' ? key : { entry, key, claim: readClaim(readers, proof, arrival) }
    }
    const first = await candidateOf(secret.env, current)
    if (typeof first === 'string') {
      return refusal('malformed_secret', `the vault entry ${secret.env} is no secret of this scheme: ${first}`)
    }
    const before = secret.previous === undefined ? undefined : textBinding(call.env, secret.previous)
    const second = before === undefined ? undefined : await candidateOf(secret.previous!, before)
    const candidates = [first, ...(second === undefined || typeof second === 'string' ? [] : [second])]
    if (candidates.every(({ claim }) => 'reason' in claim)) {
      await readStale(delivery, candidates)
      return first.claim as Refusal
    }
    const body = await delivery.hold(webhook.maxBodyBytes ?? (scheme.proof.by === 'url' ? longestSorted : undefined))
    for (const { entry, key, claim } of candidates) {
      if ('reason' in claim || !(await claim.holds(key, body))) continue
      outcome.body = body
      return { body, claim, entry, key }
    }
    const tried = urls.length > 0 ? `, or the URL that it was sent to is not ${printed(urls[0]!)}` : ''
    const entries = candidates.map(({ entry }) => entry).join(' nor ')
    const not = candidates.length > 1 ? 'neither' : 'not'
    return refusal('bad_signature', `its signature is ${not} that of the secret in ${entries} over this body${tried}`)
  }

  /** The body of a delivery whose time has passed is wanted for the record, if the delivery turns out to be genuine. */
  async function readStale(delivery: Delivery, candidates: readonly Candidate[]): Promise<void> {
    const { webhook, outcome } = delivery
    const late = candidates.filter(({ claim }) => 'reason' in claim && claim.claim !== undefined)
    if (!webhook.record || late.length === 0) return
    const body = await delivery.hold(webhook.maxBodyBytes ?? longestStale).catch(() => undefined)
    if (!body) return
    delivery.wasGenuine = async () => {
      const results = await Promise.all(late.map(({ key, claim }) => (claim as Refusal).claim!.holds(key, body)))
      if (results.includes(true)) outcome.body = body
      return results.includes(true)
    }
  }

  /** @param release called before the record waits for its turn, where the body is not recorded. */
  async function recordLate(delivery: Delivery, status: number, release: () => void): Promise<void> {
    const { call, webhook, outcome, began } = delivery
    await delivery.wasGenuine?.()
    delete delivery.wasGenuine // it holds the body
    if (!outcome.body) release()
    await record!(call, webhook, outcome, status, began)
  }

  /** The one answer to every refusal; its reason is for the log alone. */
  function refused({ call, webhook, outcome }: Delivery, why: Refusal): HttpError {
    outcome.outcome = 'refused'
    outcome.reason = why.reason
    call.log('warn', refusalLine(webhook, why), { webhook: webhook.name, reason: why.reason })
    return refuse('unauthorized', 'webhook signature rejected')
  }

  /** Genuine, and yet no event can be read from it. */
  function unreadable({ call, webhook, outcome }: Delivery, about: object): HttpError {
    const reason = 'the body is not valid JSON'
    outcome.outcome = 'failed'
    outcome.reason = reason
    const line = `webhook ${webhook.name}: the signature is right, but ${reason}. Check at the provider which content type it sends.`
    call.log('warn', line, { ...about, reason: 'invalid_request' })
    return refuse('invalid_request', reason, { fields: [{ path: 'body', reason }] })
  }

  /** The provider asks by GET whether the URL is this project's, with a token that both know. */
  async function subscribe(delivery: Delivery): Promise<Response> {
    const { call, webhook, outcome } = delivery
    const { name, secret } = webhook
    const query = new URLSearchParams(call.search)
    const expected = secret.verify === undefined ? undefined : textBinding(call.env, secret.verify)
    if (expected === undefined) {
      const entry = secret.verify ?? 'that `secret.verify` must name'
      throw refused(delivery, refusal('unset_secret', `the vault entry ${entry} is not set`))
    }
    const token = query.get('hub.verify_token') ?? ''
    const [own, other] = await Promise.all([expected, token].map(digestOf))
    if (!isSame(own!, other!)) {
      throw refused(delivery, refusal('bad_signature', `hub.verify_token is not what ${secret.verify} holds`))
    }
    const answer = answerSubscription(call, query.get('hub.challenge') ?? '')
    outcome.outcome = 'handshake'
    call.log('info', `webhook ${name} answered the handshake "subscribe"`, { webhook: name })
    return answer
  }
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))
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
