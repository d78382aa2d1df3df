/** HMAC-SHA-256 keys, imported once for each secret: the secret itself is read from the environment at every request. */

/** Finished keys, not promises of them: a request that is cut off must not leave the next one waiting. */
const keys = new Map<string, CryptoKey>()

/** @param secret its text is the key, as UTF-8; not empty. */
export async function hmacKey(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret)
  if (known) return known
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  keys.set(secret, key)
  return key
}
