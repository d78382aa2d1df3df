/**
 * What a request's path means, around the matcher that the build emits (build/emit/matcher.ts):
 * - literal segments win over parameters, from the left; case counts;
 * - one slash at the end does not count; an empty segment (`//`) matches nothing;
 * - percent-encoding is decoded once, in literals as in parameters; `%2F` is part of a value, never a separator;
 * - `HEAD` is answered by `GET`, `OPTIONS` by the methods of the path, and so is a method that the path does not have.
 */
import { refuse } from '../src/sdk/errors.ts'

/** Index of the route in the table, and the parameters' values in the order of the path. */
export type Match = readonly [route: number, ...values: string[]]

/** The emitted matcher. @param path decoded. */
export type Matcher = (method: string, path: string) => Match | undefined

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Stands for an encoded slash while a path is matched: no path holds it, and nothing that is decoded gives it. */
const slash = '\ud800'

/**
 * @param path as sent.
 * @throws HttpError 404 `not_found`, 405 `method_not_allowed` with `allow`, 400 for a malformed encoding.
 */
export function findRoute(match: Matcher, method: string, path: string): Match {
  const wanted = method === 'HEAD' ? 'GET' : method
  if (!path.includes('%')) {
    const found = match(wanted, path)
    if (found) return found
    throw unmatched(match, path)
  }
  const decoded = decode(path)
  const found = match(wanted, decoded)
  if (!found) throw unmatched(match, decoded)
  const [route, ...values] = found
  return [route, ...values.map((value) => value.replaceAll(slash, '/'))]
}

/** The value of `allow` for a path. @throws HttpError 404 where no method has a route, 400 for a malformed encoding. */
export function allowedMethods(match: Matcher, path: string): string {
  const allowed = methodsAt(match, path.includes('%') ? decode(path) : path)
  if (allowed.length === 0) throw refuse('not_found')
  return allowed.join(', ')
}

function methodsAt(match: Matcher, decoded: string): string[] {
  const isRouted = (method: string) => match(method === 'HEAD' ? 'GET' : method, decoded) !== undefined
  const routed = methods.filter(isRouted)
  return routed.length > 0 ? [...routed, 'OPTIONS'] : []
}

function unmatched(match: Matcher, decoded: string) {
  const allow = methodsAt(match, decoded).join(', ')
  if (allow === '') return refuse('not_found')
  return refuse('method_not_allowed', `this address answers ${allow}`, { headers: { allow } })
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll(/%2f/gi, slash))
  } catch {
    const reason = 'the path is not valid percent-encoded UTF-8'
    throw refuse('invalid_request', reason, { fields: [{ path: 'path', reason }] })
  }
}
