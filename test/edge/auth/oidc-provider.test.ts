/** The flow with an OpenID provider that other people wrote (oidc-provider): discovery, PKCE, its pages, its keys and its ID tokens. */
import { generateKeyPairSync } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newVerifier, putClient, putCredential, returnUri, startPath } from '../../support/providers.ts'
import { useStack } from '../../support/stack.ts'

const secret = 'the secret of the client at the provider'
let provider: ReturnType<Provider['callback']> | undefined
const server = http.createServer((request, response) => provider?.(request, response) ?? response.end())
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const shop = useStack('examples/orders', undefined, {
  auth: async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { OAUTH_GOOGLE_ISSUER: address() }
  },
})

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const client = {
    client_id: 'google-web',
    client_secret: secret,
    redirect_uris: [`${shop.url}/auth/oauth/google/callback`],
    token_endpoint_auth_method: 'client_secret_post',
  }
  provider = new Provider(address(), {
    clients: [client],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
    pkce: { required: () => true },
    cookies: { keys: ['only for tests'] },
    conformIdTokenClaims: false, // as Google has them: the address is in the ID token
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: id !== 'unverified', name: `The ${id}` }),
    }),
  }).callback()
  await shop.sql("update auth.providers set enabled = true where name = 'google'")
  await putClient(shop, 'google', { key: 'web', fields: { web_client_id: 'google-web', return_uris: [returnUri] } })
  await putCredential(shop, 'google', 'web', { kind: 'oauth_client_secret', client_secret: secret })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A browser with a jar of cookies, which fills in the pages of the provider until it is sent back to the stack. */
async function browse(start: string, login: string, isCancelled = false): Promise<string> {
  const jar = new Map<string, string>()
  let [url, form] = [start, undefined as URLSearchParams | undefined]
  for (let step = 0; step < 20; step++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: form } : {}),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      jar.set(name!, value!)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    form = undefined
    if (location) {
      url = new URL(location, url).href
      if (url.startsWith(shop.url)) return url
      continue
    }
    const [, action, prompt] = /action="([^"]+)".*name="prompt" value="(\w+)"/s.exec(page) ?? []
    if (!action) throw new Error(`no form on the page ${response.status}: ${page.slice(0, 500)}`)
    url = new URL(isCancelled ? `${action}/abort` : action, url).href
    if (!isCancelled) form = new URLSearchParams({ prompt: prompt!, login, password: 'any' })
  }
  throw new Error('the provider sends the browser round and round')
}

async function signIn(login: string, isCancelled = false) {
  const verifier = newVerifier()
  const started = await shop.call(startPath('google', verifier))
  const back = await browse(started.headers.get('location')!, login, isCancelled)
  const called = await shop.call(back.slice(shop.url.length))
  const parameters = new URL(called.headers.get('location')!).searchParams
  const json = { code: parameters.get('code') ?? '', code_verifier: verifier }
  return { back, called, parameters, exchanged: await shop.call('/auth/oauth/exchange', { json }) }
}

it('a person signs in, and is known the next time', async () => {
  const first = await signIn('ada')
  expect(first.exchanged.json.user).toMatchObject({ email: 'ada@example.com', email_verified: true })
  const again = await signIn('ada')
  expect(again.exchanged.json.user.id).toBe(first.exchanged.json.user.id)
  const { json } = await shop.call('/auth/identities', { token: again.exchanged.json.access_token })
  expect(json.data).toMatchObject([{ provider: 'google', id: 'ada', profile: { name: 'The ada' } }])
})

it('the provider names itself in its answer (RFC 9207), and another name is refused', async () => {
  const started = await shop.call(startPath('google', newVerifier()))
  const back = new URL(await browse(started.headers.get('location')!, 'grace'))
  expect(back.searchParams.get('iss')).toBe(address())
  back.searchParams.set('iss', 'https://accounts.google.com')
  const called = await shop.call(`${back.pathname}${back.search}`)
  expect(new URL(called.headers.get('location')!).searchParams.get('error')).toBe('provider_failed')
})

it('an address that the provider has not verified is not confirmed', async () => {
  expect((await signIn('unverified')).exchanged.json.user).toMatchObject({ email_verified: false })
})

it('a person who cancels', async () => {
  const { parameters, exchanged } = await signIn('ada', true)
  expect([parameters.get('error'), exchanged.json.error]).toEqual(['access_denied', 'invalid_code'])
})

it('the provider’s code is good once, and with the stack’s verifier alone', async () => {
  const { back } = await signIn('ada')
  const stolen = new URL(back).searchParams.get('code')!
  const started = await shop.call(startPath('google', newVerifier()))
  const { searchParams } = new URL(started.headers.get('location')!)
  const query = new URLSearchParams({ code: stolen, state: searchParams.get('state')!, iss: address() })
  const called = await shop.call(`/auth/oauth/google/callback?${query}`)
  expect(new URL(called.headers.get('location')!).searchParams.get('error')).toBe('provider_failed')
})
