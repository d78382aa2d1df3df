/** What decides in a sign-in with a provider before there is an account (contract 9.10), in Node against issuers on loopback. */
import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { Identities, type Person } from '../../src/auth/identities/rows.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { SignUps } from '../../src/auth/limits/sign-ups.ts'
import { Challenges, Factors } from '../../src/auth/mfa/rows.ts'
import { SecondStep } from '../../src/auth/mfa/second-step.ts'
import { readAnswer } from '../../src/auth/oauth/answer.ts'
import { Arrivals } from '../../src/auth/oauth/arrivals.ts'
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
import { verifyNative } from '../../src/auth/oauth/id-token.ts'
import { LinkController } from '../../src/auth/oauth/link-routes.ts'
import { isListed } from '../../src/auth/oauth/redirects.ts'
import { OAuthController } from '../../src/auth/oauth/routes.ts'
import { Flows, ProviderClients, UsedIdTokens } from '../../src/auth/oauth/rows.ts'
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
const { apple, github, google, microsoft } = issuers

const clients = new ProviderClients()
const flows = new Flows()
const settings = new SettingsRows()
const sessions = new Sessions()
const users = new Users(...([] as unknown as ConstructorParameters<typeof Users>))
const limits = new Limits()
const audit = new Audit()
const notices = { toUser: async () => {} } as never
const identities = new Identities()
const beginning = new Beginning(clients, flows, limits, settings)
const links = new LinkController(beginning, sessions, users)
const signIns = new SignIn(audit, notices, sessions, new Tokens(new SigningKeys()), users)
const secondStep = new SecondStep(new Challenges(), new Factors(), sessions, signIns)
const signUps = new SignUps(limits, settings)
/** Takes the place of a class that no test of this file reaches. */
const unused = undefined as never
const arrivals = new Arrivals(audit, unused, identities, notices, secondStep, sessions, signUps, users)
const signingIn = new OAuthController(
  arrivals,
  beginning,
  clients,
  unused,
  unused,
  flows,
  limits,
  unused,
  sessions,
  settings,
  new UsedIdTokens(),
)

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
  await sql(`update auth.settings set document = '{}'`)
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

describe('what a provider answers', () => {
  const filled = (length: number) => {
    google.tampering = { tokenBody: (body) => Object.assign(body, { filler: 'x'.repeat(length) }) }
    return personOf('google')
  }

  it('is read as far as 512 KiB', async () => {
    expect(await filled(500_000)).toMatchObject({ subject: '1' })
    await expect(filled(600_000)).rejects.toThrow('is larger than 524288 bytes')
  })

  it('is not looked for elsewhere: a redirect is not followed', async () => {
    const elsewhere = { location: `${google.origin}/elsewhere` }
    google.tampering = { answer: { token: (response) => response.writeHead(307, elsewhere).end() } }
    await expect(personOf('google')).rejects.toThrow('answered with 307')
    expect(google.requests('/elsewhere')).toBe(0)
  })

  it('confirms an address, and none where there is none', async () => {
    const said = (email: string) => personOf('google', { claims: { email, email_verified: true } })
    expect(await said('b@example.com')).toMatchObject({ email: 'b@example.com', email_verified: true })
    expect(await said('no address')).toMatchObject({ email: null, email_verified: false })
  })
})

describe('a key of Microsoft', () => {
  const nonce = 'a nonce of the application'
  /** Checks an ID token of a new directory. @param signerOf the directory whose key signs it. @returns its claims. */
  const claimsOf = (signerOf: (tenant: string) => string) => {
    const tenant = crypto.randomUUID()
    const issuerOf = (directory: string) => `${microsoft.issuer}/${directory}/v2.0`
    microsoft.tampering = {
      keys: (keys) => Object.assign(keys[0]!, { issuer: issuerOf(signerOf(tenant)) }),
    }
    const fields = { application_id: 'app', directory: 'tenant', tenant_id: tenant }
    const client = { kind: 'native', platform: 'ios', fields } as unknown as ProviderClient
    const id_token = microsoft.idToken('app', nonce, { sub: '1' }, { tid: tenant, iss: issuerOf(tenant) })
    return request(async () =>
      verifyNative('microsoft', client, await discover('microsoft', client), { id_token, nonce }),
    )
  }

  it('signs for its own directory, and one of the template for each', async () => {
    expect(await claimsOf((tenant) => tenant)).toMatchObject({ sub: '1' })
    expect(await claimsOf(() => '{tenantid}')).toMatchObject({ sub: '1' })
  })

  it('signs for no other directory', async () => {
    await expect(claimsOf(() => crypto.randomUUID())).rejects.toThrow('with the key of another directory')
  })
})

