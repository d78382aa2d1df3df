/** HMAC keys, imported once for each secret: the secret itself is read from the environment at every request. */

type Hash = 'SHA-256' | 'SHA-1'

/** Finished keys, not promises of them: a request that is cut off must not leave the next one waiting. */
const keys = new Map<string, CryptoKey>()

/** @param secret its text is the key, as UTF-8; not empty. */
export async function hmacKey(hash: Hash, secret: string): Promise<CryptoKey> {
  const name = `${hash}:${secret}`
  const known = keys.get(name)
  if (known) return known
  const raw = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash }, false, ['sign', 'verify'])
  keys.set(name, key)
  return key
}
