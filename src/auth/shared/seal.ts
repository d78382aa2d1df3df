/** Keys for one purpose each, derived from the environment's sealing key; and sealing at rest (AES-256-GCM). */
import { Secrets } from '@stack/backend'

const encoder = new TextEncoder()
const nonceBytes = 12

/** HKDF (RFC 5869): a key of one purpose says nothing about another's. */
async function derive(purpose: string): Promise<ArrayBuffer> {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(Secrets.get('SEALING_KEY')), 'HKDF', false, [
    'deriveBits',
  ])
  const parameters = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(32),
    info: encoder.encode(`stack ${purpose}`),
  }
  return crypto.subtle.deriveBits(parameters, secret, 256)
}

/** HMAC-SHA-256 under the key of that purpose: 32 bytes. */
export async function authenticate(
  purpose: 'refresh tokens' | 'password pepper',
  bytes: BufferSource,
): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', await derive(purpose), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
  ])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
}

function sealingKey(usage: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  return derive('sealing').then((raw) => crypto.subtle.importKey('raw', raw, 'AES-GCM', false, [usage]))
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
