/** Calls of a stack's management routes. */
import { Failure } from './failure.ts'
import type { Target } from './target.ts'

/** Longest time of a whole call, in milliseconds. The stack's own limits are shorter: 10 s for a statement. */
const timeoutMs = 30_000

/**
 * Prints the name of the target on stderr, and sends the call once: a write that may have arrived is never repeated.
 * @returns the body, or `undefined` for an empty one. @throws Failure for a refusal, or where the stack does not answer.
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
      redirect: 'manual', // the credential is sent to the stack alone
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { response, text: await response.text() }
  } catch (error) {
    const { name, message, cause } = error as Error
    const why =
      name === 'TimeoutError' ? `nothing within ${timeoutMs / 1000} s` : ((cause as Error)?.message ?? message)
    throw new Failure('unreachable', `${baseUrl} does not answer: ${why}`)
  }
}

/** The refusal in the words of the stack's error envelope. Another body is printed whole. */
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
