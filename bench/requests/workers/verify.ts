/** One token, verified again and again: by the runtime, by jose, and the bare signature. */
import { importJWK, jwtVerify } from 'jose'
import { isSignedBy, readToken } from '../../../runtime/identity/verify.ts'
import type { AuthEnv } from './signed-in.ts'

interface Env extends AuthEnv {
  TOKEN: string
}

const algorithm = { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' }

/** Each returns a function that verifies the token once. */
const verifiers: Record<string, (env: Env) => Promise<() => Promise<boolean>>> = {
  async runtime(env) {
    const keys = [{ kid: undefined, key: await keyOf(env) }]
    return async () => {
      const candidate = readToken(env.TOKEN, {
        issuer: env.AUTH_ISSUER,
        audience: env.AUTH_AUDIENCE,
        now: Date.now() / 1000,
      })
      return typeof candidate !== 'string' && isSignedBy(keys, candidate)
    }
  },
  async jose(env) {
    const key = await importJWK(JSON.parse(env.SIGNING_KEY), 'ES256')
    const options = { algorithms: ['ES256'], issuer: env.AUTH_ISSUER, audience: env.AUTH_AUDIENCE }
    return async () => (await jwtVerify(env.TOKEN, key, options)).payload.sub !== undefined
  },
  async signature(env) {
    const key = await keyOf(env)
    const [head, body, seal] = env.TOKEN.split('.') as [string, string, string]
    const text = atob(seal.replaceAll('-', '+').replaceAll('_', '/'))
    const signature = Uint8Array.from(text, (character) => character.charCodeAt(0))
    const signed = new TextEncoder().encode(`${head}.${body}`)
    return () => crypto.subtle.verify(algorithm, key, signature, signed)
  },
}

function keyOf({ SIGNING_KEY }: Env): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', JSON.parse(SIGNING_KEY), algorithm, false, ['verify'])
}

export default {
  /** `/runtime?2000` */
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const create = verifiers[pathname.slice(1)]
    if (!create) return Response.json({ ok: true })
    const verify = await create(env)
    for (let left = Number(search.slice(1)); left > 0; left--) {
      if (!(await verify())) throw new Error('the token is genuine')
    }
    return Response.json({ ok: true })
  },
}
