/** Random texts, their digests, and PKCE. */
import { base64url, randomText } from '../shared/base64url.ts'

/** Bytes of a `state`, a nonce, a PKCE verifier and a hand-off code: 256 bits cannot be guessed. */
const tokenBytes = 32

/** @returns 43 characters of base64url. */
export function randomToken(): string {
  return randomText(tokenBytes)
}

/** SHA-256 in base64url: the S256 challenge of a PKCE verifier (RFC 7636 section 4.2), and the form in which tables keep a token. */
export async function digestOf(text: string): Promise<string> {
  return base64url(await sha256(text))
}

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
