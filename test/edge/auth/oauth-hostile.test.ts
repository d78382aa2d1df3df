/** What providers, browsers and strangers may send into a sign-in: refused, without a session, a user or a status of 5xx. */
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type MockIssuer, signJwt, type Tampering } from '../../support/mock-issuer.ts'
import {
  arrive,
  callback,
  challengeOf,
  enable,
  mockIssuers,
  newVerifier,
  putClient,
  returnUri,
  signInWith,
  startPath,
} from '../../support/providers.ts'
import { type Answer, useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
const { google, apple, microsoft, github } = issuers
const consumers = '9188040d-6c67-4c5b-b112-36a304b66dad'

let count = 0
const newPerson = (more: object = {}) => {
  count++
  return { sub: String(50_000 + count), email: `h${count}@example.com`, verified: true, ...more }
}
const exchange = (code: string, code_verifier: string) =>
  shop.call('/auth/oauth/exchange', { json: { code, code_verifier } })
const countOf = async (table: string) =>
  (await shop.sql<{ n: number }>(`select count(*)::int as n from auth.${table}`))[0]!.n

beforeAll(async () => {
  for (const issuer of issuers.all) await enable(shop, issuer)
  await shop.sql(
    `update auth.settings set document = document || '{"redirect_allow_list": ["com.example.app://signed-in"]}'`,
  )
})
beforeEach(() => {
  for (const issuer of issuers.all) issuer.reset()
})
afterAll(() => issuers.close())

/** A sign-in whose answer was changed: the application gets an error, and nothing else has happened. */
async function expectRefused(
  issuer: MockIssuer,
  options: Parameters<typeof arrive>[2] = {},
  error = 'provider_failed',
) {
  const before = [await countOf('users'), await countOf('sessions'), await countOf('handoff_codes')]
  const { called, back } = await arrive(shop, issuer, { person: newPerson(), ...options })
  expect([called.status, back?.get('error'), back?.get('code')]).toEqual([303, error, null])
  expect([await countOf('users'), await countOf('sessions'), await countOf('handoff_codes')]).toEqual(before)
}

type Claims = Record<string, unknown>
const claim = (name: string, value: unknown): Tampering => ({
  idToken: ({ claims }) => {
    if (value === undefined) delete claims[name]
    else claims[name] = value
  },
})
const header = (edit: (header: Claims) => void): Tampering => ({ idToken: ({ header }) => edit(header) })
const seconds = (ahead: number) => Math.floor(Date.now() / 1000) + ahead
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const resigned = (edit: (parts: { header: Claims; claims: Claims }) => void, secret = '') => ({
  signed: (jwt: string) => {
    const [header, claims] = jwt
      .split('.')
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString() || 'null'))
    edit({ header, claims })
    return signJwt({ header, claims }, stranger.privateKey, secret)
  },
})
const parts = (edit: (parts: string[]) => string[]): Tampering => ({ signed: (jwt) => edit(jwt.split('.')).join('.') })
const body = (edit: (body: Claims) => void): Tampering => ({ tokenBody: edit })
const endpoint = (name: string, status: number, type: string, text: string): Tampering => ({
  answer: {
    [name]: (response) =>
      response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/' }).end(text),
  },
})
const huge = 'x'.repeat(600_000)

/** The browser cannot be sent to any application, so a person sees a page. */
const expectLost = ({ status, headers, text }: Answer) => {
  const [type, location] = [headers.get('content-type'), headers.get('location')]
  expect([status, type, location]).toEqual([400, 'text/html; charset=utf-8', null])
  expect(text).toContain('<h1>The sign-in did not work</h1>')
}

