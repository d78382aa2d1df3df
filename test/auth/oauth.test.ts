/** What decides in a sign-in with a provider before there is an account (contract 9.10), in Node against issuers on loopback. */
import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { readAnswer } from '../../src/auth/oauth/answer.ts'
import { Beginning } from '../../src/auth/oauth/beginning.ts'
import type { ProviderClient } from '../../src/auth/oauth/client.ts'
import { discover } from '../../src/auth/oauth/discovery.ts'
import {
  clientIdOf,
  discoveryUrl,
  githubEndpoints,
  partiesOf,
  requireProvider,
} from '../../src/auth/oauth/endpoints.ts'
import { LinkController } from '../../src/auth/oauth/link-routes.ts'
import { isListed } from '../../src/auth/oauth/redirects.ts'
import { Flows, ProviderClients } from '../../src/auth/oauth/rows.ts'
import { Sessions } from '../../src/auth/sessions/rows.ts'
import { SignIn } from '../../src/auth/sessions/sign-in.ts'
import { Tokens } from '../../src/auth/sessions/tokens.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { type User, Users } from '../../src/auth/users/rows.ts'
import { useAuthModule } from '../support/auth-module.ts'
import type { Dialect, MockPerson } from '../support/mock-issuer.ts'
import { challengeOf, mockIssuers, newVerifier, putClient, returnUri } from '../support/providers.ts'
import type { TestStack } from '../support/stack.ts'

const auth = useAuthModule()
const { request, codeOf, sql } = auth
const issuers = mockIssuers()
const { apple, github, microsoft } = issuers

const clients = new ProviderClients()
const flows = new Flows()
const settings = new SettingsRows()
const sessions = new Sessions()
const users = new Users(...([] as unknown as ConstructorParameters<typeof Users>))
const beginning = new Beginning(clients, flows, new Limits(), settings)
const links = new LinkController(beginning, sessions, users)

const browser = { ip: '192.0.2.7', country: null, user_agent: null, request_id: 'req_1' }
const fields = {
  google: { web_client_id: 'google-web' },
  apple: { services_id: 'com.example.web' },
  microsoft: { application_id: 'microsoft-app', directory: 'common' },
  github: { web_client_id: 'github-web' },
}
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = { format: 'pem' } as const
const appleKey = {
  team_id: 'TEAM123456',
  key_id: 'KEY1234567',
  private_key: privateKey.export({ ...pem, type: 'pkcs8' }),
}

beforeAll(async () => {
  Object.assign(auth.env, await issuers.bindings())
  apple.applePublicKey = publicKey.export({ ...pem, type: 'spki' }).toString()
  await sql(`update auth.providers set enabled = true where kind = 'oauth'`)
  const stack = auth as unknown as TestStack
  for (const { dialect } of issuers.all)
    await putClient(stack, dialect, { key: 'web', fields: { ...fields[dialect], return_uris: [returnUri] } })
  const native = { key: 'app', kind: 'native', platform: 'ios' } as const
  await putClient(stack, 'google', { ...native, fields: { ios_client_id: 'app', return_uris: [returnUri] } })
})
beforeEach(async () => {
  for (const issuer of issuers.all) issuer.reset()
  await sql('delete from auth.rate_limits')
})
afterAll(() => issuers.close())

const asked = (client_key = 'web', redirect_to = returnUri) => ({
  client_key,
  redirect_to,
  code_challenge: challengeOf(newVerifier()),
})

/** A sign-in in the browser. @returns the person whom the provider's answer proves. */
async function personOf(dialect: Dialect, person: Partial<MockPerson> = {}, edit?: (answer: URLSearchParams) => void) {
  const url = await request(() => beginning.begin(dialect, asked(), browser))
  const { answer } = issuers[dialect].signIn(url!, { sub: '1', email: 'a@example.com', ...person })
  edit?.(answer)
  return request(async () => {
    const state = answer.get('state')!
    const flow = (await flows.consume(dialect, state, inRequest))!
    const client = (await clients.find(dialect, 'web', inRequest)) as ProviderClient
    const secret = { kind: 'oauth_client_secret', client_secret: issuers[dialect].clientSecret }
    const credential = (dialect === 'apple' ? { kind: 'signing_key', ...appleKey } : secret) as never
    return readAnswer({ flow, state, client, credential, parameters: answer })
  })
}

