import { isLoopback } from '../../wire/loopback.ts'

/** Milliseconds that one request to a provider may take, body included: a person waits for it. */
const fetchMs = 5_000
/** Largest answer in bytes: key sets and profiles have a few thousand. */
const mostBytes = 524_288

/** The provider cannot be reached, or does not answer as its documents say. The message is for the log alone. */
export class ProviderFailed extends Error {
  override name = 'ProviderFailed'
}

/** The provider answered with something that proves no person. The message is for the log alone. */
export class AnswerRefused extends Error {
  override name = 'AnswerRefused'
}

/** Codes of oauth4webapi for an endpoint that is broken, not for an answer that proves nothing. */
const brokenCodes = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']

/** Whether an error is the provider's fault, so that trying again may help. */
export function isOutage(error: unknown): boolean {
  if (error instanceof ProviderFailed) return true
  return error instanceof Error && 'code' in error && brokenCodes.includes(String(error.code))
}

/**
 * The reason of an error for the log. The error itself is not logged: those of oauth4webapi carry the tokens and claims that they are
 * about.
 */
export function reasonOf(error: unknown): Record<string, string> {
  if (!(error instanceof Error)) return { reason: 'a thrown value that is no error' }
  const { name, message, cause } = error
  const known = error as Error & { code?: unknown; error?: unknown }
  return {
    reason: `${name}: ${message}`,
    ...(typeof known.code === 'string' ? { code: known.code } : {}),
    // the provider's own code of an error (RFC 6749 section 5.2)
    ...(typeof known.error === 'string' ? { reported: known.error.slice(0, 100) } : {}),
    ...(error instanceof ProviderFailed && cause instanceof Error ? { cause: cause.message } : {}),
  }
}

/** `fetch` within bounds, to https alone (http on loopback). A redirect is not followed: it would carry secrets elsewhere. */
export async function providerFetch(address: string, init: RequestInit = {}): Promise<Response> {
  requireSafe(address)
  const { signal: _theirs, ...rest } = init
  const { promise: late, reject } = Promise.withResolvers<never>()
  late.catch(() => {})
  const abort = new AbortController()
  const timer = setTimeout(() => {
    reject(new ProviderFailed(`${hostOf(address)} did not answer within ${fetchMs} ms`))
    abort.abort()
  }, fetchMs)
  try {
    const response = await Promise.race([fetch(address, { ...rest, redirect: 'manual', signal: abort.signal }), late])
    const body = await readBody(response, late, address)
    const { status, headers } = response
    if (status >= 500 || (status >= 300 && status < 400)) {
      throw new ProviderFailed(`${hostOf(address)} answered with ${status}`)
    }
    return new Response(status === 204 ? null : body, { status, headers })
  } catch (error) {
    if (error instanceof ProviderFailed) throw error
    throw new ProviderFailed(`${hostOf(address)} cannot be reached`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** @throws ProviderFailed for an address that a secret must not be sent to. */
export function requireSafe(address: string): URL {
  const url = URL.parse(address)
  if (url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) return url
  throw new ProviderFailed('an endpoint of the provider is neither https nor on loopback')
}

const hostOf = (address: string) => new URL(address).host

async function readBody(response: Response, late: Promise<never>, address: string): Promise<Uint8Array> {
  if (!response.body) return new Uint8Array()
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), late])
    if (done) break
    length += value.length
    if (length > mostBytes) {
      reader.cancel().catch(() => {})
      throw new ProviderFailed(`an answer of ${hostOf(address)} is larger than ${mostBytes} bytes`)
    }
    chunks.push(value)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