describe('an ID token that was changed', () => {
  const cases: [string, () => Tampering][] = [
    ['no nonce', () => claim('nonce', undefined)],
    ['another nonce', () => claim('nonce', 'n'.repeat(43))],
    ['an empty nonce', () => claim('nonce', '')],
    ['a list as nonce', () => claim('nonce', ['x'])],
    ['another issuer', () => claim('iss', 'https://accounts.google.com')],
    ['an issuer with a slash', () => claim('iss', `${google.issuer}/`)],
    ['no issuer', () => claim('iss', undefined)],
    ['a list as issuer', () => claim('iss', [google.issuer])],
    ['another audience', () => claim('aud', 'another-client')],
    ['no audience', () => claim('aud', undefined)],
    ['an empty list of audiences', () => claim('aud', [])],
    ['a number as audience', () => claim('aud', 7)],
    ['a second audience without azp', () => claim('aud', ['google-web', 'another-client'])],
    [
      'a second audience and its azp',
      () => ({ idToken: ({ claims }) => Object.assign(claims, { aud: ['google-web', 'x'], azp: 'x' }) }),
    ],
    ['another azp', () => claim('azp', 'another-client')],
    ['an azp that is no text', () => claim('azp', { id: 'google-web' })],
    ['expired', () => claim('exp', seconds(-60))],
    ['no expiry', () => claim('exp', undefined)],
    ['a text as expiry', () => claim('exp', '9999999999')],
    ['an expiry in a year', () => claim('exp', seconds(31_536_000))],
    ['issued in the future', () => claim('iat', seconds(600))],
    ['no iat', () => claim('iat', undefined)],
    ['not valid yet', () => claim('nbf', seconds(600))],
    ['no sub', () => claim('sub', undefined)],
    ['an empty sub', () => claim('sub', '')],
    ['a sub of 256 characters', () => claim('sub', 's'.repeat(256))],
    ['a number as sub', () => claim('sub', 7)],
    ['a sub with a line end', () => claim('sub', 'a\nb')],
    ['a sub with U+0000', () => claim('sub', 'a\u0000b')],
    ['alg none', () => header((it) => Object.assign(it, { alg: 'none' }))],
    ['alg None', () => resigned(({ header }) => Object.assign(header, { alg: 'None' }))],
    ['HS256 with the client secret', () => header((it) => Object.assign(it, { alg: 'HS256' }))],
    [
      'HS256 with the public key',
      () => resigned(({ header }) => Object.assign(header, { alg: 'HS256' }), JSON.stringify(google.key.public)),
    ],
    ['another alg than the keys', () => header((it) => Object.assign(it, { alg: 'RS512' }))],
    ['an unknown kid', () => header((it) => Object.assign(it, { kid: 'unknown' }))],
    ['crit', () => header((it) => Object.assign(it, { crit: ['exp'] }))],
    [
      'a key of its own',
      () => resigned(({ header }) => Object.assign(header, { jwk: stranger.publicKey.export({ format: 'jwk' }) })),
    ],
    ['signed by a stranger', () => resigned(() => {})],
    [
      'claims changed after signing',
      () => parts(([head, , signature]) => [head!, Buffer.from('{"sub":"1"}').toString('base64url'), signature!]),
    ],
    ['a signature cut short', () => parts(([head, claims, signature]) => [head!, claims!, signature!.slice(0, 100)])],
    ['no signature', () => parts(([head, claims]) => [head!, claims!, ''])],
    ['two parts', () => parts(([head, claims]) => [head!, claims!])],
    ['five parts', () => parts((all) => [...all, 'a', 'b'])],
    ['no JSON', () => ({ signed: () => 'a.b.c' })],
    ['empty', () => ({ signed: () => '' })],
    ['of 600 KB', () => ({ signed: () => huge })],
  ]
  it.each(cases)('%s', async (_name, tampering) => {
    google.tampering = tampering()
    await expectRefused(google)
  })

  it('the same token unchanged signs in', async () => {
    expect((await signInWith(shop, google, { person: newPerson() })).status).toBe(200)
    google.tampering = { idToken: ({ claims }) => Object.assign(claims, { aud: ['google-web'], azp: 'google-web' }) }
    expect((await signInWith(shop, google, { person: newPerson() })).status).toBe(200)
  })
})

