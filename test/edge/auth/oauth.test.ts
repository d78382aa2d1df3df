/** Sign-in with the four providers over HTTP, against issuers with real keys: the flows, native applications, accounts and identities. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dialect, MockIssuer, MockPerson } from '../../support/mock-issuer.ts'
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
import { useStack } from '../../support/stack.ts'
import { codeOf } from '../../support/totp.ts'

const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
const { google, apple, microsoft, github } = issuers
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const dialects: Dialect[] = ['google', 'apple', 'microsoft', 'github']

let count = 0
/** A person that no test has seen. A number as subject suits all four. */
function newPerson(more: Partial<MockPerson> = {}) {
  count++
  return { sub: String(70_000 + count), email: `p${count}@example.com`, verified: true, name: 'Ada L.', ...more }
}
const exchange = (code: string, code_verifier: string, token?: string) =>
  shop.call('/auth/oauth/exchange', { json: { code, code_verifier }, ...(token ? { token } : {}) })
const setting = (document: object) => shop.sql('update auth.settings set document = $1', [JSON.stringify(document)])
const confirm = (email: string) =>
  shop.sql('update auth.users set email_confirmed_at = now() where email = $1', [email])
const guest = async () => (await shop.call('/auth/anonymous', { method: 'POST' })).json
const events = async (userId: string) =>
  (
    await shop.sql<{ event_type: string }>('select event_type from stack.audit where target_id = $1 order by id', [
      userId,
    ])
  ).map(({ event_type }) => event_type)
const errorOf = async (issuer: MockIssuer, person: MockPerson) =>
  (await arrive(shop, issuer, { person })).back?.get('error')

/** The second signature that ECDSA has for the same text: `s` becomes the order of the curve less `s`. */
function otherSignature(jwt: string): string {
  const [head, claims, signature] = jwt.split('.')
  const bytes = Buffer.from(signature!, 'base64url')
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  return [head, claims, other.toString('base64url')].join('.')
}

beforeAll(async () => {
  for (const issuer of issuers.all) await enable(shop, issuer)
})
beforeEach(async () => {
  for (const issuer of issuers.all) issuer.reset()
  await setting({})
})
afterAll(() => issuers.close())

describe('a whole sign-in in the browser', () => {
  it.each(dialects)('%s', async (dialect) => {
    const issuer = issuers[dialect]
    const person = newPerson()
    const first = await signInWith(shop, issuer, { person })
    expect(first.status).toBe(200)
    expect(first.json.user).toMatchObject({ email: person.email, email_verified: true, is_anonymous: false })
    expect(claimsOf(first.json.access_token)).toMatchObject({ amr: ['fed'], aal: 'aal1', role: 'authenticated' })
    expect((await shop.call('/orders', { token: first.json.access_token })).status).toBe(200)
    const again = await signInWith(shop, issuer, { person })
    const { id } = first.json.user
    expect(again.json.user.id).toBe(id)
    const origin = { provider: dialect, client_key: 'web', platform: 'web', application_key: 'shop' }
    const columns = Object.keys(origin).join(', ')
    expect(await shop.sql(`select ${columns} from auth.sessions where user_id = $1`, [id])).toEqual([origin, origin])
    expect(await events(id)).toEqual(['user.signed_up', 'user.signed_in', 'user.signed_in'])
  })

  it('asks for no more than the address and the name, with PKCE, state and nonce', async () => {
    const { headers } = await shop.call(startPath('apple', newVerifier()))
    const { searchParams } = new URL(headers.get('location')!)
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'com.example.web',
      redirect_uri: `${shop.url}/auth/oauth/apple/callback`,
      response_type: 'code',
      response_mode: 'form_post',
      scope: 'openid name email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
  })

  it('Apple tells the name once, through the browser: it stays, and the address there proves nothing', async () => {
    const person = newPerson({ name: undefined as never })
    const user = { name: { firstName: 'Grace', lastName: 'H.' }, email: 'victim@example.com' }
    const { json } = await signInWith(shop, apple, { person, edit: (it) => it.set('user', JSON.stringify(user)) })
    expect(json.user.email).toBe(person.email)
    await signInWith(shop, apple, { person })
    const listed = await shop.call('/auth/identities', { token: json.access_token })
    expect(listed.json.data).toMatchObject([{ provider: 'apple', id: person.sub, profile: { name: 'Grace H.' } }])
    for (const broken of [
      '{',
      'null',
      '[]',
      '{"name":7}',
      '{"name":{"firstName":{}}}',
      '{"name":{"firstName":"\\u0000"}}',
    ]) {
      expect((await signInWith(shop, apple, { person, edit: (it) => it.set('user', broken) })).status).toBe(200)
    }
  })

  it('"true" as a text is a verified address at Apple, and at no other provider', async () => {
    const claims = { email_verified: 'true' }
    expect((await signInWith(shop, apple, { person: newPerson({ claims }) })).json.user.email_verified).toBe(true)
    expect((await signInWith(shop, google, { person: newPerson({ claims }) })).json.user.email_verified).toBe(false)
  })

  it('a second factor is asked for, and the session keeps the provider', async () => {
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    const token = json.access_token
    const enrolled = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
    const { factor_id, secret } = enrolled.json
    await shop.call('/auth/mfa/totp/verify', { token, json: { factor_id, code: codeOf(secret, -1) } })
    const asked = await signInWith(shop, google, { person })
    expect([asked.status, asked.json]).toMatchObject([202, { mfa_required: true, factors: [{ type: 'totp' }] }])
    const { challenge_id } = asked.json
    const answered = await shop.call('/auth/mfa/challenge', { json: { challenge_id, code: codeOf(secret) } })
    const { amr, aal, session_id } = claimsOf(answered.json.access_token)
    expect([amr, aal]).toEqual([['fed', 'otp', 'mfa'], 'aal2'])
    const sessions = await shop.sql('select provider, client_key from auth.sessions where id = $1', [session_id])
    expect(sessions).toEqual([{ provider: 'google', client_key: 'web' }])
  })
})

