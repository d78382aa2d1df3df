/** The issuer of the tokens, and the settings by which the workers verify them. */
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'

export interface Issuer {
  /** Bindings of every worker. */
  bindings: { AUTH_ISSUER: string; AUTH_AUDIENCE: string }
  /** The public key, in the three forms that the workers take. */
  keySet: string
  jwk: string
  pem: string
  /** Signs a token of about 500 bytes, as the auth worker's are, valid for 15 minutes. @param kid an unknown key id. */
  token(claims?: Record<string, unknown>, kid?: string): Promise<string>
}

/** The user of the tokens. */
export const userId = 'usr_01KF3Q8Z4M6T0X2C5V7B9N1S3D'

const ownKid = '01KF3Q8Z4N8P2R6S0T4V8W1X3Y'
const sessionId = 'ses_01KF3Q8Z4P0G5H7J9K1M3N5P7Q'

export async function createIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: ownKid, alg: 'ES256', use: 'sig' }
  const bindings = { AUTH_ISSUER: 'https://shop.example.com/auth', AUTH_AUDIENCE: 'k3v9x2qam' }
  return {
    bindings,
    keySet: JSON.stringify({ keys: [jwk] }),
    jwk: JSON.stringify(jwk),
    pem: await exportSPKI(publicKey as CryptoKey),
    token(claims = {}, kid = ownKid) {
      const now = Math.floor(Date.now() / 1000)
      const payload = {
        sub: userId,
        iss: bindings.AUTH_ISSUER,
        aud: bindings.AUTH_AUDIENCE,
        exp: now + 900,
        iat: now,
        jti: '01KF3Q8Z4Q2R4S6T8V0W2X4Y6Z',
        auth_time: now,
        session_id: sessionId,
        email: 'someone@example.com',
        email_verified: true,
        role: 'authenticated',
        ...claims,
      }
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' }).sign(privateKey)
    },
  }
}
