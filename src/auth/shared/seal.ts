/** Sealing at rest (AES-256-GCM) under the environment's sealing key, and authentication under keys that are bindings. */
import { Secrets } from '@stack/backend'

const encoder = new TextEncoder()
/** Bytes of a nonce of AES-GCM (NIST SP 800-38D section 5.2.1.1). */
const nonceBytes = 12

/**
 * HMAC-SHA-256 under one of the two keys that are bindings and nowhere else (contract 9.15): a dump of the database, even with the
 * sealing key, neither mints a refresh token nor tells which password a hash is of.
 *
 * @returns 32 bytes. @throws Error when the binding is not set, or is no key of 32 bytes in base64url.
 */
export async function authenticate(
  binding: 'REFRESH_KEY' | 'PASSWORD_PEPPER',
  bytes: BufferSource,
): Promise<Uint8Array> {
  const text = Secrets.get(binding)
  if (!/^[A-Za-z0-9_-]{43}$/.test(text)) throw new Error(`the binding ${binding} must be 32 bytes in base64url`)
  const raw = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
}

/** HKDF (RFC 5869) makes a key of AES-256 of the sealing key, which is text of any length. */
async function sealingKey(usage: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(Secrets.get('SEALING_KEY')), 'HKDF', false, [
    'deriveKey',
  ])
  const salt = new Uint8Array(32)
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode('stack sealing') }
  return crypto.subtle.deriveKey(parameters, secret, { name: 'AES-GCM', length: 256 }, false, [usage])
}

/** @param place what the value belongs to: moved elsewhere, it does not open. @returns nonce and ciphertext, base64. */
export async function seal(text: string, place: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(nonceBytes))
  const parameters = { name: 'AES-GCM', iv, additionalData: encoder.encode(place) }
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt(parameters, await sealingKey('encrypt'), encoder.encode(text)),
  )
  return base64([...iv, ...sealed])
}

/** In portions: a call takes only so many arguments. */
function base64(bytes: number[]): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.slice(at, at + 8_192))
  return btoa(text)
}

/** @throws when the value was sealed under another key, for another place, or was changed. */
export async function open(sealed: string, place: string): Promise<string> {
  const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0))
  const parameters = { name: 'AES-GCM', iv: bytes.slice(0, nonceBytes), additionalData: encoder.encode(place) }
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    await crypto.subtle.decrypt(parameters, await sealingKey('decrypt'), bytes.slice(nonceBytes)),
  )
}