describe('providers that are managed over HTTP (contract 9.1, 9.3, 9.5)', () => {
  it('a client, its credential and further scopes, from the first write to the first sign-in', async () => {
    const manage = (method: string, path: string, json: object) =>
      shop.call(`/v1/management/auth/providers/google${path}`, {
        method,
        json,
        headers: { apikey: shop.stack.record.service_role_key },
      })
    const client = {
      key: 'managed',
      enabled: true,
      application_key: 'managed-shop',
      platform: 'web',
      variant: 'release',
      web_client_id: 'managed-client',
      return_uris: ['https://managed.example/back'],
    }
    const secret = { provider: 'google', kind: 'oauth_client_secret', client_secret: google.clientSecret }
    expect((await manage('PUT', '/credentials/managed', secret)).status).toBe(200)
    const written = await manage('PUT', '/config', { browser_clients: [client], scopes: ['calendar', 'email'] })
    expect([written.status, written.json.problems]).toEqual([200, []])
    expect((await manage('POST', '', { enabled: true })).status).toBe(200)
    const more = { client_key: 'managed', redirect_to: 'https://managed.example/back' }
    const { headers } = await shop.call(startPath('google', newVerifier(), more))
    expect(new URL(headers.get('location')!).searchParams.get('scope')).toBe('openid email profile calendar')
    expect((await signInWith(shop, google, { person: newPerson(), more })).status).toBe(200)
    await manage('POST', '', { enabled: false })
    expect((await shop.call(startPath('google', newVerifier(), more))).json.error).toBe('provider_disabled')
    await shop.sql("update auth.providers set config = '{}' where name = 'google'")
    await enable(shop, google)
  })

  it('revoking all credentials of a user ends a sign-in that is under way', async () => {
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    const waiting = await arrive(shop, google, { person })
    const revoked = await shop.call(`/v1/management/auth/users/${json.user.id}/credentials/revoke-all`, {
      method: 'POST',
      headers: { apikey: shop.stack.record.service_role_key },
    })
    expect([revoked.status, revoked.json.revoked?.identities]).toEqual([200, 1])
    expect((await exchange(waiting.back!.get('code')!, waiting.verifier)).json.error).toBe('invalid_code')
  })
})

