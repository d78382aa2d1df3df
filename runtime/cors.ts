/**
 * Headers that let pages of other origins read answers (Fetch, "CORS protocol"). By default no origin may. An origin is
 * returned only where the root module lists it, and credentials are never allowed for `*`.
 */
import type { Cors } from './table.ts'

interface CorsPolicy {
  /** Adds the headers that let a page of an allowed origin read the answer. */
  apply(request: Request, response: Response): Response
  /** @returns the headers of a preflight's answer: the methods and headers that may be sent. @param methods of the address. */
  preflight(request: Request, methods: string): Record<string, string>
}

export function createCors({ origins, credentials, headers, exposed, maxAge }: Cors): CorsPolicy {
  const isOpen = origins.includes('*')
  const allowed: ReadonlySet<string> = new Set(origins)
  const originFor = (request: Request) => {
    const origin = request.headers.get('origin')
    if (origin === null) return undefined
    return isOpen ? '*' : allowed.has(origin) ? origin : undefined
  }
  return {
    apply(request, response) {
      // without this header a cache could answer one origin with the headers for another
      if (!isOpen) response.headers.append('vary', 'origin')
      const origin = originFor(request)
      if (origin === undefined) return response
      response.headers.set('access-control-allow-origin', origin)
      if (credentials) response.headers.set('access-control-allow-credentials', 'true')
      if (exposed.length > 0) response.headers.set('access-control-expose-headers', exposed.join(', '))
      return response
    },
    preflight(request, methods): Record<string, string> {
      if (!request.headers.has('access-control-request-method') || originFor(request) === undefined) return {}
      return {
        'access-control-allow-methods': methods,
        'access-control-allow-headers': headers.join(', '),
        'access-control-max-age': String(maxAge),
      }
    },
  }
}