describe('the answer of a provider', () => {
  it.each(['google', 'apple', 'microsoft', 'github'] as const)('of %s proves a person', async (dialect) => {
    expect(await personOf(dialect)).toMatchObject({ provider: dialect, subject: '1', email: 'a@example.com' })
  })

  it.each(['google', 'microsoft', 'github'] as const)(
    'of %s may name its own issuer, and no other (RFC 9207)',
    async (dialect) => {
      const { origin, issuer, tenant } = issuers[dialect]
      const named = dialect === 'microsoft' ? `${issuer}/${tenant}/v2.0` : issuer
      expect(await personOf(dialect, {}, (it) => it.set('iss', named))).toMatchObject({ subject: '1' })
      const other = named.replace(origin, 'https://evil.example'.padEnd(origin.length, 'e'))
      await expect(personOf(dialect, {}, (it) => it.set('iss', other))).rejects.toThrow('"iss"')
    },
  )

  it('of Apple has a name that the browser brings, where the ID token has none', async () => {
    const brought = (it: URLSearchParams) => it.set('user', '{"name":{"firstName":"Grace"}}')
    expect(await personOf('apple', {}, brought)).toMatchObject({ profile: { name: 'Grace' } })
    const signed = { claims: { name: 'Ada' } }
    expect(await personOf('apple', signed, brought)).toMatchObject({ profile: { name: 'Ada' } })
    expect(await personOf('apple', {}, (it) => it.set('user', '{'))).toMatchObject({ profile: {} })
  })

  it('of GitHub counts by its primary address, as far as that is verified, and by an id that is exact', async () => {
    expect(await personOf('github', { verified: false })).toMatchObject({
      email: 'a@example.com',
      email_verified: false,
    })
    expect(await personOf('github', { verified: true })).toMatchObject({ email: 'a@example.com', email_verified: true })
    for (const id of [0, -1, 1.5, 2 ** 53]) {
      github.tampering = { account: (account) => Object.assign(account, { id }) }
      await expect(personOf('github')).rejects.toThrow('did not answer as it is documented')
    }
  })
})

describe('the beginning of a sign-in', () => {
  const begin = (...given: Parameters<typeof asked>) =>
    codeOf(() => beginning.begin('google', asked(...given), browser))

  it('needs a listed address and a browser client', async () => {
    expect(await begin()).toBe('done')
    expect(await begin('web', 'https://evil.example')).toBe('invalid_redirect')
    expect(await begin('app')).toBe('client_not_found')
  })

  it('is counted by network, whatever becomes of it', async () => {
    const limit = { provider_sign_in_per_address: { attempts: 2, seconds: 3_600 } }
    await sql('update auth.settings set document = $1', [JSON.stringify({ rate_limits: limit })])
    const codes = [await begin('web', 'https://evil.example'), await begin('none'), await begin()]
    await sql(`update auth.settings set document = '{}'`)
    expect(codes).toEqual(['invalid_redirect', 'client_not_found', 'rate_limited'])
  })
})

describe('an identity that a user adds', () => {
  it('is for that user, who has signed in recently and has a confirmed address', async () => {
    await sql(`insert into auth.users (id, email, email_confirmed_at) values ('usr_1', 'u@example.com', now())`)
    const user = (await request(() => users.byId('usr_1'))) as User
    const signIns = new SignIn(
      new Audit(),
      { toUser: async () => {} } as never,
      sessions,
      new Tokens(new SigningKeys()),
      users,
    )
    const { access_token } = await request(() => signIns.begin(user, ['pwd'], browser))
    const claims = decodeJwt(access_token)
    const body = { ...asked(), code_challenge_method: 'S256' as const }
    const http = new Request('https://stack.example/auth/identities/google/start')
    const link = () => links.link('google', body, http, 'req_1')
    expect(await codeOf(link, claims)).toBe('done')
    expect(await sql('select from auth.oauth_flows where link_user_id is not null')).toHaveLength(1)
    expect(await sql(`select from auth.oauth_flows where link_user_id = 'usr_1'`)).toHaveLength(1)
    expect(await codeOf(link, { ...claims, auth_time: claims.iat! - 700 })).toBe('recent_sign_in_required')
    await sql(`update auth.users set email_confirmed_at = null where id = 'usr_1'`)
    expect(await codeOf(link, claims)).toBe('email_not_confirmed')
  })
})