/** Sets how many sign-ins with providers one network has in an hour. */
const configureLimit = (attempts: number) => {
  const rate_limits = { provider_sign_in_per_address: { attempts, seconds: 3_600 } }
  return sql('update auth.settings set document = $1', [JSON.stringify({ rate_limits })])
}

describe('the beginning of a sign-in', () => {
  const begin = (...given: Parameters<typeof asked>) =>
    codeOf(() => beginning.begin('google', asked(...given), browser))

  it('needs a listed address and a browser client', async () => {
    expect(await begin()).toBe('done')
    expect(await begin('web', 'https://evil.example')).toBe('invalid_redirect')
    expect(await begin('app')).toBe('client_not_found')
  })

  it('is counted by network, whatever becomes of it', async () => {
    await configureLimit(2)
    const codes = [await begin('web', 'https://evil.example'), await begin('none'), await begin()]
    expect(codes).toEqual(['invalid_redirect', 'client_not_found', 'rate_limited'])
  })
})

describe('an ID token of a native application', () => {
  const nonce = 'a nonce of the application'
  const http = new Request('https://stack.example/auth', { headers: { 'cf-connecting-ip': browser.ip } })
  const signIn = (sub: string, client_key = 'app') => {
    const id_token = google.idToken('app', nonce, { sub, email: `${sub}@example.com` })
    return codeOf(() => signingIn.native('google', { client_key, id_token, nonce }, http, 'req_1'))
  }

  it('signs in', async () => expect(await signIn('native-1')).toBe('done'))

  it('is counted by network, whatever becomes of it', async () => {
    await configureLimit(2)
    expect([await signIn('native-2', 'none'), await signIn('native-2'), await signIn('native-2')]).toEqual([
      'client_not_found',
      'done',
      'rate_limited',
    ])
  })
})

describe('the account of a known person', () => {
  const origin = { provider: 'google', client_key: 'web', platform: 'web', application_key: 'shop' } as const
  let count = 0
  /** @returns an account whose address is not confirmed, with the identity of its person. */
  async function known(): Promise<{ id: string; person: Person }> {
    const id = `usr_known_${count++}`
    const email = `${id}@example.com`
    await sql('insert into auth.users (id, email) values ($1, $2)', [id, email])
    const person = { provider: 'google', subject: id, email, email_verified: false, profile: {} }
    await request(() => identities.add(id, person, 'web'))
    return { id, person }
  }
  const arrive = (person: Person) =>
    codeOf(() => arrivals.settle({ person, origin, client: browser, guestId: undefined }, 'known', {}))
  const isConfirmed = async (id: string) => (await request(() => users.byId(id)))!.email_confirmed_at !== null

  it('has its address confirmed by a provider that has verified it', async () => {
    const { id, person } = await known()
    expect([await arrive(person), await isConfirmed(id)]).toEqual(['done', false])
    expect([await arrive({ ...person, email_verified: true }), await isConfirmed(id)]).toEqual(['done', true])
  })

  it('is closed from the moment in which it is disabled, also during a sign-in', async () => {
    const { id, person } = await known()
    expect(await arrive(person)).toBe('done')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await arrive(person)).toBe('user_disabled')
    // nor is a second factor asked for
    const factor = `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret, verified_at)
      values ('fac_known', $1, 'totp', 'verified', 'x', now())`
    await sql(factor, [id])
    expect(await arrive(person)).toBe('user_disabled')
  })
})

describe('an identity that a user adds', () => {
  it('is for that user, who has signed in recently and has a confirmed address', async () => {
    await sql(`insert into auth.users (id, email, email_confirmed_at) values ('usr_1', 'u@example.com', now())`)
    const user = (await request(() => users.byId('usr_1'))) as User
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

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'])('have TLS or loopback as %s', async (name) => {
    const named = (endpoint: string) => {
      microsoft.tampering = { metadata: (it) => Object.assign(it, { [name]: endpoint }) }
      return discovered(clientOf(crypto.randomUUID()))
    }
    expect(await named('https://provider.example/')).toMatchObject({
      metadata: { [name]: 'https://provider.example/' },
    })
    expect(await named('http://127.0.0.1:9/')).toMatchObject({ metadata: { [name]: 'http://127.0.0.1:9/' } })
    for (const endpoint of ['http://provider.example/', 'http://127.0.0.1.provider.example/', '/token'])
      await expect(named(endpoint)).rejects.toThrow('neither https nor on loopback')
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
