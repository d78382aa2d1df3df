/**
 * Reads the access token of a request by a strict grammar: the scheme, one or more blanks, three base64url parts (RFC 9110
 * section 11.4, RFC 6750 section 2.1, RFC 7515 section 3.1). Blanks around a header's value do not belong to it (RFC 9110
 * section 5.5).
 */

const compact = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i
const scheme = /^Bearer(?: |$)/i
/** Longest header in characters (contract 2.11). The platform's own limit, 128 KiB for all headers, would let one header cost more. */
const longest = 8 * 1024

/**
 * An `apikey` header is never read.
 * @returns the token; `undefined` where the request has no `authorization` header; else the reason why the header has no token.
 */
export function bearerToken(request: Request): { token: string } | { reason: string } | undefined {
  const value = request.headers.get('authorization')
  if (value === null) return undefined
  const header = isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)) ? trimmed(value) : value
  if (header.length > longest) return { reason: 'header_too_long' }
  const token = compact.exec(header)?.[1]
  if (token !== undefined) return { token }
  return { reason: scheme.test(header) ? 'malformed_token' : 'another_scheme' }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Called only where there are blanks: the expression looks at every character. */
function trimmed(value: string): string {
  return value.replace(/^[ \t]+|[ \t]+$/g, '')
}
