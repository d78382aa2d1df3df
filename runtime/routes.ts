/**
 * Finds the route of a request with the matcher that the build emits (build/emit/matcher.ts):
 * - Literal segments win over parameters, from the left. Case counts.
 * - One slash at the end does not count. An empty segment (`//`) matches nothing.
 * - Percent-encoding is decoded once, in literals as in parameters. `%2F` is part of a value, never a separator.
 * - `HEAD` is answered by `GET`. `OPTIONS`, and a method without a route, are answered with the methods of the path.
 */
import { httpError } from '../src/sdk/errors.ts'

/** Index of the route in the table, then the parameters' values in the order of the path. */
export type Match = readonly [route: number, ...values: string[]]

/** The emitted matcher. @param path decoded. */
export type Matcher = (method: string, path: string) => Match | undefined

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Stands for an encoded slash while a path is matched. Half of a surrogate pair can occur neither in a path nor in decoded UTF-8. */
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
    throw unmatchedError(match, path)
  }
  const decoded = decode(path)
  const found = match(wanted, decoded)
  if (!found) throw unmatchedError(match, decoded)
  const [route, ...values] = found
  return [route, ...values.map((value) => value.replaceAll(slash, '/'))]
}

/** @returns the value of `allow` for a path. @throws HttpError 404 where no method has a route, 400 for a malformed encoding. */
export function allowedMethods(match: Matcher, path: string): string {
  const allowed = methodsAt(match, path.includes('%') ? decode(path) : path)
  if (allowed.length === 0) throw httpError('not_found')
  return allowed.join(', ')
}

function methodsAt(match: Matcher, decoded: string): string[] {
  const isRouted = (method: string) => match(method === 'HEAD' ? 'GET' : method, decoded) !== undefined
  const routed = methods.filter(isRouted)
  return routed.length > 0 ? [...routed, 'OPTIONS'] : []
}

function unmatchedError(match: Matcher, decoded: string) {
  const allow = methodsAt(match, decoded).join(', ')
  if (allow === '') return httpError('not_found')
  return httpError('method_not_allowed', `this address answers ${allow}`, { headers: { allow } })
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll(/%2f/gi, slash))
  } catch {
    const reason = 'the path is not valid percent-encoded UTF-8'
    throw httpError('invalid_request', reason, { fields: [{ path: 'path', reason }] })
  }
}