describe('a native application', () => {
  const nonce = 'a nonce of the application'
  const native = (dialect: Dialect, client_key: string, id_token: string, more: object = {}, token?: string) =>
    shop.call(`/auth/oauth/${dialect}/native`, {
      json: { client_key, id_token, nonce, ...more },
      ...(token ? { token } : {}),
    })
  const clients = [
    ['google', 'android', { server_client_id: 'google-web', android_client_id: 'google-android' }, 'google-web'],
    ['google', 'ios', { ios_client_id: 'google-ios' }, 'google-ios'],
    ['apple', 'ios', { bundle_id: 'com.example.app' }, 'com.example.app'],
    ['microsoft', 'ios', { application_id: 'microsoft-app', directory: 'common' }, 'microsoft-app'],
    ['microsoft', 'android', { application_id: 'microsoft-app', directory: 'common' }, 'microsoft-app'],
  ] as const
  const keyOf = (platform: string) => `app-${platform}`

  beforeAll(async () => {
    for (const [dialect, platform, fields] of clients) {
      await putClient(shop, dialect, { key: keyOf(platform), kind: 'native', platform, fields })
    }
  })

  it.each(clients)('%s on %s', async (dialect, platform, _fields, audience) => {
    const issuer = issuers[dialect]
    const person = newPerson()
    const token = issuer.idToken(audience, nonce, person)
    const { status, json } = await native(dialect, keyOf(platform), token)
    expect([status, json.user?.email]).toEqual([200, person.email])
    const sessions = await shop.sql('select platform, client_key from auth.sessions where user_id = $1', [json.user.id])
    expect(sessions).toEqual([{ platform, client_key: keyOf(platform) }])
    expect((await native(dialect, keyOf(platform), token)).json.error).toBe('invalid_id_token')
    const stranger = issuer.idToken('another-audience', nonce, newPerson())
    expect((await native(dialect, keyOf(platform), stranger)).json.error).toBe('invalid_id_token')
  })

  it('the nonce: as it is, or its SHA-256 in hex or base64url; never none, and never another', async () => {
    const digest = createHash('sha256').update(nonce).digest()
    for (const sent of [nonce, digest.toString('hex'), digest.toString('base64url')]) {
      expect((await native('apple', 'app-ios', apple.idToken('com.example.app', sent, newPerson()))).status).toBe(200)
    }
    for (const sent of [null, '', 'another nonce', digest.toString('base64'), digest.toString('hex').toUpperCase()]) {
      const { status, json } = await native('apple', 'app-ios', apple.idToken('com.example.app', sent, newPerson()))
      expect([sent, status, json.error]).toEqual([sent, 401, 'invalid_id_token'])
    }
    const token = apple.idToken('com.example.app', nonce, newPerson())
    expect((await native('apple', 'app-ios', token, { nonce: undefined })).json.error).toBe('invalid_request')
  })

  it('the party that a token was issued to (azp)', async () => {
    const azp = (party: string) => google.idToken('google-web', nonce, newPerson(), { azp: party })
    expect((await native('google', 'app-android', azp('google-android'))).status).toBe(200)
    expect((await native('google', 'app-android', azp('google-web'))).status).toBe(200)
    expect((await native('google', 'app-android', azp('another'))).json.error).toBe('invalid_id_token')
  })

  it('an access token of another sign-in', async () => {
    const half = createHash('sha256').update('the access token').digest().subarray(0, 16).toString('base64url')
    const token = () => google.idToken('google-ios', nonce, newPerson(), { at_hash: half })
    expect((await native('google', 'app-ios', token(), { access_token: 'the access token' })).status).toBe(200)
    expect((await native('google', 'app-ios', token(), { access_token: 'another' })).json.error).toBe(
      'invalid_id_token',
    )
    const without = google.idToken('google-ios', nonce, newPerson())
    expect((await native('google', 'app-ios', without, { access_token: 'any' })).json.error).toBe('invalid_id_token')
  })

  it('one of 30 uses of a token signs in, also with signatures written otherwise', async () => {
    const token = google.idToken('google-ios', nonce, newPerson())
    const answers = await Promise.all(Array.from({ length: 30 }, () => native('google', 'app-ios', token)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(1)
    expect(answers.filter(({ json }) => json.error === 'invalid_id_token').length).toBe(29)
    const ecdsa = apple.idToken('com.example.app', nonce, newPerson())
    expect((await native('apple', 'app-ios', ecdsa)).status).toBe(200)
    expect((await native('apple', 'app-ios', otherSignature(ecdsa))).json.error).toBe('invalid_id_token')
    const fresh = otherSignature(apple.idToken('com.example.app', nonce, newPerson()))
    expect((await native('apple', 'app-ios', fresh)).status).toBe(200)
  })

  it('a key set that cannot be read is the provider’s fault, and no token’s', async () => {
    microsoft.tenant = crypto.randomUUID()
    const fields = { application_id: 'microsoft-app', directory: 'tenant', tenant_id: microsoft.tenant }
    await putClient(shop, 'microsoft', { key: 'app-tenant', kind: 'native', platform: 'ios', fields })
    const token = microsoft.idToken('microsoft-app', nonce, newPerson())
    microsoft.tampering = { answer: { keys: (response) => response.writeHead(500).end() } }
    expect((await native('microsoft', 'app-tenant', token)).json).toMatchObject({
      error: 'provider_failed',
      status: 502,
    })
    microsoft.reset()
    expect((await native('microsoft', 'app-tenant', token)).status).toBe(200)
  })

  it('no browser client, no unknown one, and not GitHub', async () => {
    const token = google.idToken('google-web', nonce, newPerson())
    expect((await native('google', 'web', token)).json.error).toBe('client_not_found')
    expect((await native('google', 'none', token)).json.error).toBe('client_not_found')
    expect((await native('github', 'web', token)).json.error).toBe('client_not_found')
    expect((await native('google', 'app-ios', 'x'.repeat(20_000))).json.error).toBe('invalid_request')
  })

  it('a guest becomes an account', async () => {
    const { access_token, user } = await guest()
    const token = apple.idToken('com.example.app', nonce, newPerson())
    const { json } = await native('apple', 'app-ios', token, {}, access_token)
    expect(json.user).toMatchObject({ id: user.id, is_anonymous: false })
  })
})

describe('what was switched off counts at each step', () => {
  const off = {
    provider: ["update auth.providers set enabled = false where name = 'google'", 'provider_disabled', 403],
    client: [
      "update auth.provider_clients set enabled = false where provider = 'google' and key = 'web'",
      'client_not_found',
      404,
    ],
    record: ["delete from auth.provider_clients where provider = 'google' and key = 'web'", 'client_not_found', 404],
  } as const

  it.each(Object.keys(off) as (keyof typeof off)[])('the %s', async (what) => {
    const [text, error, status] = off[what]
    const begun = await shop.call(startPath('google', newVerifier()))
    const { answer } = google.signIn(begun.headers.get('location')!, newPerson())
    const waiting = await arrive(shop, google, { person: newPerson() })
    await putClient(shop, 'google', {
      key: 'app-off',
      kind: 'native',
      platform: 'ios',
      fields: { ios_client_id: 'off' },
    })
    await shop.sql(text)
    expect((await shop.call(startPath('google', newVerifier()))).json).toMatchObject({ error, status })
    const called = await callback(shop, 'google', answer)
    expect(new URL(called.headers.get('location') ?? 'x:').searchParams.get('error')).toBe(error)
    expect((await exchange(waiting.back!.get('code')!, waiting.verifier)).json).toMatchObject({ error, status })
    if (what === 'provider') {
      const body = {
        client_key: 'app-off',
        id_token: google.idToken('off', 'nonce-nonce', newPerson()),
        nonce: 'nonce-nonce',
      }
      expect((await shop.call('/auth/oauth/google/native', { json: body })).json).toMatchObject({ error, status })
    }
    await enable(shop, google)
    expect((await signInWith(shop, google, { person: newPerson() })).status).toBe(200)
  })

  it('a credential that is missing, or of another kind, sends nothing to the provider', async () => {
    await shop.sql("delete from auth.provider_credentials where provider = 'apple'")
    const before = apple.requests('/token')
    expect(await errorOf(apple, newPerson())).toBe('provider_failed')
    expect(apple.requests('/token')).toBe(before)
    await enable(shop, apple)
    expect((await signInWith(shop, apple, { person: newPerson() })).status).toBe(200)
  })
})

describe('the account of a person', () => {
  const signedUp = async (isConfirmed: boolean) => {
    const person = await shop.signUp()
    if (isConfirmed) await confirm(person.email)
    return person
  }

  it.each([
    ['both sides have confirmed the address', true, true, undefined],
    ['the account has not', false, true, 'account_exists'],
    ['the provider has not', true, false, 'account_exists'],
    ['neither has', false, false, 'account_exists'],
  ] as const)('an address that is known: %s', async (_name, isConfirmed, verified, error) => {
    const { id, email } = await signedUp(isConfirmed)
    const person = newPerson({ email, verified })
    for (const issuer of [google, microsoft, github]) {
      const own = { ...person, sub: `${person.sub}${issuers.all.indexOf(issuer)}` }
      const { back, verifier } = await arrive(shop, issuer, { person: own })
      expect([issuer.dialect, back?.get('error') ?? undefined]).toEqual([issuer.dialect, error])
      const [row] = await shop.sql<{ user_id: string }>('select user_id from auth.identities where subject = $1', [
        own.sub,
      ])
      expect(row).toBeUndefined()
      if (error === undefined) expect((await exchange(back!.get('code')!, verifier)).json.user.id).toBe(id)
    }
    if (error === undefined) {
      expect(await events(id)).toContain('identity.linked')
      expect((await shop.mail(email, 'identity_linked')).text).toContain('You can sign in with')
    }
  })

  it('link_policy: "never" asks for a sign-in first', async () => {
    const { email } = await signedUp(true)
    const policy = (config: object) =>
      shop.sql("update auth.providers set config = $1 where name = 'google'", [JSON.stringify(config)])
    const waiting = await arrive(shop, google, { person: newPerson({ email }) })
    await policy({ link_policy: 'never' })
    expect(await errorOf(google, newPerson({ email }))).toBe('account_exists')
    expect((await exchange(waiting.back!.get('code')!, waiting.verifier)).json.error).toBe('account_exists')
    await policy({ link_policy: 'verified_email' })
    expect(await errorOf(google, newPerson({ email }))).toBeNull()
    await policy({})
  })

  it('Microsoft’s own claim of an address proves nothing, unless its domain’s owner agrees (xms_edov)', async () => {
    const { email } = await signedUp(true)
    const claimed = (claims: object) => newPerson({ email, verified: false, claims: { ...claims } })
    for (const xms_edov of [false, 0, 'yes', 'true ', null, [true]]) {
      expect([xms_edov, await errorOf(microsoft, claimed({ xms_edov }))]).toEqual([xms_edov, 'account_exists'])
    }
    expect(await errorOf(microsoft, claimed({ xms_edov: '1' }))).toBeNull()
  })

  it('an address counts as it is stored: case, and letters of another script', async () => {
    const { id, email } = await signedUp(true)
    const upper = await signInWith(shop, google, { person: newPerson({ email: email.toUpperCase() }) })
    expect(upper.json.user.id).toBe(id)
    const lookalike = await signInWith(shop, google, { person: newPerson({ email: email.replace('p', 'р') }) })
    expect(lookalike.json.user).toMatchObject({ email: null })
  })

  it('the identity decides, whatever becomes of the address', async () => {
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    const other = await signedUp(true)
    const moved = await signInWith(shop, google, { person: { ...person, email: other.email } })
    expect(moved.json.user).toMatchObject({ id: json.user.id, email: person.email })
  })

  it('without an address', async () => {
    const person = { sub: String(90_000 + count++) }
    expect((await signInWith(shop, github, { person })).json.user).toMatchObject({ email: null, email_verified: false })
    await setting({ confirm_email_required: true })
    expect(await errorOf(github, { sub: String(90_000 + count++) })).toBe('email_not_confirmed')
  })

  it('a disabled account', async () => {
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    const waiting = await arrive(shop, google, { person })
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [json.user.id])
    expect(await errorOf(google, person)).toBe('user_disabled')
    expect(await errorOf(github, { ...person, sub: '1' })).toBe('user_disabled')
    expect((await exchange(waiting.back!.get('code')!, waiting.verifier)).json).toMatchObject({
      error: 'user_disabled',
      status: 403,
    })
  })

  it('sign_up_enabled: false lets in those who are known', async () => {
    const person = newPerson()
    await signInWith(shop, google, { person })
    const waiting = await arrive(shop, google, { person: newPerson() })
    await setting({ sign_up_enabled: false })
    expect((await signInWith(shop, google, { person })).status).toBe(200)
    expect(await errorOf(google, newPerson())).toBe('sign_up_disabled')
    expect((await exchange(waiting.back!.get('code')!, waiting.verifier)).json.error).toBe('sign_up_disabled')
  })

  it('the default role and the project’s hook, which may refuse (contract 2.14)', async () => {
    await shop.sql(`create function public.user_created(user_id text, email text, data jsonb) returns void
      language plpgsql security definer set search_path = '' as $$
      begin
        if data ->> 'name' = 'Mallory' then raise exception 'not you' using errcode = 'P0001'; end if;
        update auth.users set custom_claims = data where id = user_id;
      end $$`)
    const { json } = await signInWith(shop, google, {
      person: newPerson({ claims: { picture: 'https://img.example/a' } }),
    })
    const [user] = await shop.sql(
      'select custom_claims, role from auth.users join auth.user_roles on user_id = id where id = $1',
      [json.user.id],
    )
    expect(user).toEqual({
      custom_claims: { provider: 'google', name: 'Ada L.', picture: 'https://img.example/a' },
      role: 'customer',
    })
    const mallory = newPerson({ name: 'Mallory' })
    expect((await signInWith(shop, google, { person: mallory })).json).toMatchObject({
      error: 'sign_up_refused',
      error_description: 'not you',
    })
    expect(await shop.sql('select from auth.users where email = $1', [mallory.email])).toEqual([])
    await shop.sql('drop function public.user_created')
  })
})

describe('where addresses must be confirmed', () => {
  beforeEach(() => setting({ confirm_email_required: true }))

  it('an address that the provider has verified is', async () => {
    expect((await signInWith(shop, google, { person: newPerson() })).status).toBe(200)
  })

  it('any other one gets a mail and no session', async () => {
    const person = newPerson({ verified: false })
    expect((await signInWith(shop, google, { person })).json).toEqual({ status: 'confirmation_required' })
    const { text } = await shop.mail(person.email, 'confirm_email')
    expect((await signInWith(shop, google, { person })).json).toEqual({ status: 'confirmation_required' })
    const [, token] = /token=([\w-]+)/.exec(text)!
    expect((await shop.call('/auth/email/confirm', { json: { token } })).status).toBe(200)
    expect((await signInWith(shop, google, { person })).status).toBe(200)
  })

  it('the provider may verify the address later', async () => {
    const person = newPerson({ verified: false })
    await signInWith(shop, google, { person })
    expect((await signInWith(shop, google, { person: { ...person, verified: true } })).json.user.email_verified).toBe(
      true,
    )
  })

  it('a known address is answered like a new one, where the provider has not verified it', async () => {
    await setting({})
    const { email, id } = await shop.signUpConfirmed()
    await confirm(email)
    await setting({ confirm_email_required: true })
    const { status, json } = await signInWith(shop, google, { person: newPerson({ email, verified: false }) })
    expect([status, json]).toEqual([200, { status: 'confirmation_required' }])
    expect(await shop.sql('select from auth.identities where user_id = $1', [id])).toEqual([])
    expect((await shop.mail(email, 'existing_account')).to).toBe(email)
  })

  it('a stranger’s identity from before goes with the reset of the password', async () => {
    const { email, sub } = newPerson()
    const stranger = { sub, email, verified: false }
    await signInWith(shop, google, { person: stranger })
    await shop.call('/auth/password/forgot', { json: { email } })
    const [, token] = /token=([\w-]+)/.exec((await shop.mail(email, 'reset_password')).text)!
    const reset = await shop.call('/auth/password/reset', { json: { token, password: 'correct horse battery' } })
    expect(reset.status).toBe(200)
    expect(
      (await shop.call('/auth/sign-in/password', { json: { email, password: 'correct horse battery' } })).status,
    ).toBe(200)
    expect((await signInWith(shop, google, { person: stranger })).json).toEqual({ status: 'confirmation_required' })
  })
})

describe('a guest', () => {
  it('becomes an account under the same id, and the guest’s sessions end', async () => {
    const { access_token, user } = await guest()
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person, token: access_token })
    expect(json.user).toMatchObject({ id: user.id, email: person.email, is_anonymous: false })
    expect((await shop.call('/auth/user', { token: access_token })).status).toBe(401)
    expect((await shop.call('/auth/user', { token: json.access_token })).status).toBe(200)
    expect(await events(user.id)).toContain('user.upgraded')
    expect((await signInWith(shop, google, { person })).json.user.id).toBe(user.id)
  })

  it('stays one where the person has an account already', async () => {
    const { access_token, user } = await guest()
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    expect((await signInWith(shop, google, { person, token: access_token })).json.user.id).toBe(json.user.id)
    expect((await shop.call('/auth/user', { token: access_token })).json.id).toBe(user.id)
  })

  it('of 30 upgrades of one guest with other people one succeeds', async () => {
    const { access_token, user } = await guest()
    const arrived = await Promise.all(Array.from({ length: 30 }, () => arrive(shop, google, { person: newPerson() })))
    const answers = await Promise.all(
      arrived.map(({ back, verifier }) => exchange(back!.get('code')!, verifier, access_token)),
    )
    expect(answers.filter(({ json }) => json.user?.id === user.id).length).toBe(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const [row] = await shop.sql<{ n: number }>('select count(*)::int as n from auth.identities where user_id = $1', [
      user.id,
    ])
    expect(row!.n).toBe(1)
  })

  it('a user who is signed in is no guest', async () => {
    const { token, id } = await shop.signUpConfirmed()
    const { json } = await signInWith(shop, google, { person: newPerson(), token })
    expect(json.user.id).not.toBe(id)
  })
})

