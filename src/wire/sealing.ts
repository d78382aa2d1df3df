/**
 * The form of values that are sealed at rest (AES-256-GCM): a key id of 9 bytes, a nonce of 12 bytes and the ciphertext, in base64. Values
 * of version 0.1 have no key id. The id tells which of two sealing keys opens a value, and SQL finds by it what is sealed with another one.
 */

/** 9 bytes are 12 characters of base64, so that the text of a sealed value begins with that of its key id. */
const idBytes = 9
/** Bytes of a nonce of AES-GCM (NIST SP 800-38D section 5.2.1.1). */
const nonceBytes = 12

const encoder = new TextEncoder()

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

interface SealingKey {
  id: Uint8Array<ArrayBuffer>
  key: CryptoKey
}

/** Derived keys by secret. Promises are not kept: the Workers runtime may cancel the request that owns one. */
const derived = new Map<string, SealingKey>()

/** HKDF (RFC 5869) makes a key of AES-256 and its public id of the secret, which is text of any length. */
async function sealingKey(secret: string): Promise<SealingKey> {
  const known = derived.get(secret)
  if (known) return known
  const material = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
    'deriveBits',
  ])
  const parameters = (info: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(32),
    info: encoder.encode(info),
  })
  const algorithm = { name: 'AES-GCM', length: 256 }
  const key = await crypto.subtle.deriveKey(parameters('stack sealing'), material, algorithm, false, [
    'encrypt',
    'decrypt',
  ])
  const id = new Uint8Array(await crypto.subtle.deriveBits(parameters('stack sealing key id'), material, idBytes * 8))
  derived.set(secret, { id, key })
  return { id, key }
}

/** @returns the 12 characters with which every value begins that was sealed with this secret. They tell nothing about the secret. */
export async function sealingKeyId(secret: string): Promise<string> {
  return base64((await sealingKey(secret)).id)
}

/** @param place what the value belongs to: moved elsewhere, it does not open. */
export async function sealWith(secret: string, text: string, place: string): Promise<string> {
  const { id, key } = await sealingKey(secret)
  const iv = crypto.getRandomValues(new Uint8Array(nonceBytes))
  const parameters = { name: 'AES-GCM', iv, additionalData: encoder.encode(place) }
  const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters, key, encoder.encode(text)))
  return base64([...id, ...iv, ...sealed])
}

/**
 * @param secrets the sealing keys that there are, the present one first.
 * @throws DOMException when the value was sealed with another key, for another place, or was changed.
 */
export async function openWith(secrets: readonly string[], sealed: string, place: string): Promise<string> {
  const bytes = Uint8Array.from(atob(sealed), (character) => character.charCodeAt(0))
  const keys = await Promise.all(secrets.map(sealingKey))
  const named = keys.filter(({ id }) => id.every((byte, at) => bytes[at] === byte))
  const isNamed = named.length > 0
  const body = isNamed ? bytes.subarray(idBytes) : bytes
  let failure: unknown
  for (const { key } of isNamed ? named : keys) {
    const parameters = { name: 'AES-GCM', iv: body.slice(0, nonceBytes), additionalData: encoder.encode(place) }
    try {
      const plain = await crypto.subtle.decrypt(parameters, key, body.slice(nonceBytes))
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** In portions: a call takes only so many arguments. */
function base64(bytes: Iterable<number>): string {
  const all = [...bytes]
  let text = ''
  for (let at = 0; at < all.length; at += 8_192) text += String.fromCharCode(...all.slice(at, at + 8_192))
  return btoa(text)
}
