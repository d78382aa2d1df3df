/** Names the route of a request for metrics, without asking the worker. The number of names is that of the routes. */
import type { FrontRoute } from './control-protocol.ts'

interface Candidate {
  segments: string[]
  route: string
}

/** @returns a function that names the route of a request, or `other` where none has this path. */
export function createRouteLabels(
  routes: readonly FrontRoute[],
): (worker: FrontRoute['worker'], method: string, path: string) => string {
  const byShape = new Map<string, Candidate[]>()
  for (const { worker, method, path } of routes) {
    const segments = path.split('/')
    const key = `${worker} ${method} ${segments.length}`
    byShape.set(key, [...(byShape.get(key) ?? []), { segments, route: path }])
  }
  // a fixed segment wins over a parameter, as the router has it
  const parameters = ({ segments }: Candidate) => segments.filter(isParameter).length
  for (const candidates of byShape.values()) candidates.sort((a, b) => parameters(a) - parameters(b))
  return (worker, method, path) => {
    const given = path.length > 1 && path.endsWith('/') ? path.slice(0, -1).split('/') : path.split('/')
    const asked = method === 'HEAD' ? 'GET' : method
    const found = byShape
      .get(`${worker} ${asked} ${given.length}`)
      ?.find(({ segments }) => segments.every((segment, index) => segment === given[index] || isParameter(segment)))
    return found?.route ?? 'other'
  }
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