describe('identities', () => {
  const link = async (
    token: string,
    issuer: MockIssuer,
    person: MockPerson,
    exchangeToken: string | undefined = token,
  ) => {
    const verifier = newVerifier()
    const json = {
      client_key: 'web',
      redirect_to: returnUri,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    }
    const begun = await shop.call(`/auth/identities/${issuer.dialect}/start`, { json, token })
    if (begun.status !== 200) return begun
    const { answer } = issuer.signIn(begun.json.url, person)
    const called = await callback(shop, issuer.dialect, answer)
    const code = new URL(called.headers.get('location')!).searchParams.get('code')!
    return exchange(code, verifier, exchangeToken)
  }
  const unlink = (token: string, provider: string, subject: string) =>
    shop.call(`/auth/identities/${provider}/${encodeURIComponent(subject)}`, { method: 'DELETE', token })

  it('a user adds one, sees it, signs in with it and removes it', async () => {
    const { token, id, email } = await shop.signUpConfirmed()
    const person = newPerson()
    const linked = await link(token, github, person)
    expect(linked.json).toMatchObject({
      status: 'linked',
      identity: { provider: 'github', id: person.sub, email: person.email },
    })
    expect((await shop.mail(email, 'identity_linked')).text).toContain('GitHub')
    expect((await signInWith(shop, github, { person })).json.user.id).toBe(id)
    expect((await shop.call('/auth/identities', { token })).json.data.length).toBe(1)
    expect((await unlink(token, 'github', person.sub)).status).toBe(204)
    expect((await shop.mail(email, 'identity_unlinked')).text).toContain('GitHub')
    expect((await unlink(token, 'github', person.sub)).json.error).toBe('identity_not_found')
    expect((await signInWith(shop, github, { person })).json.user.id).not.toBe(id)
    expect((await events(id)).filter((event) => event.startsWith('identity.'))).toEqual([
      'identity.linked',
      'identity.unlinked',
    ])
  })

  it('nobody adds their identity to the account of another person, whose link they were sent', async () => {
    const attacker = await shop.signUpConfirmed()
    const victim = await shop.signUpConfirmed()
    for (const token of [undefined, victim.token, (await guest()).access_token]) {
      const answer = await link(attacker.token, google, newPerson(), token ?? '')
      expect([answer.status, answer.json.error]).toEqual([401, 'unauthorized'])
    }
    expect((await shop.call('/auth/identities', { token: attacker.token })).json.data).toEqual([])
  })

  it('an identity of another account is not moved', async () => {
    const person = newPerson()
    const owner = await signInWith(shop, google, { person })
    const { token } = await shop.signUpConfirmed()
    expect((await link(token, google, person)).json).toMatchObject({ error: 'identity_taken', status: 409 })
    expect((await signInWith(shop, google, { person })).json.user.id).toBe(owner.json.user.id)
    expect((await unlink(token, 'google', person.sub)).json.error).toBe('identity_not_found')
  })

  it('adding and removing ask for a fresh sign-in, and for an account', async () => {
    const person = await shop.signUpConfirmed()
    await shop.sql("update auth.sessions set auth_time = now() - interval '11 minutes' where user_id = $1", [person.id])
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: person.refreshToken } })
    expect((await link(json.access_token, google, newPerson())).json.error).toBe('recent_sign_in_required')
    expect((await unlink(json.access_token, 'google', '1')).json.error).toBe('recent_sign_in_required')
    expect((await shop.call('/auth/identities', { token: json.access_token })).status).toBe(200)
    const { access_token } = await guest()
    expect((await link(access_token, google, newPerson())).status).toBe(401)
    expect((await link('', google, newPerson())).status).toBe(401)
    expect((await shop.call('/auth/identities')).status).toBe(401)
  })

  it('the last way in stays, however many remove at once', async () => {
    const person = newPerson({ verified: false })
    const { json } = await signInWith(shop, google, { person })
    const token = json.access_token
    expect((await unlink(token, 'google', person.sub)).json).toMatchObject({ error: 'last_way_in', status: 409 })
    const others = [github, apple].map((issuer) => ({ issuer, person: newPerson() }))
    for (const { issuer, person } of others) {
      const values = [issuer.dialect, person.sub, json.user.id]
      await shop.sql('insert into auth.identities (provider, subject, user_id) values ($1, $2, $3)', values)
    }
    const all = [{ issuer: google, person }, ...others]
    const removals = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        unlink(token, all[index % 3]!.issuer.dialect, all[index % 3]!.person.sub),
      ),
    )
    expect(removals.filter(({ status }) => status === 204).length).toBe(2)
    expect(removals.filter(({ status }) => status >= 500)).toEqual([])
    expect((await shop.call('/auth/identities', { token })).json.data.length).toBe(1)
  })

  it('an address that is confirmed is a way in, and so is a password', async () => {
    const person = newPerson()
    const { json } = await signInWith(shop, google, { person })
    expect((await unlink(json.access_token, 'google', person.sub)).status).toBe(204)
  })

  it('30 at once add one identity once', async () => {
    const { token } = await shop.signUpConfirmed()
    const person = newPerson()
    const answers = await Promise.all(Array.from({ length: 30 }, () => link(token, google, person)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await shop.call('/auth/identities', { token })).json.data.length).toBe(1)
  })
})

describe('the audit trail', () => {
  it('has failures with their reason, and no secret', async () => {
    google.tampering = { idToken: ({ claims }) => Object.assign(claims, { nonce: 'x' }) }
    await errorOf(google, newPerson())
    const [entry] = await shop.sql('select * from stack.audit order by id desc limit 1')
    expect(entry).toMatchObject({
      event_type: 'user.sign_in_failed',
      outcome: 'failure',
      reason: 'provider_failed',
      details: { provider: 'google', client_key: 'web' },
    })
    const all = JSON.stringify([await shop.sql('select * from stack.audit'), shop.log])
    for (const secret of [google.clientSecret, 'PRIVATE KEY', 'eyJ']) expect(all).not.toContain(secret)
  })
})
