/** Private keys that sign assertions for a provider (RFC 7523): P-256, PKCS#8, PEM. */
import { authError } from '../shared/errors.ts'

const pem = /^-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----$/

/**
 * Imports the key, so that no key is stored that cannot sign.
 *
 * @returns the key in the one form that a key has: lines of 64 characters.
 * @throws HttpError 400 `invalid_private_key`. Its reason never quotes the key.
 */
export async function requirePrivateKey(text: string): Promise<string> {
  const body = pem.exec(text.trim())?.[1]?.replace(/\s/g, '')
  if (body === undefined) throw refused(formFault(text))
  try {
    const der = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
    await crypto.subtle.importKey('pkcs8', der, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
  } catch {
    throw refused('the private key is no key of the curve P-256 in PKCS#8')
  }
  return `-----BEGIN PRIVATE KEY-----\n${body.match(/.{1,64}/g)!.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function formFault(text: string): string {
  if (text.includes('BEGIN EC PRIVATE KEY')) {
    return 'the private key is in SEC1 form: convert it with "openssl pkcs8 -topk8 -nocrypt"'
  }
  if (text.includes('BEGIN ENCRYPTED PRIVATE KEY')) return 'the private key is encrypted: give it without a passphrase'
  return 'the private key must be PEM that begins with "-----BEGIN PRIVATE KEY-----"'
}

function refused(reason: string) {
  return authError('invalid_private_key', reason, { fields: [{ path: 'private_key', reason }] })
}
