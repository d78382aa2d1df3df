import { HttpError } from '@stack/backend'

/**
 * Compares a state with the header `If-Match` (RFC 9110 section 13.1.1). Without the header, and with `*`, every state matches.
 *
 * @param current the entity tag of the state, which the caller has locked. @param what names the state in the refusal.
 * @throws HttpError 412 `precondition_failed` with the current entity tag in body and header.
 */
export function requireMatch(ifMatch: string | undefined, current: string, what: string): void {
  if (ifMatch === undefined) return
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(current)) return
  const details = { body: { etag: current }, headers: { etag: current } }
  throw new HttpError(
    412,
    'precondition_failed',
    `${what} changed meanwhile: read the current state, and decide again`,
    details,
  )
}