describe('a token endpoint that answers otherwise', () => {
  const cases: [string, () => Tampering][] = [
    ['no ID token', () => body((it) => delete it['id_token'])],
    ['an ID token that is no text', () => body((it) => Object.assign(it, { id_token: { a: 1 } }))],
    ['no access token', () => body((it) => delete it['access_token'])],
    ['token type mac', () => body((it) => Object.assign(it, { token_type: 'mac' }))],
    ['HTML', () => endpoint('token', 200, 'text/html', '<html>')],
    ['JSON as HTML', () => endpoint('token', 200, 'text/html', '{}')],
    ['no JSON', () => endpoint('token', 200, 'application/json', '{')],
    ['a list', () => endpoint('token', 200, 'application/json', '[]')],
    ['null', () => endpoint('token', 200, 'application/json', 'null')],
    ['nothing', () => endpoint('token', 204, 'application/json', '')],
    ['600 KB', () => endpoint('token', 200, 'application/json', JSON.stringify({ huge }))],
    ['a redirect', () => endpoint('token', 302, 'application/json', '{}')],
    ['307', () => endpoint('token', 307, 'application/json', '{}')],
    ['400', () => endpoint('token', 400, 'application/json', '{"error":"invalid_grant"}')],
    ['401 with a challenge', () => endpoint('token', 401, 'application/json', '{"error":"invalid_client"}')],
    ['500', () => endpoint('token', 500, 'application/json', '{}')],
    ['a connection that breaks', () => ({ answer: { token: (response) => void response.destroy() } })],
    [
      'no end',
      () => ({
        answer: {
          token: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
        },
      }),
    ],
    ['silence', () => ({ answer: { token: () => {} } })],
  ]
  it.each(cases)('%s', async (_name, tampering) => {
    google.tampering = tampering()
    await expectRefused(google)
  })
})

describe('GitHub’s API', () => {
  const cases: [string, () => Tampering][] = [
    ['an error with 200', () => endpoint('token', 200, 'application/json', '{"error":"bad_verification_code"}')],
    ['no id', () => ({ account: (account) => delete account['id'] })],
    ['an id of 0', () => ({ account: (account) => Object.assign(account, { id: 0 }) })],
    ['a text as id', () => ({ account: (account) => Object.assign(account, { id: '1 or 1=1' }) })],
    ['an id beyond 2^53', () => ({ account: (account) => Object.assign(account, { id: 2 ** 60 }) })],
    ['no account', () => endpoint('user', 401, 'application/json', '{}')],
    ['HTML', () => endpoint('user', 200, 'text/html', '<html>')],
    ['a redirect', () => endpoint('user', 302, 'application/json', '{}')],
    ['no list of addresses', () => endpoint('emails', 404, 'application/json', '{}')],
    ['600 KB of addresses', () => endpoint('emails', 200, 'application/json', JSON.stringify([huge]))],
  ]
  it.each(cases)('%s', async (_name, tampering) => {
    github.tampering = tampering()
    await expectRefused(github)
  })

  it('a primary address that is not verified stays unconfirmed', async () => {
    const { json } = await signInWith(shop, github, { person: newPerson({ verified: false }) })
    expect(json.user).toMatchObject({ email_verified: false })
  })
})

