/** A signed delivery to the running stack, and its answer. */
import type { LocalRecord } from '../../local/record.ts'
import type { Webhook } from '../../runtime/table.ts'
import { Failure } from '../shared/failure.ts'
import { printJson, writeOut } from '../shared/output.ts'
import { devVars } from '../shared/project.ts'
import type { Signer } from './keys.ts'
import { signDelivery, type ToSign } from './sign.ts'

export interface Delivery extends ToSign {
  headers: Record<string, string>
  /** The address that it is sent to. */
  address: string
}

export interface DeliverOptions {
  /** Prints the status, the request id, the duration and the body as one object, else the body alone. */
  json?: boolean | undefined
  /** A sentence fragment about the likely cause, for an answer that is no success. */
  hint?: string
  /** Aborts the request. The failure is then `interrupted`. */
  signal?: AbortSignal
}

interface Answer {
  response: Response
  text: string
  milliseconds: number
}

/** Longest wait, in milliseconds, for a running stack to serve a changed `.dev.vars`: it starts new workers for that. */
const restartMs = 15_000

/** Pause between two attempts while workerd restarts, in milliseconds. */
const retryMs = 200

/** @param search with its `?`, or empty. @returns where a delivery is sent, and the URL that its sender would have signed. */
export function addressOf(
  root: string,
  { base_url }: LocalRecord,
  { name, publicUrl }: Webhook,
  search: string,
): Pick<Delivery, 'address' | 'url'> {
  const address = `${base_url}/webhooks/${name}${search}`
  const base = devVars(root)['STACK_PUBLIC_URL']?.replace(/\/+$/, '')
  const configured = publicUrl ?? (base ? `${base}/webhooks/${name}` : undefined)
  return { address, url: configured === undefined ? address : configured + search }
}

/**
 * Sends a delivery once, and prints the answer on stdout. A line about it goes to stderr.
 * @throws Failure for any answer but a success.
 */
export async function deliver(
  { base_url }: LocalRecord,
  { scheme }: Webhook,
  { key, isNew }: Signer,
  delivery: Delivery,
  { json, hint = '', signal }: DeliverOptions,
): Promise<void> {
  const proof = signDelivery(scheme.proof, key, delivery)
  const send = () => post(delivery, proof, signal)
  const answer = await (isNew ? untilServed(send, signal) : send()).catch((error: Error) => {
    if (signal?.aborted) throw new Failure('interrupted', 'interrupted before the stack answered')
    throw new Failure('unreachable', `${base_url} does not answer: ${(error.cause as Error)?.message ?? error.message}`)
  })
  const { status, ok } = answer.response
  const request = answer.response.headers.get('x-request-id')
  process.stderr.write(`  ${status} POST ${delivery.address} in ${Math.round(answer.milliseconds)} ms, ${request}\n`)
  await printAnswer(answer, json)
  if (ok) return
  if (status === 401) {
    const why = `the signature was refused: the log of the stack names the reason beside ${request}`
    throw new Failure('unauthorized', why)
  }
  const why = `the delivery was not handled: the log of the stack says why beside ${request}${hint}`
  throw new Failure('refused', `error: ${why}`)
}

async function post(
  { address, body, headers }: Delivery,
  proof: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(address, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { ...headers, ...proof },
    redirect: 'manual',
    signal: signal ?? null,
  })
  return { response, text: await response.text(), milliseconds: performance.now() - began }
}

/** Prints JSON with two spaces. A body of another type, such as TwiML, is printed as it is. */
function printAnswer({ response, text, milliseconds }: Answer, json: boolean | undefined): Promise<void> {
  const { isJson, value } = parsed(text)
  if (json) {
    const request_id = response.headers.get('x-request-id')
    const duration_ms = Math.round(milliseconds)
    return printJson({ status: response.status, request_id, duration_ms, body: isJson ? value : text })
  }
  if (isJson) return printJson(value)
  return text ? writeOut(text.endsWith('\n') ? text : `${text}\n`) : Promise.resolve()
}

function parsed(text: string): { isJson: boolean; value?: unknown } {
  try {
    return { isJson: true, value: JSON.parse(text) }
  } catch {
    return { isJson: false }
  }
}

/** Sends until the stack serves the changed `.dev.vars`. Until then it answers 401, or not at all while workerd restarts. */
async function untilServed(send: () => Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  for (const end = Date.now() + restartMs; ; ) {
    const answer = await send().catch((error: Error) => error)
    const isServed = !(answer instanceof Error) && answer.response.status !== 401
    if (isServed) return answer
    if (Date.now() > end || signal?.aborted) {
      if (answer instanceof Error) throw answer
      return answer
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}
