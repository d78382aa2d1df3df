/** Every operation of the accounts themselves as a row of the kind of `surface.ts`: what leads to a call that succeeds, and its refusals. */
import { iosApp } from './attestations.ts'
import { Authenticator } from './authenticator.ts'
import { enrolDevice } from './devices.ts'
import { arrive, challengeOf, type mockIssuers, newVerifier, returnUri, startPath } from './providers.ts'
import type { Person } from './stack.ts'
import { type Make, type Row, type SurfaceCall, type World, withSettings } from './surface.ts'
import { codeOf } from './totp.ts'

export interface AccountWorld extends World {
  issuers: ReturnType<typeof mockIssuers>
}

type Flow = Make<AccountWorld>
type AccountRow = Row<AccountWorld>

const password = 'correct horse battery'
const chosen = 'a new horse battery'
const verifier = newVerifier()
const back = 'https://app.example/back'
let count = 0
const address = () => `person-${process.pid.toString(36)}-f${count++}@example.com`
const phone = () => `+4916${String(10_000_000 + ((process.pid * 1_000 + count++) % 89_999_999))}`
const tokenIn = ({ text }: { text: string }) => /[?&]token=([A-Za-z0-9_-]{43})/.exec(text)![1]!
const codeIn = ({ text }: { text: string }) => /(?<!\d)\d{4,10}(?!\d)/.exec(text)![0]

/** A call by a new user. */
const by =
  (call: (world: AccountWorld, person: Person) => SurfaceCall | Promise<SurfaceCall>): Flow =>
  async (world) => {
    const person = await world.stack.signUpConfirmed()
    return { token: person.token, ...(await call(world, person)) }
  }

const post = (world: AccountWorld, path: string, json: unknown, token?: string) =>
  world.stack.call(path, { json, ...(token === undefined ? {} : { token }) })

async function guest({ stack }: AccountWorld): Promise<string> {
  return (await stack.call('/auth/anonymous', { method: 'POST' })).json.access_token
}

async function confirmation(world: AccountWorld): Promise<{ email: string; token: string; code: string }> {
  const email = address()
  await post(world, '/auth/sign-up', { email, password })
  const mail = await world.stack.mail(email, 'confirm_email')
  return { email, token: tokenIn(mail), code: codeIn(mail) }
}

async function forgotten(world: AccountWorld): Promise<{ email: string; token: string }> {
  const { email } = await world.stack.signUp()
  await post(world, '/auth/password/forgot', { email })
  return { email, token: tokenIn(await world.stack.mail(email, 'reset_password')) }
}

async function change(world: AccountWorld): Promise<{ confirm: string; undo: string }> {
  const { email, token } = await world.stack.signUpConfirmed()
  const other = address()
  await post(world, '/auth/email/change', { email: other, current_password: password }, token)
  const undo = tokenIn(await world.stack.mail(email, 'email_change_notice'))
  return { confirm: tokenIn(await world.stack.mail(other, 'email_change_confirm')), undo }
}

async function undone(world: AccountWorld): Promise<string> {
  const { confirm, undo } = await change(world)
  await post(world, '/auth/email/change/confirm', { token: confirm })
  return undo
}

/** A user with an authenticator app that has given its first code. */
async function enrolled(world: AccountWorld) {
  const person = await world.stack.signUpConfirmed()
  const { json } = await post(world, '/auth/mfa/totp/enrol', { label: 'a telephone' }, person.token)
  const { factor_id, secret } = json
  const verified = await post(world, '/auth/mfa/totp/verify', { factor_id, code: codeOf(secret, -1) }, person.token)
  return { ...person, factor_id: factor_id as string, secret: secret as string, codes: verified.json.recovery_codes }
}

/** The page that people see: a relying party is a domain, so a local stack is `localhost`. */
const originOf = ({ stack }: AccountWorld) => new URL(stack.url.replace('127.0.0.1', 'localhost')).origin

async function withPasskey(world: AccountWorld) {
  const person = await world.stack.signUpConfirmed()
  const key = new Authenticator(originOf(world))
  const { json } = await post(world, '/auth/passkeys/enrol', {}, person.token)
  const response = key.create(json.options)
  await post(world, '/auth/passkeys/verify', { challenge_id: json.challenge_id, response }, person.token)
  return { ...person, key }
}