describe('directories of Microsoft', () => {
  const tenant = () => crypto.randomUUID()
  const client = (fields: object) =>
    putClient(shop, 'microsoft', {
      key: 'web',
      fields: { application_id: 'microsoft-app', return_uris: [returnUri], ...fields },
    })
  const cases: [string, object, () => Tampering][] = [
    ['no tid', { directory: 'common' }, () => claim('tid', undefined)],
    ['a tid that is not the issuer’s', { directory: 'common' }, () => claim('tid', crypto.randomUUID())],
    ['a tid that leads elsewhere', { directory: 'common' }, () => claim('tid', '../../evil')],
    ['a list as tid', { directory: 'common' }, () => claim('tid', [microsoft.tenant])],
    [
      'the template itself',
      { directory: 'common' },
      () => ({
        idToken: ({ claims }) =>
          Object.assign(claims, { tid: '{tenantid}', iss: `${microsoft.origin}/{tenantid}/v2.0` }),
      }),
    ],
    ['another directory', { directory: 'tenant', tenant_id: tenant() }, () => ({})],
    [
      'a personal account in organizations',
      { directory: 'organizations' },
      () => ({
        idToken: ({ claims }) =>
          Object.assign(claims, { tid: consumers, iss: `${microsoft.origin}/${consumers}/v2.0` }),
      }),
    ],
    ['an organization’s account in consumers', { directory: 'consumers' }, () => ({})],
    [
      'the key of another directory',
      // its metadata were not asked for before, so its keys are fetched again
      { directory: 'tenant', tenant_id: microsoft.tenant },
      () => ({ keys: (keys) => Object.assign(keys[0]!, { issuer: `${microsoft.origin}/${consumers}/v2.0` }) }),
    ],
  ]
  it.each(cases)('%s', async (_name, fields, tampering) => {
    await client(fields)
    microsoft.tampering = tampering()
    await expectRefused(microsoft)
  })

  it('a tenant’s own accounts sign in with its directory, and the key of the template may sign', async () => {
    microsoft.tenant = tenant()
    await client({ directory: 'tenant', tenant_id: microsoft.tenant })
    microsoft.tampering = { keys: (keys) => Object.assign(keys[0]!, { issuer: `${microsoft.origin}/{tenantid}/v2.0` }) }
    expect((await signInWith(shop, microsoft, { person: newPerson() })).status).toBe(200)
  })

  it('a tenant may be named by its domain: its metadata have its id', async () => {
    await client({ directory: 'tenant', tenant_id: `${count}.example` })
    expect((await signInWith(shop, microsoft, { person: newPerson() })).status).toBe(200)
    const tid = crypto.randomUUID()
    microsoft.tampering = {
      idToken: ({ claims }) => Object.assign(claims, { tid, iss: `${microsoft.origin}/${tid}/v2.0` }),
    }
    await expectRefused(microsoft)
  })

  it.each<[string, Tampering]>([
    ['another issuer', { metadata: (it) => Object.assign(it, { issuer: 'https://login.example/common/v2.0' }) }],
    [
      'an issuer that begins alike',
      { metadata: (it) => Object.assign(it, { issuer: `${it['issuer']}.evil.example` }) },
    ],
    [
      'an endpoint on plain http',
      { metadata: (it) => Object.assign(it, { token_endpoint: 'http://login.example/token' }) },
    ],
    ['a scheme of its own', { metadata: (it) => Object.assign(it, { authorization_endpoint: 'javascript:alert(1)' }) }],
    ['no key set', { metadata: (it) => delete it['jwks_uri'] }],
    ['HTML', endpoint('metadata', 200, 'text/html', '<html>')],
    ['a redirect', endpoint('metadata', 301, 'application/json', '{}')],
    ['600 KB', endpoint('metadata', 200, 'application/json', JSON.stringify({ huge }))],
  ])('metadata: %s', async (_name, tampering) => {
    await client({ directory: 'tenant', tenant_id: tenant() })
    microsoft.tampering = tampering
    const { status, headers } = await shop.call(startPath('microsoft', newVerifier()))
    const location = new URL(headers.get('location')!)
    expect([status, `${location.origin}${location.pathname}`]).toEqual([303, returnUri])
    expect(location.searchParams.get('error')).toBe('provider_failed')
  })

  it.each<[string, Tampering]>([
    ['HTML', endpoint('keys', 200, 'text/html', '<html>')],
    ['600 KB', endpoint('keys', 200, 'application/json', JSON.stringify({ keys: [], huge }))],
    ['no key', { keys: (keys) => void keys.splice(0) }],
    [
      'a symmetric key',
      { keys: (keys) => void keys.splice(0, 1, { kty: 'oct', k: 'c2VjcmV0', kid: keys[0]!['kid'] }) },
    ],
    ['a key for encryption', { keys: (keys) => Object.assign(keys[0]!, { use: 'enc' }) }],
    ['a redirect', endpoint('keys', 302, 'application/json', '{}')],
  ])('key set: %s', async (_name, tampering) => {
    microsoft.tenant = tenant()
    await client({ directory: 'tenant', tenant_id: microsoft.tenant })
    microsoft.tampering = tampering
    await expectRefused(microsoft)
  })

  it('tokens with unknown keys cause one fetch of the key set at most', async () => {
    await signInWith(shop, google, { person: newPerson() })
    const before = google.requests('/keys')
    google.tampering = header((it) => Object.assign(it, { kid: crypto.randomUUID() }))
    await Promise.all(Array.from({ length: 30 }, () => arrive(shop, google, { person: newPerson() })))
    expect(google.requests('/keys') - before).toBeLessThanOrEqual(1)
  })
})

