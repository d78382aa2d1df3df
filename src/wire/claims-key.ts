/** The form in which the database has a key of the claims (contract 5.3): the two padded halves of an HMAC key (RFC 2104). */

/** Bytes of a block of SHA-256. */
const blockBytes = 64

/** @param key the text whose UTF-8 bytes are the key. A key longer than the block is hashed, a shorter one is filled with zeros. */
export async function hmacPads(key: string): Promise<{ inner: Uint8Array; outer: Uint8Array }> {
  const bytes = new TextEncoder().encode(key)
  const fitting = bytes.length > blockBytes ? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)) : bytes
  const block = new Uint8Array(blockBytes)
  block.set(fitting)
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) }
}
