/** Google's list of attestation keys that are revoked or suspended (https://developer.android.com/privacy-and-security/security-key-attestation). */
import { isLoopback } from '../../wire/loopback.ts'

const address = 'https://android.googleapis.com/attestation/status'
/** Milliseconds that the fetch may take, body included: a person waits for the enrolment. */
const fetchMs = 5_000
/** Largest list in bytes. In 2026 it has about 300,000. */
const mostBytes = 4 * 1024 * 1024
/** Entries of the largest list, because each becomes a row. */
const mostEntries = 50_000

/** Serial numbers in lower-case hexadecimal digits without leading zeros. Most of them look like decimal numbers. */
const serial = /^[0-9a-f]{1,64}$/

export interface StatusList {
  serials: string[]
  etag: string | null
}

/**
 * @param base the binding `ANDROID_STATUS_URL`, which stands for Google's address. @param etag of the list that is known.
 * @returns `unchanged` where the list is the known one. @throws Error for an answer that is no list.
 */
export async function fetchStatusList(
  base: string | undefined,
  etag: string | null,
): Promise<StatusList | 'unchanged'> {
  const url = new URL(base ?? address)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new Error('ANDROID_STATUS_URL must be https')
  }
  const signal = AbortSignal.timeout(fetchMs)
  const headers: Record<string, string> = etag === null ? {} : { 'if-none-match': etag }
  const response = await fetch(url, { headers, redirect: 'manual', signal })
  if (response.status === 304 && etag !== null) return 'unchanged'
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the list of revoked attestation keys answered ${response.status}`)
  }
  const tag = response.headers.get('etag')
  return { serials: readList(await readText(response)), etag: tag !== null && tag.length <= 300 ? tag : null }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > mostBytes) throw new Error(`the list of revoked attestation keys is larger than ${mostBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** @returns the serial numbers of all entries: REVOKED and SUSPENDED are the only states, and a new one would be no better. */
function readList(text: string): string[] {
  const list = JSON.parse(text) as { entries?: unknown } | null
  const entries = list?.entries
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) {
    throw new Error('the list of revoked attestation keys has no object "entries"')
  }
  const names = Object.keys(entries)
  if (names.length > mostEntries)
    throw new Error(`the list of revoked attestation keys has more than ${mostEntries} entries`)
  const serials = names.map((name) => name.toLowerCase().replace(/^0+(?=.)/, ''))
  const odd = serials.find((one) => !serial.test(one))
  if (odd !== undefined)
    throw new Error(`the list of revoked attestation keys has the serial number "${odd.slice(0, 80)}"`)
  return [...new Set(serials)]
}
