/** Where an application is sent back to: to an address that is listed, character by character, and nowhere else. */

import type { HttpError } from '@stack/backend'
import type { Settings } from '../../wire/settings.ts'
import { authError } from '../shared/errors.ts'
import type { ProviderClient } from './client.ts'

/** Schemes that a browser runs or reads from the disk. A list with one of them is a mistake. */
const dangerous = /^(?:javascript|data|file|blob|vbscript|about|view-source):/i

/** There is no comparison of prefixes, hosts or normal forms: each of them has been an open redirect somewhere. */
export function isListed(address: string, listed: readonly unknown[]): boolean {
  const isPlain = /^[\x21-\x7e]+$/.test(address) && !address.includes('#') && URL.canParse(address)
  return isPlain && listed.includes(address) && !dangerous.test(address)
}

/** @returns the error to answer, unless the address equals one of the client's `return_uris` or of the setting `redirect_allow_list`. */
export function redirectFault(address: string, { fields }: ProviderClient, settings: Settings): HttpError | undefined {
  const uris = fields['return_uris']
  const listed = [...(Array.isArray(uris) ? (uris as unknown[]) : []), ...(settings.redirect_allow_list ?? [])]
  if (isListed(address, listed)) return undefined
  return authError(
    'invalid_redirect',
    'redirect_to must equal one of the return_uris of the client, or an entry of the setting redirect_allow_list',
  )
}

/** What stands in the address is no token: the code is worth nothing without the verifier. */
export function returnAddress(address: string, parameters: Record<string, string>): string {
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`
}

/** Sends the browser back. */
export function redirectBack(address: string, parameters: Record<string, string>): Response {
  return redirect(returnAddress(address, parameters), 303)
}

export function redirect(location: string, status: 302 | 303): Response {
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return new Response(null, { status, headers })
}