describe('the answer in the browser', () => {
  it.each<[string, (answer: URLSearchParams) => void]>([
    ['no code', (it) => it.delete('code')],
    ['an empty code', (it) => it.set('code', '')],
    ['two codes', (it) => it.append('code', 'another')],
    ['a wrong code', (it) => it.set('code', 'wrong')],
    ['another issuer (RFC 9207)', (it) => it.set('iss', 'https://evil.example')],
    ['an ID token', (it) => it.set('id_token', 'a.b.c')],
    ['a JARM response', (it) => it.set('response', 'a.b.c')],
    ['an unknown error', (it) => it.set('error', '<script>alert(1)</script>')],
  ])('%s', async (_name, edit) => {
    await expectRefused(google, { edit })
  })

  it('the issuer’s own name passes (RFC 9207)', async () => {
    expect(
      (await signInWith(shop, google, { person: newPerson(), edit: (it) => it.set('iss', google.issuer) })).status,
    ).toBe(200)
    expect(
      (await signInWith(shop, github, { person: newPerson(), edit: (it) => it.set('iss', github.issuer) })).status,
    ).toBe(200)
  })

  it('a person who cancels: access_denied, in the stack’s own words', async () => {
    const edit = (it: URLSearchParams) => {
      it.delete('code')
      it.set('error', 'access_denied')
      it.set('error_description', 'call +1 555 now')
    }
    await expectRefused(google, { edit }, 'access_denied')
    const { back } = await arrive(shop, apple, { edit: (it) => it.set('error', 'user_cancelled_authorize') })
    expect([back!.get('error'), back!.get('error_description')]).toEqual([
      'access_denied',
      'the sign-in with Apple was cancelled',
    ])
  })

  it.each<[string, (answer: URLSearchParams) => void]>([
    ['no state', (it) => it.delete('state')],
    ['an empty state', (it) => it.set('state', '')],
    ['an unknown state', (it) => it.set('state', newVerifier())],
    ['two states', (it) => it.append('state', it.get('state')!)],
    ['a state in other case', (it) => it.set('state', it.get('state')!.toUpperCase())],
    ['a state with U+0000', (it) => it.set('state', '\u0000')],
    ['a state of 10 KB', (it) => it.set('state', 's'.repeat(10_000))],
  ])('%s sends nobody anywhere', async (_name, edit) => {
    const { called } = await arrive(shop, google, { edit })
    expectLost(called)
  })

  it('a state of another provider, and one that is over', async () => {
    const started = await shop.call(startPath('google', newVerifier()))
    const { answer } = google.signIn(started.headers.get('location')!, newPerson())
    expectLost(await callback(shop, 'github', answer))
    await shop.sql('update auth.oauth_flows set expires_at = now()')
    expectLost(await callback(shop, 'google', answer))
  })

  it('the code of another sign-in has another verifier', async () => {
    const [mine, theirs] = [
      await shop.call(startPath('google', newVerifier())),
      await shop.call(startPath('google', newVerifier())),
    ]
    const stolen = google.signIn(theirs.headers.get('location')!, newPerson()).answer.get('code')!
    const { answer } = google.signIn(mine.headers.get('location')!, newPerson())
    answer.set('code', stolen)
    const called = await callback(shop, 'google', answer)
    expect(new URL(called.headers.get('location')!).searchParams.get('error')).toBe('provider_failed')
  })

  it('one of 30 callbacks with one state gets a code', async () => {
    const started = await shop.call(startPath('google', newVerifier()))
    const { answer } = google.signIn(started.headers.get('location')!, newPerson())
    const called = await Promise.all(Array.from({ length: 30 }, () => callback(shop, 'google', answer)))
    expect(called.filter(({ status }) => status === 303).length).toBe(1)
    for (const answer of called.filter(({ status }) => status !== 303)) expectLost(answer)
  })

  it('a form alone is posted', async () => {
    const address = '/auth/oauth/apple/callback'
    expect((await shop.call(address, { json: { state: 'x' } })).status).toBe(415)
    expect((await shop.call(address, { method: 'POST' })).status).toBe(415)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expectLost(await shop.call(address, { body: 'state=x', headers }))
    expect((await shop.call(address, { body: `state=${'x'.repeat(70_000)}`, headers })).status).toBe(413)
  })
})

