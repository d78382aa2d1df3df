/** Sealing at rest (AES-256-GCM) under the environment's sealing key, and authentication under keys that are bindings. */
import { Secrets } from '@stack/backend'
import { openWith, sealWith } from '../../wire/sealing.ts'
import { optionalBinding } from './bindings.ts'

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

/** @returns the sealing keys that are bound, the present one first. Both open values, and the present one alone seals them. */
export function sealingKeys(): string[] {
  const present = Secrets.get('SEALING_KEY')
  const previous = optionalBinding('SEALING_KEY_PREVIOUS')
  return previous === undefined || previous === present ? [present] : [present, previous]
}

/** @param place what the value belongs to: moved elsewhere, it does not open. */
export function seal(text: string, place: string): Promise<string> {
  return sealWith(Secrets.get('SEALING_KEY'), text, place)
}

/** @throws DOMException when the value was sealed with a key that is not bound, for another place, or was changed. */
export function open(sealed: string, place: string): Promise<string> {
  return openWith(sealingKeys(), sealed, place)
}
