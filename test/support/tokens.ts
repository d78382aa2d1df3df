/** Keys and tokens as an issuer makes them, and tokens that no issuer should make. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export interface Issuer {
  kid: string
  jwk: JWK
  privateKey: CryptoKey
  /** @returns a token that passes every check. `claims` and `header` replace members, and `undefined` removes one. */
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
}

/** Unix time in seconds at which every token of these tests is issued. */
export const issuedAt = 1_800_000_000

export async function createIssuer(kid = 'key-1'): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  return {
    kid,
    privateKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
    token(claims = {}, header = {}) {
      const payload = { sub: 'usr_1', iat: issuedAt, exp: issuedAt + 900, ...claims }
      const protectedHeader = { alg: 'ES256', kid, ...header }
      return new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader(JSON.parse(JSON.stringify(protectedHeader)))
        .sign(privateKey)
    },
  }
}

/** @returns a compact token of parts that no library would make. */
export function compact(header: unknown, payload: unknown, signature = 'A'.repeat(86)): string {
  const part = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(payload)}.${signature}`
}