describe('the address that the application is sent back to', () => {
  const variants = [
    'https://app.example/signed-in/',
    'https://app.example/signed-in?x=1',
    'https://app.example/signed-in#x',
    'https://app.example/signed-in%2f',
    'https://app.example/signed%2Din',
    'https://app.example/signed-in/../signed-in',
    'https://app.example/./signed-in',
    'https://app.example//signed-in',
    'https://app.example:443/signed-in',
    'https://app.example:8443/signed-in',
    'https://app.example./signed-in',
    'https://APP.example/signed-in',
    'HTTPS://app.example/signed-in',
    'https://app.example/SIGNED-IN',
    'http://app.example/signed-in',
    'https://user@app.example/signed-in',
    'https://app.example@evil.example/signed-in',
    'https://app.example:x@evil.example/signed-in',
    'https://evil.example/https://app.example/signed-in',
    'https://evil.example?https://app.example/signed-in',
    'https://evil.example#https://app.example/signed-in',
    'https://app.example.evil.example/signed-in',
    'https://app.example\\@evil.example/signed-in',
    'https:\\\\app.example\\signed-in',
    'https:/app.example/signed-in',
    '//app.example/signed-in',
    '/signed-in',
    '\\\\evil.example',
    ' https://app.example/signed-in',
    'https://app.example/signed-in ',
    'https://app.example/signed-in\t',
    'https://app.example/signed-in\r\nlocation: https://evil.example',
    'https://app.example/signed-in\u0000',
    'https://аpp.example/signed-in',
    'https://app。example/signed-in',
    'https://app.example/signed\u200bin',
    'https://[::ffff:app.example]/signed-in',
    'javascript:alert(1)//https://app.example/signed-in',
    'data:text/html,<script>',
    'com.example.app://signed-in/',
    'com.example.app://signed-in?x',
    'COM.example.app://signed-in',
    'com.example.app://',
    '',
    '*',
    'null',
    'undefined',
    `https://app.example/${'x'.repeat(3_000)}`,
  ]
  it.each(titled(variants.map((variant) => [variant] as const)))('%s', async (_title, redirect_to) => {
    const { status, headers, json } = await shop.call(startPath('google', newVerifier(), { redirect_to }))
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(['invalid_redirect', 'invalid_request']).toContain(json.error)
  })

  it('an address of the client, and one of the setting', async () => {
    for (const redirect_to of [returnUri, 'com.example.app://signed-in']) {
      expect((await shop.call(startPath('google', newVerifier(), { redirect_to }))).status).toBe(302)
    }
  })

  it('an address that was taken from the list meanwhile is no place to send anybody to', async () => {
    await putClient(shop, 'google', {
      key: 'passing',
      fields: { web_client_id: 'google-web', return_uris: ['https://old.example/'] },
    })
    const started = await shop.call(
      startPath('google', newVerifier(), { client_key: 'passing', redirect_to: 'https://old.example/' }),
    )
    const { answer } = google.signIn(started.headers.get('location')!, newPerson())
    await putClient(shop, 'google', { key: 'passing', fields: { web_client_id: 'google-web', return_uris: [] } })
    const called = await callback(shop, 'google', answer)
    expectLost(called)
  })
})

describe('the beginning', () => {
  it.each<[string, Record<string, string>]>([
    ['plain PKCE', { code_challenge_method: 'plain' }],
    ['an empty challenge', { code_challenge: '' }],
    ['a challenge of 42 characters', { code_challenge: 'c'.repeat(42) }],
    ['a challenge in base64', { code_challenge: `${'c'.repeat(42)}+` }],
    ['a parameter too many', { scope: 'openid admin' }],
    ['a key that is none', { client_key: "web' or true--" }],
  ])('%s is 400', async (_name, more) => {
    expect((await shop.call(startPath('google', newVerifier(), more))).json.error).toBe('invalid_request')
  })

  it('without PKCE, and with a parameter twice', async () => {
    const query = new URLSearchParams({ client_key: 'web', redirect_to: returnUri })
    expect((await shop.call(`/auth/oauth/google/start?${query}`)).status).toBe(400)
    expect((await shop.call(`${startPath('google', newVerifier())}&redirect_to=https://evil.example`)).status).toBe(400)
  })

  it('unknown providers and clients are 404', async () => {
    for (const name of ['email', 'phone', 'facebook', '__proto__', 'constructor', 'GOOGLE']) {
      expect([name, (await shop.call(startPath(name, newVerifier()))).json.error]).toEqual([name, 'provider_not_found'])
    }
    expect((await shop.call(startPath('google', newVerifier(), { client_key: 'none' }))).json.error).toBe(
      'client_not_found',
    )
    await putClient(shop, 'google', {
      key: 'phone',
      kind: 'native',
      platform: 'ios',
      fields: { ios_client_id: 'ios', return_uris: [returnUri] },
    })
    expect((await shop.call(startPath('google', newVerifier(), { client_key: 'phone' }))).json.error).toBe(
      'client_not_found',
    )
  })

  it('the kinds’ names of the contract are synonyms (contract 9.5)', async () => {
    const { headers } = await shop.call(startPath('provider_a', newVerifier()))
    expect(new URL(headers.get('location')!).searchParams.get('redirect_uri')).toBe(
      `${shop.url}/auth/oauth/google/callback`,
    )
  })

  it('from one network 30 a minute', async () => {
    const from = (ip: string) => shop.call(startPath('google', newVerifier()), { headers: { 'cf-connecting-ip': ip } })
    const answers = await Promise.all(Array.from({ length: 40 }, () => from('203.0.113.7')))
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(8)
    expect((await from('198.51.100.7')).status).toBe(302)
  })

  it('nothing of the flow is in the clear', async () => {
    const started = await shop.call(startPath('google', newVerifier()))
    const { searchParams } = new URL(started.headers.get('location')!)
    const rows = JSON.stringify(await shop.sql('select * from auth.oauth_flows'))
    for (const name of ['state', 'nonce']) expect(rows).not.toContain(searchParams.get(name))
    expect(started.headers.get('cache-control')).toBe('no-store')
  })
})

