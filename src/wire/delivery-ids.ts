/** How `webhooks.seen` names a delivery (contract 7.7). */

/**
 * The id where the scheme has one, else a hash of the bytes that were signed. The signature itself never is an id, because
 * one signature has several spellings.
 */
export async function deliveryIdOf(id: string | undefined, signed: () => Uint8Array<ArrayBuffer>): Promise<string> {
  if (id === undefined) return `sha256:${await sha256(signed())}`
  return /^[!-~]{1,200}$/.test(id)
    ? `id:${id}`
    : `id-sha256:${await sha256(new Uint8Array(new TextEncoder().encode(id)))}`
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
