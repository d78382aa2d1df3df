/** The id of a delivery in `webhooks.seen` (contract 7.7). */

/**
 * Uses the provider's id, or else a hash of the signed bytes. The signature itself cannot be the id, because one signature
 * has several spellings.
 *
 * @param id the provider's id, or `undefined` where the scheme has none.
 * @param event the event key where it stands in a header: two events with the same body are two deliveries.
 */
export async function deliveryIdOf(
  id: string | undefined,
  signed: () => Uint8Array<ArrayBuffer>,
  event: string | undefined,
): Promise<string> {
  if (id === undefined) {
    const hash = await sha256(signed())
    return event === undefined ? `sha256:${hash}` : `sha256:${await sha256(utf8(`${event}\n${hash}`))}`
  }
  return /^[!-~]{1,200}$/.test(id) ? `id:${id}` : `id-sha256:${await sha256(utf8(id))}`
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text))
}