async function assertion(world: AccountWorld, key: Authenticator) {
  const { json } = await world.stack.call('/auth/sign-in/passkey/options', { method: 'POST' })
  return { challenge_id: json.challenge_id as string, response: key.get(json.options) }
}

const begun = { redirect_to: back, code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
const withApp = (make: Flow) => withSettings<AccountWorld>({ device_apps: [iosApp] }, make)
const listed = (make: Flow) => withSettings<AccountWorld>({ redirect_allow_list: [back] }, make)

/** A code of sign-in by phone, for the provider that is open meanwhile. */
async function texted(world: AccountWorld, path = '/auth/sign-in/phone', token?: string) {
  const number = phone()
  await post(world, path, { phone: number }, token)
  return { phone: number, code: codeIn(await world.stack.mail(number)) }
}

const newPerson = () => ({ sub: String(900_000 + count++), email: address(), verified: true, name: 'Ada L.' })

async function linked(world: AccountWorld): Promise<{ token: string; id: string }> {
  const { back: given, verifier: proof } = await arrive(world.stack, world.issuers.google, { person: newPerson() })
  const { json } = await post(world, '/auth/oauth/exchange', { code: given!.get('code'), code_verifier: proof })
  const { json: list } = await world.stack.call('/auth/identities', { token: json.access_token })
  return { token: json.access_token, id: list.data[0].id }
}

const page = (status: number, happy: Flow, refusals: AccountRow['refusals'] = {}): AccountRow => ({
  status,
  happy,
  refusals,
})
const wrongToken = { token: 'A'.repeat(43) }

export const accountFlows: Record<string, AccountRow> = {
  'anonymous.begin': { status: 200, happy: () => ({}) },
  'consents.list': {
    status: 200,
    happy: by(async (world, { token }) => {
      await post(world, '/auth/consents', { document: 'terms', version: '2026-01' }, token)
      return {}
    }),
  },
  'consents.grant': {
    status: 204,
    happy: by(() => ({ json: { document: 'terms', version: '2026-01' } })),
    refusals: { invalid_request: by(() => ({ json: { document: '' } })) },
  },
  'consents.withdraw': { status: 204, happy: by(() => ({ values: { document: 'terms' } })) },
  'devices.challenge': {
    status: 200,
    happy: withApp(by(() => ({ json: { platform: 'ios', application_key: 'shop' } }))),
    refusals: { invalid_request: by(() => ({ json: { platform: 'watch', application_key: 'shop' } })) },
  },
  'devices.enrol': {
    status: 201,
    neverSucceeds: 'the roots of the attestations are pinned',
    happy: () => ({}),
    refusals: {
      attestation_refused: withApp(
        by(async (world, { token }) => {
          const { json } = await post(
            world,
            '/auth/devices/challenge',
            { platform: 'ios', application_key: 'shop' },
            token,
          )
          return { json: { application_key: 'shop', challenge: json.challenge, attestation: 'AAAA' } }
        }),
      ),
    },
  },
  'devices.list': {
    status: 200,
    happy: by(async (world, person) => {
      await enrolDevice(world.stack, person)
      return {}
    }),
  },
  'devices.remove': {
    status: 204,
    happy: by(async (world, person) => ({ values: { id: (await enrolDevice(world.stack, person)).id } })),
    refusals: { device_not_found: by(() => ({ values: { id: 'dev_unknown' } })) },
  },
  'discovery.openid': { status: 200, happy: () => ({}) },
  'discovery.oauth': { status: 200, happy: () => ({}) },
  'emails.confirm': {
    status: 200,
    happy: async (world) => ({ json: { token: (await confirmation(world)).token } }),
    refusals: { invalid_token: () => ({ json: wrongToken }), invalid_request: () => ({ json: { token: 'x' } }) },
  },
  'emails.resend': { status: 202, happy: () => ({ json: { email: address() } }) },
  'emails.change': {
    status: 202,
    happy: by(() => ({ json: { email: address(), current_password: password } })),
    refusals: {
      same_email: by((_, { email }) => ({ json: { email, current_password: password } })),
      invalid_credentials: by(() => ({ json: { email: address(), current_password: 'another password' } })),
    },
  },
  'emails.confirmChange': {
    status: 200,
    happy: async (world) => ({ json: { token: (await change(world)).confirm } }),
    refusals: { invalid_token: () => ({ json: wrongToken }) },
  },
  'emails.undo': {
    status: 200,
    happy: async (world) => ({ json: { token: await undone(world) } }),
    refusals: { invalid_token: () => ({ json: wrongToken }) },
  },
  'health.read': { status: 200, happy: () => ({}) },
  'identities.list': { status: 200, happy: async (world) => ({ token: (await linked(world)).token }) },
  'identities.remove': {
    status: 204,
    happy: async (world) => {
      const { token, id } = await linked(world)
      return { token, values: { provider: 'google', id } }
    },
    refusals: { identity_not_found: by(() => ({ values: { provider: 'google', id: 'unknown' } })) },
  },
  'keys.keySet': { status: 200, happy: () => ({}) },
  'mfa.read': { status: 200, happy: async (world) => ({ token: (await enrolled(world)).token }) },
  'mfa.enrol': {
    status: 200,
    happy: by(() => ({ json: { label: 'a telephone' } })),
    refusals: {
      factor_exists: async (world) => ({ token: (await enrolled(world)).token, json: {} }),
    },
  },
  'mfa.verify': {
    status: 200,
    happy: by(async (world, { token }) => {
      const { json } = await post(world, '/auth/mfa/totp/enrol', {}, token)
      return { json: { factor_id: json.factor_id, code: codeOf(json.secret) } }
    }),
    refusals: { invalid_code: by(() => ({ json: { factor_id: 'fac_unknown', code: '123456' } })) },
  },
  'mfa.stepUp': {
    status: 204,
    happy: async (world) => {
      const { token, secret } = await enrolled(world)
      return { token, json: { code: codeOf(secret) } }
    },
    refusals: {
      invalid_code: async (world) => ({ token: (await enrolled(world)).token, json: { code: '000000' } }),
    },
  },
  'mfa.challenge': {
    status: 200,
    happy: async (world) => {
      const { email, secret } = await enrolled(world)
      const { json } = await post(world, '/auth/sign-in/password', { email, password })
      return { json: { challenge_id: json.challenge_id, code: codeOf(secret) } }
    },
    refusals: { invalid_challenge: () => ({ json: { challenge_id: 'chl_unknown', code: '123456' } }) },
  },
  'mfa.renewRecoveryCodes': {
    status: 200,
    happy: async (world) => ({ token: (await enrolled(world)).token, json: {} }),
  },
  'mfa.remove': {
    status: 204,
    happy: async (world) => {
      const { token, factor_id } = await enrolled(world)
      return { token, values: { factor_id } }
    },
    refusals: { factor_not_found: by(() => ({ values: { factor_id: 'fac_unknown' } })) },
  },
  'oauth.link': {
    status: 200,
    happy: by(() => ({
      values: { provider: 'google' },
      json: {
        client_key: 'web',
        redirect_to: returnUri,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
      },
    })),
    refusals: { invalid_request: by(() => ({ values: { provider: 'google' }, json: {} })) },
  },
  'oauth.start': {
    status: 302,
    happy: () => ({ values: { provider: 'google' }, query: startPath('google', verifier).split('?')[1]! }),
    refusals: {
      invalid_redirect: () => ({
        values: { provider: 'google' },
        query: startPath('google', verifier, { redirect_to: 'https://other.example/' }).split('?')[1]!,
      }),
    },
  },
  'oauth.answered': {
    status: 303,
    happy: async (world) => {
      const started = await world.stack.call(startPath('google', verifier))
      const { answer } = world.issuers.google.signIn(started.headers.get('location')!, newPerson())
      return { values: { provider: 'google' }, query: String(answer) }
    },
  },
  'oauth.posted': {
    status: 303,
    happy: async (world) => {
      const started = await world.stack.call(startPath('apple', verifier))
      const { answer } = world.issuers.apple.signIn(started.headers.get('location')!, newPerson())
      return {
        values: { provider: 'apple' },
        form: Object.fromEntries(answer),
        headers: { origin: 'https://appleid.apple.com', 'sec-fetch-site': 'cross-site' },
      }
    },
  },
  'oauth.exchange': {
    status: 200,
    happy: async (world) => {
      const given = await arrive(world.stack, world.issuers.google, { person: newPerson() })
      return { json: { code: given.back!.get('code'), code_verifier: given.verifier } }
    },
    refusals: { invalid_code: () => ({ json: { code: 'A'.repeat(43), code_verifier: verifier } }) },
  },
  'oauth.native': {
    status: 200,
    happy: (world) => {
      const nonce = newVerifier()
      const person = newPerson()
      const { google } = world.issuers
      const id_token = google.idToken('google-ios', nonce, person)
      return { values: { provider: 'google' }, json: { client_key: 'app-ios', id_token, nonce } }
    },
    refusals: {
      invalid_id_token: () => ({
        values: { provider: 'google' },
        json: { client_key: 'app-ios', id_token: 'a.b.c', nonce: newVerifier() },
      }),
    },
  },
  'pages.confirmPage': page(200, async (world) => ({ query: `token=${(await confirmation(world)).token}` }), {
    incomplete: () => ({}),
  }),
  'pages.confirm': page(200, async (world) => ({ form: { token: (await confirmation(world)).token } }), {
    over: () => ({ form: wrongToken }),
  }),
  'pages.changePage': page(200, async (world) => ({ query: `token=${(await change(world)).confirm}` })),
  'pages.change': page(200, async (world) => ({ form: { token: (await change(world)).confirm } })),
  'pages.undoPage': page(200, async (world) => ({ query: `token=${await undone(world)}` })),
  'pages.undo': page(200, async (world) => ({ form: { token: await undone(world) } })),
  'pages.resend': page(200, () => ({ form: { email: address() } })),
  'pages.reopened': page(404, () => ({ values: { page: 'confirm' } })),
  'pages.passkeyPage': page(
    200,
    listed(() => ({ query: String(new URLSearchParams(begun)) })),
  ),
  'pages.resetPage': page(200, async (world) => ({ query: `token=${(await forgotten(world)).token}` })),
  'pages.reset': page(200, async (world) => ({
    form: { token: (await forgotten(world)).token, password: chosen, repeated: chosen },
  })),
  'pages.forgot': page(200, () => ({ form: { email: address() } })),
  'passkeys.enrol': { status: 200, happy: by(() => ({ json: { label: 'a telephone' } })) },
  'passkeys.verify': {
    status: 200,
    happy: by(async (world, { token }) => {
      const { json } = await post(world, '/auth/passkeys/enrol', {}, token)
      return {
        json: { challenge_id: json.challenge_id, response: new Authenticator(originOf(world)).create(json.options) },
      }
    }),
  },
  'passkeys.handOff': {
    status: 200,
    happy: listed(async (world) => {
      const { key } = await withPasskey(world)
      return { json: { ...(await assertion(world, key)), ...begun } }
    }),
    refusals: {
      invalid_redirect: async (world) => {
        const { key } = await withPasskey(world)
        return { json: { ...(await assertion(world, key)), ...begun } }
      },
    },
  },
  'passkeys.exchange': {
    status: 200,
    happy: listed(async (world) => {
      const { key } = await withPasskey(world)
      const { json } = await post(world, '/auth/sign-in/passkey/hand-off', {
        ...(await assertion(world, key)),
        ...begun,
      })
      return { json: { code: new URL(json.location).searchParams.get('code'), code_verifier: verifier } }
    }),
    refusals: { invalid_code: () => ({ json: { code: 'A'.repeat(43), code_verifier: verifier } }) },
  },
  'passkeys.signInOptions': { status: 200, happy: () => ({}) },
  'passkeys.signIn': {
    status: 200,
    happy: async (world) => ({ json: await assertion(world, (await withPasskey(world)).key) }),
    refusals: {
      invalid_passkey: async (world) => {
        await withPasskey(world)
        const stranger = new Authenticator(originOf(world))
        stranger.userHandle = 'AAAA'
        return { json: await assertion(world, stranger) }
      },
    },
  },
  'passkeys.secondFactorOptions': {
    status: 200,
    happy: async (world) => {
      const { email } = await withPasskey(world)
      const { json } = await post(world, '/auth/sign-in/password', { email, password })
      return { json: { mfa_challenge_id: json.challenge_id } }
    },
    refusals: { invalid_challenge: () => ({ json: { mfa_challenge_id: 'chl_unknown' } }) },
  },
  'passkeys.stepUpOptions': { status: 200, happy: async (world) => ({ token: (await withPasskey(world)).token }) },
  'passwords.forgot': { status: 202, happy: () => ({ json: { email: address() } }) },
  'passwords.reset': {
    status: 200,
    happy: async (world) => ({ json: { token: (await forgotten(world)).token, password: chosen } }),
    refusals: { invalid_token: () => ({ json: { ...wrongToken, password: chosen } }) },
  },
  'passwords.signUp': {
    status: 200,
    happy: () => ({ json: { email: address(), password } }),
    refusals: {
      invalid_password: () => ({ json: { email: address(), password: 'short' } }),
      email_taken: async (world) => ({ json: { email: (await world.stack.signUp()).email, password } }),
      sign_up_disabled: withSettings({ sign_up_enabled: false }, () => ({ json: { email: address(), password } })),
    },
  },
  'passwords.signIn': {
    status: 200,
    happy: async (world) => ({ json: { email: (await world.stack.signUp()).email, password } }),
    refusals: {
      invalid_credentials: () => ({ json: { email: address(), password } }),
      email_not_confirmed: withSettings({ confirm_email_required: true }, async (world) => {
        const email = address()
        await world.stack.call('/auth/sign-up', { json: { email, password } })
        return { json: { email, password } }
      }),
      user_disabled: async (world) => {
        const { id, email } = await world.stack.signUp()
        await world.admin.call('PATCH', `/users/${id}`, { disabled: true })
        return { json: { email, password } }
      },
    },
  },
  'passwords.upgrade': {
    status: 200,
    happy: async (world) => ({ token: await guest(world), json: { email: address(), password } }),
    refusals: { not_anonymous: by(() => ({ json: { email: address(), password } })) },
  },
  'passwords.change': {
    status: 204,
    happy: by(() => ({ json: { current_password: password, password: chosen } })),
    refusals: {
      invalid_credentials: by(() => ({ json: { current_password: 'another password', password: chosen } })),
    },
  },
  'phones.change': { status: 202, happy: by(() => ({ json: { phone: phone() } })) },
  'phones.confirmChange': {
    status: 200,
    happy: by(async (world, { token }) => ({ json: await texted(world, '/auth/phone/change', token) })),
  },
  'phones.remove': {
    status: 204,
    happy: by(async (world, { token }) => {
      await post(world, '/auth/phone/change/confirm', await texted(world, '/auth/phone/change', token), token)
      return {}
    }),
  },
  'phones.requestCode': {
    status: 202,
    happy: () => ({ json: { phone: phone() } }),
    refusals: { invalid_request: () => ({ json: { phone: '0151' } }) },
  },
  'phones.verify': {
    status: 200,
    happy: async (world) => ({ json: await texted(world) }),
    refusals: { invalid_code: () => ({ json: { phone: phone(), code: '123456' } }) },
  },
  'sessions.refresh': {
    status: 200,
    happy: async (world) => ({ json: { refresh_token: (await world.stack.signUp()).refreshToken } }),
    refusals: { invalid_refresh_token: () => ({ json: { refresh_token: 'rt_AAAA' } }) },
  },
  'sessions.list': { status: 200, happy: by(() => ({})) },
  'sessions.end': {
    status: 204,
    happy: by(async (world, { token }) => {
      const { json } = await world.stack.call('/auth/sessions', { token })
      return { values: { id: json.data[0].id } }
    }),
    refusals: { session_not_found: by(() => ({ values: { id: 'ses_unknown' } })) },
  },
  'sessions.signOut': { status: 200, happy: by(() => ({ json: { scope: 'local' } })) },
  'users.read': { status: 200, happy: by(() => ({})) },
  'users.remove': { status: 204, happy: by(() => ({})) },
}