describe('the code for the application', () => {
  const arrived = async () => {
    const { back, verifier } = await arrive(shop, google, { person: newPerson() })
    return { code: back!.get('code')!, verifier }
  }

  it('a wrong verifier uses it up', async () => {
    const { code, verifier } = await arrived()
    expect((await exchange(code, newVerifier())).json.error).toBe('invalid_code')
    expect((await exchange(code, verifier)).json.error).toBe('invalid_code')
  })

  it('the challenge is no verifier', async () => {
    const { code, verifier } = await arrived()
    expect((await exchange(code, challengeOf(verifier))).json.error).toBe('invalid_code')
  })

  it('one of 30 exchanges gets a session', async () => {
    const { code, verifier } = await arrived()
    const answers = await Promise.all(Array.from({ length: 30 }, () => exchange(code, verifier)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(1)
    expect(answers.filter(({ json }) => json.error === 'invalid_code').length).toBe(29)
  })

  it('it is over after 60 s', async () => {
    const { code, verifier } = await arrived()
    const [row] = await shop.sql<{ left: number }>(
      'select extract(epoch from max(expires_at) - now())::int as left from auth.handoff_codes',
    )
    expect(row!.left).toBeLessThanOrEqual(60)
    await shop.sql('update auth.handoff_codes set expires_at = now()')
    expect((await exchange(code, verifier)).json.error).toBe('invalid_code')
  })

  it('the table has no code, and the address no token', async () => {
    const { code } = await arrived()
    expect(JSON.stringify(await shop.sql('select * from auth.handoff_codes'))).not.toContain(code)
    const { called } = await arrive(shop, google, { person: newPerson() })
    expect(called.headers.get('location')).toMatch(/^https:\/\/app\.example\/signed-in\?code=[A-Za-z0-9_-]{43}$/)
    expect(called.headers.get('referrer-policy')).toBe('no-referrer')
  })
})

describe('many at once', () => {
  it('30 first sign-ins of one person make one user', async () => {
    const person = newPerson()
    const arrived = await Promise.all(Array.from({ length: 30 }, () => arrive(shop, google, { person })))
    const answers = await Promise.all(arrived.map(({ back, verifier }) => exchange(back!.get('code')!, verifier)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(new Set(answers.map(({ json }) => json.user.id)).size).toBe(1)
    const [row] = await shop.sql<{ n: number }>('select count(*)::int as n from auth.users where email = $1', [
      person.email,
    ])
    expect(row!.n).toBe(1)
  })

  it('one address from two providers at once makes one user', async () => {
    const person = newPerson()
    const arrived = await Promise.all(
      [google, github].flatMap((issuer) => Array.from({ length: 15 }, () => arrive(shop, issuer, { person }))),
    )
    const answers = await Promise.all(arrived.map(({ back, verifier }) => exchange(back!.get('code')!, verifier)))
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ json }) => json.user.id)).size).toBe(1)
  })
})

it('the log has reasons, and neither tokens, secrets nor addresses', async () => {
  const log = JSON.stringify(shop.log)
  expect(log).toContain('unexpected ID Token \\"nonce\\" claim value')
  for (const secret of [google.clientSecret, 'PRIVATE KEY', 'eyJ', '@example.com']) {
    expect([secret, log.includes(secret)]).toEqual([secret, false])
  }
})
