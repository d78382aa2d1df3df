/** HMAC-SHA-256 keys, imported once for each secret. The secret itself is read from the environment at every request. */

/** Imported keys by secret. Promises are not kept: the Workers runtime may cancel the request that owns one. */
const keys = new Map<string, CryptoKey>()

/** @param secret a text that is not empty. Its UTF-8 bytes are the key. */
export async function hmacKey(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret)
  if (known) return known
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  keys.set(secret, key)
  return key
}
