/** The access token of a request, by a grammar that leaves nothing to interpretation (RFC 6750 section 2.1, RFC 7515 section 3.1). */

const compact = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i
const longest = 8 * 1024

/** @returns the token; `undefined` where there is none or the header has any other form. An `apikey` header is never read. */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.get('authorization')
  return header === null || header.length > longest ? undefined : compact.exec(header)?.[1]
}
