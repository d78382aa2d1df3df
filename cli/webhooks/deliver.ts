/** A signed delivery to the running stack, and what came of it. */
import type { Webhook } from '../../runtime/table.ts'
import { Failure } from '../failure.ts'
import { devVars } from '../project.ts'
import { signingKey } from './keys.ts'
import { runningStack } from './mounted.ts'
import { signDelivery } from './sign.ts'

export interface Delivery {
  body: Buffer
  headers: Record<string, string>
  /** With its `?`, or empty. */
  search: string
  /** Unix time in seconds. */
  at: number
  id: string
}

/** How long a running stack may take to serve a changed `.dev.vars`. */
const patienceMs = 15_000

/**
 * Prints the answer: its body on stdout, all else on stderr.
 * @param hint what may have made a handler fail. @throws Failure for any answer but a success.
 */
export async function deliver(root: string, webhook: Webhook, delivery: Delivery, hint = ''): Promise<void> {
  const { base_url } = await runningStack(root)
  const { key, isNew } = signingKey(root, webhook)
  const { body, headers, search, at, id } = delivery
  const url = `${base_url}/webhooks/${webhook.name}${search}`
  const base = devVars(root)['STACK_PUBLIC_URL']?.replace(/\/+$/, '')
  const configured = webhook.publicUrl ?? (base ? `${base}/webhooks/${webhook.name}` : undefined)
  const signedUrl = configured === undefined ? url : configured + search
  const proof = signDelivery(webhook.scheme.proof, key, { body, at, id, url: signedUrl })
  const send = async () => {
    const began = performance.now()
    const response = await fetch(url, {
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
  process.stderr.write(`  ${response.status} POST ${url} in ${Math.round(milliseconds)} ms, ${request}\n`)
  if (text) process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  if (response.ok) return
  const why =
    response.status === 401
      ? `the signature was refused: the log of the stack names the reason beside ${request}`
      : `the delivery was not handled: the log of the stack says why beside ${request}${hint}`
  throw response.status === 401 ? new Failure('unauthorized', why) : new Failure('refused', `error: ${why}`)
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
