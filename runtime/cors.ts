/**
 * Which other origins' pages may read answers (Fetch, "CORS protocol"): those that the root module names, and nobody by
 * default. An origin is given back only where it stands in that list, and credentials never go with `*`.
 */
import type { Cors } from './table.ts'

interface CorsPolicy {
  /** Adds what the page of an allowed origin needs to read the answer. */
  apply(request: Request, response: Response): Response
  /** The same for the question before a request: what may be sent. @param methods of the address. */
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
      // without this a cache would give one origin what was meant for another
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
