/** A signed delivery to the running stack, and what came of it. */
import type { LocalRecord } from '../../local/record.ts'
import type { Webhook } from '../../runtime/table.ts'
import { Failure } from '../failure.ts'
import { print } from '../management.ts'
import { devVars } from '../project.ts'
import type { Signer } from './keys.ts'
import { signDelivery, type ToSign } from './sign.ts'

export interface Delivery extends ToSign {
  headers: Record<string, string>
  /** Where it is sent. */
  address: string
}

/** How long a running stack may take to serve a changed `.dev.vars`. */
const patienceMs = 15_000

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
 * Prints the answer: its body on stdout, all else on stderr.
 * @param hint what may have made a handler fail. @throws Failure for any answer but a success.
 */
export async function deliver(
  { base_url }: LocalRecord,
  { scheme }: Webhook,
  { key, isNew }: Signer,
  delivery: Delivery,
  hint = '',
): Promise<void> {
  const { body, headers, address } = delivery
  const proof = signDelivery(scheme.proof, key, delivery)
  const send = async () => {
    const began = performance.now()
    const response = await fetch(address, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { ...headers, ...proof },
      redirect: 'manual',
    })
    return { response, text: await response.text(), milliseconds: performance.now() - began }
  }
  const answer = await (isNew ? untilServed(send) : send()).catch((error: Error) => {
    throw new Failure('unreachable', `${base_url} does not answer: ${(error.cause as Error)?.message ?? error.message}`)
  })
  const { response, text, milliseconds } = answer
  const request = response.headers.get('x-request-id')
  process.stderr.write(`  ${response.status} POST ${address} in ${Math.round(milliseconds)} ms, ${request}\n`)
  printBody(text)
  if (response.ok) return
  const why =
    response.status === 401
      ? `the signature was refused: the log of the stack names the reason beside ${request}`
      : `the delivery was not handled: the log of the stack says why beside ${request}${hint}`
  throw response.status === 401 ? new Failure('unauthorized', why) : new Failure('refused', `error: ${why}`)
}

/** JSON as every answer is printed, anything else (TwiML) as it is. */
function printBody(text: string): void {
  try {
    print(JSON.parse(text))
  } catch {
    if (text) process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
}

/** A stack that takes up a changed `.dev.vars` still refuses for a moment, and then is away for another. */
async function untilServed<T extends { response: Response }>(send: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + patienceMs; ; ) {
    const answer = await send().catch((error: Error) => error)
    const isServed = !(answer instanceof Error) && answer.response.status !== 401
    if (isServed) return answer
    if (Date.now() > end) {
      if (answer instanceof Error) throw answer
      return answer
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
