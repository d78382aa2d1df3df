/** Reads what comes back to the pages: the token of an address, and the fields of a form. */
import { HttpError } from '@stack/backend'

/** Bytes of a form: a token, an address and a password of 1 KiB, each percent-encoded. */
const largestForm = 8_192
/** Milliseconds in which a form must arrive: a browser sends it in one piece. */
const arrivalMs = 10_000

/** The token in the address of a page. @returns `undefined` where there is none, or more than one. */
export function tokenOf(request: Request): string | undefined {
  const tokens = new URL(request.url).searchParams.getAll('token')
  return tokens.length === 1 ? tokens[0] : undefined
}

/**
 * @returns the named fields, empty where they are absent. Others do not count: password managers add some.
 * @throws HttpError 400 `invalid_request`, 403 `forbidden`, 408 `request_timeout`, 413 `payload_too_large`, 415 `unsupported_media_type`
 */
export async function readForm<Field extends string>(
  request: Request,
  ...fields: Field[]
): Promise<Record<Field, string>> {
  requireOwnPage(request)
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new HttpError(415, 'unsupported_media_type', 'The form has an encoding that is not known here.')
  const values = new Map<string, string>()
  for (const [name, value] of pairsOf(await textOf(request))) {
    if (values.has(name) && fields.includes(name as Field)) throw malformed()
    values.set(name, value)
  }
  return Object.fromEntries(fields.map((field) => [field, values.get(field) ?? ''])) as Record<Field, string>
}

/**
 * A form needs a token that only its owner has, so another site can do little harm with one: it could make visitors ask for mails. A
 * browser tells where a form comes from, other clients do not. `Origin` is `null` in forms of these pages, which send no referrer.
 *
 * @throws HttpError 403 `forbidden`
 */
function requireOwnPage({ headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return
  throw new HttpError(403, 'forbidden', 'The form was sent from another site.')
}

async function textOf(request: Request): Promise<string> {
  const tooLarge = new HttpError(413, 'payload_too_large', `The form has more than ${largestForm} bytes.`)
  if (Number(request.headers.get('content-length')) > largestForm) throw tooLarge
  if (request.body === null) return ''
  const reader = request.body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel()
  }, arrivalMs)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let length = 0
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      length += chunk.value.length
      if (length > largestForm) throw tooLarge
      text += decoder.decode(chunk.value, { stream: true })
    }
    text += decoder.decode()
  } catch (error) {
    void reader.cancel().catch(() => {})
    throw error instanceof HttpError ? error : malformed()
  } finally {
    clearTimeout(timer)
  }
  if (isLate) throw new HttpError(408, 'request_timeout', 'The form did not arrive in time.')
  return text
}

/** Strict, unlike `URLSearchParams`: a value that is not UTF-8 would become another one, and so would a password. */
function pairsOf(text: string): [string, string][] {
  const decoded = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
  try {
    return text
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const at = pair.indexOf('=')
        return at === -1 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
      })
  } catch {
    throw malformed()
  }
}

function malformed(): HttpError {
  return new HttpError(400, 'invalid_request', 'The form could not be read.')
}
