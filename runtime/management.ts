/** Checks requests that administer the stack (contract 4.6, 9.7). Only a worker with such routes contains this module. */
import { httpError } from '../src/sdk/errors.ts'
import type { Call } from './call.ts'
import { serviceRoleRequired } from './gates.ts'
import { type Perform, renewFrom } from './rotated-keys.ts'
import type { KeyMethods, Parameter } from './table.ts'

/** From now on, the worker asks itself for the newest key of the claims. */
export const followKeys = renewFrom

/**
 * @param keys the method that tells whether a text is a service-role key. @param perform runs it.
 * @returns whether the header `apikey` carries one. @throws HttpError 401 for a request with DPoP, also beside the right key.
 */
export async function hasServiceRoleKey(call: Call, { accepts }: KeyMethods, perform: Perform): Promise<boolean> {
  const { headers } = call.request
  if (headers.has('dpop') || /^dpop\b/i.test(headers.get('authorization') ?? '')) throw serviceRoleRequired()
  const given = headers.get('apikey')
  return given !== null && given !== '' && (await perform(call, accepts, [given])) === true
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
