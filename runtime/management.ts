/** Checks requests that administer the stack (contract 4.6, 9.7). Only a worker with such routes contains this module. */
import { httpError } from '../src/sdk/errors.ts'
import type { Call } from './call.ts'
import { textBinding } from './env.ts'
import { serviceRoleRequired } from './gates.ts'
import type { Parameter } from './table.ts'

/**
 * @returns whether the header `apikey` carries the service-role key.
 * @throws HttpError 401 for a request with DPoP, also beside the right key. Error when the binding SERVICE_ROLE_KEY is not set.
 */
export async function hasServiceRoleKey({ request, env }: Call): Promise<boolean> {
  const { headers } = request
  if (headers.has('dpop') || /^dpop\b/i.test(headers.get('authorization') ?? '')) throw serviceRoleRequired()
  const given = headers.get('apikey')
  if (given === null || given === '') return false
  const key = textBinding(env, 'SERVICE_ROLE_KEY')
  if (key === undefined) throw new Error('the binding SERVICE_ROLE_KEY is not set')
  return isSame(given, key)
}

/** Compares digests in constant time. Digests have equal lengths, so the time does not reveal the key's length either. */
async function isSame(one: string, other: string): Promise<boolean> {
  const encoder = new TextEncoder()
  const [a, b] = await Promise.all([one, other].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))))
  return crypto.subtle.timingSafeEqual(a!, b!)
}

/**
 * Refuses query parameters that the handler does not declare: with a misspelt filter a route would return everything.
 * @throws HttpError 400 `unknown_parameter`
 */
export function requireKnownParameters({ search }: Call, parameters: readonly Parameter[]): void {
  if (search === '' || parameters.some(({ from }) => from === 'wholeQuery')) return
  const known = new Set(parameters.flatMap((one) => (one.from === 'query' ? [one.name] : [])))
  const unknown = [...new URLSearchParams(search).keys()].find((name) => !known.has(name))
  if (unknown === undefined) return
  const others = known.size === 0 ? 'this route takes none' : `this route takes ${[...known].join(', ')}`
  throw httpError('unknown_parameter', `there is no query parameter ${JSON.stringify(unknown)}: ${others}`)
}
