/** Identifies the caller as a hand-written Worker would: with jose and a key that is imported once. */
import { importJWK, type JWTPayload, jwtVerify } from 'jose'

export interface AuthEnv {
  SIGNING_KEY: string
  AUTH_ISSUER: string
  AUTH_AUDIENCE: string
}

let key: Awaited<ReturnType<typeof importJWK>> | undefined

/** @returns `undefined` for a caller without a valid token. */
export async function claimsOf(authorization: string | undefined, env: AuthEnv): Promise<JWTPayload | undefined> {
  if (!authorization?.startsWith('Bearer ')) return undefined
  key ??= await importJWK(JSON.parse(env.SIGNING_KEY), 'ES256')
  try {
    const { payload } = await jwtVerify(authorization.slice('Bearer '.length), key, {
      algorithms: ['ES256'],
      issuer: env.AUTH_ISSUER,
      audience: env.AUTH_AUDIENCE,
    })
    return payload
  } catch {
    return undefined
  }
}

/** The same headers as the build's worker sends, so that the answers have the same size. */
export function answerHeaders(): Record<string, string> {
  return {
    'x-request-id': `req_${crypto.randomUUID()}`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    vary: 'authorization',
  }
}
