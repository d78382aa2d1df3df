/** A call of a stack's management surface, and what is printed of its answer. */
import { Failure } from './failure.ts'
import type { Target } from './target.ts'

/** The whole call, in milliseconds. */
const patienceMs = 30_000

/**
 * Sends once: a write that may have arrived is never repeated. The banner goes to stderr, before.
 * @returns the body; `undefined` where there is none. @throws Failure as the answer, or its absence, demands.
 */
export async function manage(target: Target, method: string, path: string, body?: unknown): Promise<unknown> {
  process.stderr.write(`${target.name}\n`)
  const { response, text } = await ask(target, method, path, body)
  const json = parsed(text)
  const { status } = response
  if (status >= 300 || (text !== '' && json === undefined)) throw refusal(status, text, json)
  return json
}

async function ask({ baseUrl, credential }: Target, method: string, path: string, body: unknown) {
  const headers = { ...credential, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers,
      redirect: 'manual', // a credential goes to the stack and nowhere else
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { response, text: await response.text() }
  } catch (error) {
    const { name, message, cause } = error as Error
    const why =
      name === 'TimeoutError' ? `nothing within ${patienceMs / 1000} s` : ((cause as Error)?.message ?? message)
    throw new Failure('unreachable', `${baseUrl} does not answer: ${why}`)
  }
}

/** In the words of its envelope, where it is one. */
function refusal(status: number, text: string, json: unknown): Failure {
  const { error, error_description: description } = (json ?? {}) as Record<string, unknown>
  const isEnvelope = status >= 400 && typeof error === 'string' && typeof description === 'string'
  const sentence = isEnvelope ? `${error}: ${description}` : `the stack answered ${status}: ${text}`
  return new Failure(status === 401 || status === 403 ? 'unauthorized' : 'refused', sentence, true)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
