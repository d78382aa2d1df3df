/** Invokes the handler of a genuine delivery, and answers the sender (contract 7.6, 7.7). */
import { HttpError, httpError } from '../../src/sdk/errors.ts'
import type { WebhookMeta } from '../../src/sdk/webhooks.ts'
import { nearest } from '../../src/wire/nearest.ts'
import type { Call } from '../call.ts'
import { invoke } from '../container.ts'
import type { RequestDatabase } from '../database/transaction.ts'
import { errorFields } from '../log.ts'
import { answerHandshake, handlerAnswer, tableAnswer } from './answers.ts'
import { type Delivery, loggedLength, quoted, type Run } from './delivery.ts'
import type { Payload } from './payload.ts'
import type { Proven } from './prove.ts'
import type { createStore } from './store.ts'

/** Milliseconds between two attempts of a copy whose first delivery is still being handled (contract 7.7). */
const copyRetryMs = 200
/** Longest time in milliseconds that a copy waits for the first delivery (contract 7.7). The provider sends it again later. */
const copyWaitMs = 1_000

export interface Handling {
  run: Run
  instance(index: number): object
  /** Absent where no webhook stores deliveries. */
  store: ReturnType<typeof createStore> | undefined
}

/** A delivery whose signature was verified, and whose body was parsed. */
export interface Genuine {
  delivery: Delivery
  proven: Proven
  payload: Payload
  /** Absent where the delivery names no event. */
  key: string | undefined
  /** Fields for the lines of the log. */
  about: { webhook: string; secret?: string }
}

/** Another transaction is handling the same delivery. */
class Busy extends Error {}

/** The handler answered outside 2xx: both transactions are rolled back, and the sender gets its answer. */
class Declined extends Error {
  readonly response: Response

  constructor(response: Response) {
    super(`the handler answered ${response.status}`)
    this.response = response
  }
}

/** @throws HttpError 500 `handler_failed`, or 503 while another transaction handles the same delivery. */
export async function handle(genuine: Genuine, handling: Handling): Promise<Response> {
  const { delivery, key } = genuine
  const handler = key === undefined ? undefined : delivery.handlers.get(key)
  if (key === undefined || handler === undefined) return answerUnbound(genuine)
  try {
    const response = await perform(genuine, key, handler, handling)
    logHandled(genuine, key, handler)
    return response
  } catch (error) {
    return answerFailure(genuine, key, handler, error)
  }
}

/** Answers an event without a handler: a handshake of the provider, or the table's answer. */
async function answerUnbound({ delivery, proven, payload, key, about }: Genuine): Promise<Response> {
  const { call, webhook, handlers, outcome } = delivery
  const { name, scheme } = webhook
  const handshake = await answerHandshake(call, scheme, key, payload.value, proven.key)
  outcome.outcome = handshake ? 'handshake' : 'unhandled'
  if (handshake) {
    call.log('info', `webhook ${name} answered the handshake ${quoted(key!)}`, about)
    return handshake
  }
  call.log('info', `webhook ${name} has no handler for this event: ${unhandled(key, handlers)}`, {
    ...about,
    reason: 'unhandled',
  })
  return tableAnswer(call, scheme, payload, false)
}

/** Invokes the handler inside the delivery's transactions. With `dedupe`, only the first of equal deliveries invokes it. */
async function perform(
  { delivery, proven, payload }: Genuine,
  key: string,
  handler: string,
  { run, instance, store }: Handling,
): Promise<Response> {
  const { call, webhook, outcome } = delivery
  const { scheme } = webhook
  const id = webhook.dedupe ? await store!.deliveryId(scheme, key, proven.claim, payload.value, proven.body) : undefined
  const meta: WebhookMeta = { requestId: call.requestId, event: key }
  const work = async ({ service }: RequestDatabase): Promise<Response> => {
    const turn = id === undefined ? 'first' : await store!.claimTurn(service, webhook.name, id)
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
  return id === undefined ? run(call, false, work) : runInTurn(run, call, work)
}

/** Retries while another transaction handles the delivery. Each attempt ends its transaction: a waiting copy holds no connection. */
async function runInTurn(
  run: Run,
  call: Call,
  work: (database: RequestDatabase) => Promise<Response>,
): Promise<Response> {
  for (let waitedMs = 0; ; waitedMs += copyRetryMs) {
    try {
      return await run(call, true, work)
    } catch (error) {
      if (!(error instanceof Busy) || waitedMs >= copyWaitMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, copyRetryMs))
  }
}

function logHandled({ delivery, about }: Genuine, key: string, handler: string): void {
  const { call, webhook, outcome, began } = delivery
  const isDuplicate = outcome.outcome === 'duplicate'
  if (!isDuplicate) outcome.outcome = 'handled'
  const what = isDuplicate
    ? 'was handled before: this delivery is a copy'
    : `handled by ${webhook.class}.${handler} in ${Date.now() - began} ms`
  call.log('info', `webhook ${webhook.name}: ${quoted(key)} ${what}`, { ...about, event: key.slice(0, loggedLength) })
}

/** @returns the handler's own answer outside 2xx. @throws HttpError for every other failure. */
function answerFailure({ delivery, about }: Genuine, key: string, handler: string, error: unknown): Response {
  const { call, webhook, outcome } = delivery
  const { name } = webhook
  outcome.outcome = 'failed'
  outcome.reason = error instanceof Error ? error.message : String(error)
  if (error instanceof Busy) {
    outcome.reason = 'another delivery of this id is being handled'
    call.log(
      'info',
      `webhook ${name}: ${quoted(key)} is still being handled: the sender of this copy is asked to send it again`,
      about,
    )
    throw httpError('unavailable', outcome.reason, { headers: { 'retry-after': '1' } })
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

function unhandled(key: string | undefined, handlers: ReadonlyMap<string, string>): string {
  if (key === undefined) return 'none'
  const bound = [...handlers.keys()]
  const near = nearest(key.slice(0, loggedLength), bound)
  return `${quoted(key)}; ${near === undefined ? `bound: ${bound.slice(0, 10).join(', ')}` : `did you mean "${near}"?`}`
}