describe('metadata', () => {
  const clientOf = (tenant_id: string) =>
    ({ kind: 'browser', platform: 'web', fields: { directory: 'tenant', tenant_id } }) as unknown as ProviderClient
  const discovered = (client: ProviderClient) => request(() => discover('microsoft', client))
  const fetches = (tenant: string) => microsoft.requests(`${tenant}/v2.0/.well-known/openid-configuration`)

  it('are kept for five minutes', async () => {
    const tenant = crypto.randomUUID()
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      await discovered(clientOf(tenant))
      vi.setSystemTime(Date.now() + 299_000)
      await discovered(clientOf(tenant))
      expect(fetches(tenant)).toBe(1)
      vi.setSystemTime(Date.now() + 2_000)
      await discovered(clientOf(tenant))
      expect(fetches(tenant)).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('of a hundred directories are kept at most', async () => {
    const tenant = crypto.randomUUID()
    for (const other of [tenant, ...Array.from({ length: 100 }, () => crypto.randomUUID()), tenant])
      await discovered(clientOf(other))
    expect(fetches(tenant)).toBe(2)
  })

  it('of another issuer are refused, also where its name is as long', async () => {
    const tenant = crypto.randomUUID()
    const evil = `https://${'e'.repeat(microsoft.origin.length - 8)}/${tenant}/v2.0`
    microsoft.tampering = { metadata: (it) => Object.assign(it, { issuer: evil }) }
    await expect(discovered(clientOf(tenant))).rejects.toThrow("another issuer's")
  })

  it('of a directory are read below its issuer, whatever its name', async () => {
    expect(await request(async () => discoveryUrl('microsoft', clientOf('../evil?x#')))).toBe(
      `${microsoft.issuer}/..%2Fevil%3Fx%23/v2.0/.well-known/openid-configuration`,
    )
  })
})

describe('a provider', () => {
  const clientOf = (platform: string, fields: object) =>
    ({ kind: 'native', platform, fields }) as unknown as ProviderClient

  it.each(['email', 'phone', 'facebook', '__proto__'])('%s signs nobody in with OAuth', (name) => {
    expect(() => requireProvider(name)).toThrow('there is no such provider')
  })

  it('knows a client by its own id: there is none without it', () => {
    expect(clientIdOf('google', clientOf('android', { server_client_id: 'server' }))).toBe('server')
    for (const server_client_id of ['', 7, undefined])
      expect(() => clientIdOf('google', clientOf('android', { server_client_id }))).toThrow('has no server_client_id')
  })

  it('issues ID tokens to the client, and on Android to the app beside its server', () => {
    expect(partiesOf('google', clientOf('ios', { ios_client_id: 'ios' }))).toEqual(['ios'])
    const android = { server_client_id: 'server', android_client_id: 'app' }
    expect(partiesOf('google', clientOf('android', android))).toEqual(['server', 'app'])
  })

  it('GitHub gets its tokens at its own API', async () => {
    expect(await request(async () => githubEndpoints().user)).toBe(`${github.origin}/api/v3/user`)
    const { OAUTH_GITHUB_ISSUER } = auth.env
    delete auth.env['OAUTH_GITHUB_ISSUER']
    expect(await request(async () => githubEndpoints().user)).toBe('https://api.github.com/user')
    auth.env['OAUTH_GITHUB_ISSUER'] = OAUTH_GITHUB_ISSUER
  })
})

describe('an address to return to', () => {
  it.each(['https://app.example/back', 'com.example.app:/back', 'https://app.example/back?a=1'])(
    '%s is one',
    (address) => {
      expect(isListed(address, [address])).toBe(true)
      expect(isListed(address, [`${address}/`, address.slice(0, -1)])).toBe(false)
    },
  )

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://app.example/1',
    'https://app.example/back#code',
    'https://app.example/a b',
    'https://app.example/\u0000',
    '/back',
    '',
  ])('%j is none, although it is listed', (address) => expect(isListed(address, [address])).toBe(false))
})
