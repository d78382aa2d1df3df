/**
 * Finds the route of a request. Literal segments win over parameters; a path answers with and without one trailing
 * slash; `HEAD` is answered by `GET`.
 */
import { refuse } from '../src/sdk/errors.ts'
import type { Method, Route } from './table.ts'

export interface Match {
  route: Route
  /** Percent-decoded. */
  parameters: Record<string, string>
}

interface Node {
  literal: Map<string, Node>
  parameter?: Node
  /** Names of the parameters on the way here, by method: `/a/:id` and `/a/:id/b` may differ. */
  routes: Map<Method, { route: Route; names: string[] }>
}

/**
 * @returns a function from method and path (still encoded) to the match.
 * The function throws `HttpError`: 404 `not_found`, 405 `method_not_allowed` with `allow`, 400 for a malformed encoding.
 */
export function createMatcher(routes: readonly Route[]): (method: string, path: string) => Match {
  const root = emptyNode()
  for (const route of routes) {
    let node = root
    const names: string[] = []
    for (const segment of segmentsOf(route.path)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1))
        node.parameter ??= emptyNode()
        node = node.parameter
      } else {
        const next = node.literal.get(segment) ?? emptyNode()
        node.literal.set(segment, next)
        node = next
      }
    }
    node.routes.set(route.method, { route, names })
  }

  return function find(method, path) {
    const segments = segmentsOf(path).map(decode)
    const wanted = method === 'HEAD' ? 'GET' : method
    const allowed = new Set<string>()
    const found = descend(root, segments, 0, [], (node, values) => {
      for (const known of node.routes.keys()) allowed.add(known)
      const hit = node.routes.get(wanted as Method)
      if (!hit) return undefined
      const parameters: Record<string, string> = Object.create(null)
      hit.names.forEach((name, index) => {
        parameters[name] = values[index]!
      })
      return { route: hit.route, parameters }
    })
    if (found) return found
    if (allowed.size === 0) throw refuse('not_found')
    if (allowed.has('GET')) allowed.add('HEAD')
    throw refuse('method_not_allowed', `this address answers ${[...allowed].join(', ')}`, {
      headers: { allow: [...allowed].join(', ') },
    })
  }
}

function emptyNode(): Node {
  return { literal: new Map(), routes: new Map() }
}

function segmentsOf(path: string): string[] {
  const inner = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined)
  return inner === '' ? [] : inner.split('/')
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    const reason = 'the path is not valid percent-encoded UTF-8'
    throw refuse('invalid_request', reason, { fields: [{ path: 'path', reason }] })
  }
}

/** Visits every node that the segments reach, literals first; an empty segment is no parameter. */
function descend(
  node: Node,
  segments: readonly string[],
  depth: number,
  values: readonly string[],
  visit: (node: Node, values: readonly string[]) => Match | undefined,
): Match | undefined {
  if (depth === segments.length) return visit(node, values)
  const segment = segments[depth]!
  const literal = node.literal.get(segment)
  const found = literal && descend(literal, segments, depth + 1, values, visit)
  if (found || !node.parameter || segment === '') return found
  return descend(node.parameter, segments, depth + 1, [...values, segment], visit)
}
