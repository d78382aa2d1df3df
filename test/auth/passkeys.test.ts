/** What decides in enrolments and sign-ins with passkeys (contract 9.10), in Node against a real Postgres and a software authenticator. */
import { decodeJwt } from 'jose'
import * as v from 'valibot'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { OneTimeTokens } from '../../src/auth/mail/tokens.ts'
import { FactorChanges } from '../../src/auth/mfa/changes.ts'
import { Challenges, Factors, Recovery } from '../../src/auth/mfa/rows.ts'
import { SecondStep } from '../../src/auth/mfa/second-step.ts'
import { digestOf } from '../../src/auth/oauth/secrets.ts'
import { PasskeyHandOffController } from '../../src/auth/passkeys/hand-off.ts'
import { PasskeyOptionsController, PasskeysController } from '../../src/auth/passkeys/routes.ts'
import { PasskeySignIns } from '../../src/auth/passkeys/sign-in.ts'
import { Sessions } from '../../src/auth/sessions/rows.ts'
import { SignIn } from '../../src/auth/sessions/sign-in.ts'
import { type TokenAnswer, Tokens } from '../../src/auth/sessions/tokens.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { type User, Users } from '../../src/auth/users/rows.ts'
import { Assertions } from '../../src/auth/webauthn/assertions.ts'
import { Ceremonies } from '../../src/auth/webauthn/ceremonies.ts'
import { relyingParty } from '../../src/auth/webauthn/relying-party.ts'
import { type Ceremony, Credentials, WebauthnChallenges } from '../../src/auth/webauthn/rows.ts'
import { assertion, registration } from '../../src/auth/webauthn/schemas.ts'
import type { UserT } from '../../src/sdk/user.ts'
import { useAuthModule } from '../support/auth-module.ts'
import { Authenticator, type Lies } from '../support/authenticator.ts'

const { request, codeOf, sql } = useAuthModule()

const told: string[] = []
const notices = {
  toUser: async (_user: unknown, template: string, _client: unknown, { factor_type = '' } = {}) =>
    void told.push(`${template} ${factor_type}`),
} as never
const audit = new Audit()
const limits = new Limits()
const settings = new SettingsRows()
const sessions = new Sessions()
const users = new Users(...([] as unknown as ConstructorParameters<typeof Users>))
const factors = new Factors()
const waiting = new Challenges()
const challenges = new WebauthnChallenges()
const credentials = new Credentials()
const tokens = new OneTimeTokens(limits, settings)
const assertions = new Assertions(audit, challenges, credentials, settings)
const ceremonies = new Ceremonies(challenges, credentials, limits, settings)
const changes = new FactorChanges(audit, notices, users)
const signIns = new SignIn(audit, notices, sessions, new Tokens(new SigningKeys()), users)
const secondStep = new SecondStep(waiting, factors, sessions, signIns)
const own = new PasskeysController(
  assertions,
  audit,
  ceremonies,
  changes,
  credentials,
  factors,
  new Recovery(),
  secondStep,
  sessions,
  users,
)
const proofs = new PasskeySignIns(assertions, audit, limits, settings, users)
const options = new PasskeyOptionsController(ceremonies, waiting, sessions)
const handOffs = new PasskeyHandOffController(secondStep, settings, proofs, tokens, users)

const browser = { ip: '192.0.2.7', country: null, user_agent: 'Browser/1', request_id: 'req_1' }
const http = new Request('https://stack.example/auth', { headers: { 'cf-connecting-ip': '192.0.2.7' } })
const configure = (document: object) => sql('update auth.settings set document = $1', [JSON.stringify(document)])
const entries = async (target: string) =>
  (
    await sql<{ entry: string }>(
      `select concat_ws(' ', event_type, reason) as entry from stack.audit where target_id = $1 order by occurred_at`,
      [target],
    )
  ).map(({ entry }) => entry)

let count = 0
let id: string
/** Claims of the person's own session. */
let claims: object
const caller = () => ({ id }) as UserT

beforeEach(async () => {
  await configure({})
  await sql('delete from auth.rate_limits')
  id = `usr_${count++}`
  await sql('insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())', [id, `${id}@example.com`])
  const user = (await request(() => users.byId(id))) as User
  claims = decodeJwt((await request(() => signIns.begin(user, ['pwd'], browser))).access_token)
  told.length = 0
})

const enrolOptions = () => request(() => own.enrol({ label: 'a telephone' }, caller(), http, 'req_1'), claims)
async function enrol(key: Authenticator, lies?: Lies) {
  const { challenge_id, options } = await enrolOptions()
  const response = { ...key.create(options, lies), type: 'public-key' as const }
  return request(() => own.verify({ challenge_id, response }, caller(), http, 'req_1'), claims)
}
async function enrolled(flags?: ConstructorParameters<typeof Authenticator>[1]) {
  const key = new Authenticator('https://stack.example', flags)
  expect(await enrol(key)).toMatchObject({ factor: { type: 'webauthn' } })
  return key
}
/** What the authenticator answers to the options of a sign-in. */
async function asserted(key: Authenticator, lies?: Lies) {
  const begun = await request(async () => ceremonies.beginSignIn(await ceremonies.admit(browser)))
  const response = { ...key.get(begun.options, lies), type: 'public-key' as const }
  return { challenge_id: begun.challenge_id, response }
}
const prove = async (key: Authenticator, lies?: Lies) => {
  const body = await asserted(key, lies)
  return () => proofs.prove(body, browser)
}

describe('an enrolment', () => {
  it('is written down and told to the owner, and so is its end', async () => {
    await enrolled()
    await request(() => changes.removed(id, { id: 'fac_1', type: 'totp' }, browser))
    expect((await entries(id)).filter((entry) => entry.startsWith('mfa.'))).toEqual(['mfa.enrolled', 'mfa.removed'])
    expect(told).toEqual(['mfa_enrolled a passkey', 'mfa_removed an authenticator app'])
  })

  it('that fails is written down, and one that needs a confirmed address has none', async () => {
    expect(await enrol(new Authenticator('https://evil.example'))).toMatchObject({ code: 'invalid_passkey' })
    expect(await entries(id)).toContain('mfa.failed wrong_passkey')
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await codeOf(() => own.enrol({ label: '' }, caller(), http, 'req_1'), claims)).toBe('email_not_confirmed')
  })

  it('takes an attestation of the key itself, and none of a certificate', async () => {
    const key = () => new Authenticator('https://stack.example')
    expect(await enrol(key(), { selfAttested: true })).toMatchObject({ factor: { type: 'webauthn' } })
    expect(await enrol(key(), { certified: true })).toMatchObject({ code: 'invalid_passkey' })
  })

  it('of a second passkey asks for the first one’s proof', async () => {
    await enrolled()
    const { challenge_id, options } = await enrolOptions()
    await sql(`update auth.sessions set aal = 'aal1' where user_id = $1`, [id])
    const created = new Authenticator('https://stack.example').create(options)
    const response = { ...created, type: 'public-key' as const }
    const verify = () => own.verify({ challenge_id, response }, caller(), http, 'req_1')
    expect(await codeOf(verify, claims)).toBe('second_factor_required')
    expect(await codeOf(() => own.enrol({ label: '' }, caller(), http, 'req_1'), claims)).toBe('second_factor_required')
  })

  it('offers safe algorithms, excludes what the account has, and names no person to the authenticator', async () => {
    const key = await enrolled()
    const { options } = await enrolOptions()
    expect(options.pubKeyCredParams.map(({ alg }) => alg)).toEqual([-8, -7, -257])
    expect(options.excludeCredentials.map((one) => one.id)).toEqual([key.credentialId])
    const handle = Buffer.from(options.user.id, 'base64url').toString('latin1')
    expect([handle.length, handle.includes(id)]).toEqual([32, false])
  })
})

describe('a sign-in', () => {
  it('proves two factors where the authenticator has verified its user, and one elsewhere', async () => {
    const [verified, touched] = [await enrolled(), await enrolled({ uv: false })]
    expect(await request(await prove(verified))).toMatchObject({ user: { id }, amr: ['swk', 'user', 'mfa'] })
    expect(await request(await prove(touched))).toMatchObject({ user: { id }, amr: ['swk', 'user'] })
  })

  it('tells a key that is bound to its device from one that devices share', async () => {
    const [bound, shared] = [await enrolled({ be: false, bs: false }), await enrolled()]
    expect(await request(await prove(bound))).toMatchObject({ amr: ['hwk', 'user', 'mfa'] })
    expect(await request(await prove(shared))).toMatchObject({ amr: ['swk', 'user', 'mfa'] })
  })

  it('is refused where the authenticator names another account, or none', async () => {
    const key = await enrolled()
    const other = Buffer.alloc(32, 'x').toString('base64url')
    for (const userHandle of [other, null])
      expect(await codeOf(await prove(key, { userHandle }))).toBe('invalid_passkey')
    expect(await codeOf(await prove(key))).toBe('done')
  })

  it('is with a passkey of the present host, and of no former one', async () => {
    const former = await enrolled()
    await configure({ site_url: 'https://shop.example' })
    const present = new Authenticator('https://shop.example')
    await enrol(present)
    expect(await codeOf(await prove(present))).toBe('done')
    expect(await codeOf(await prove(former, { origin: 'https://shop.example' }))).toBe('invalid_passkey')
  })

  it('holds the account until it ends', async () => {
    const proof = await prove(await enrolled())
    await request(async () => {
      await proof()
      const disable = sql('select from auth.users where id = $1 for no key update nowait', [id])
      await expect(disable).rejects.toMatchObject({ code: '55P03' })
    })
  })

  it('of a disabled account, and of an address that must be confirmed, is refused', async () => {
    const key = await enrolled()
    await configure({ confirm_email_required: true })
    expect(await codeOf(await prove(key))).toBe('done')
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await codeOf(await prove(key))).toBe('email_not_confirmed')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await codeOf(await prove(key))).toBe('user_disabled')
  })

  it('with a copy of the key is refused, and each failure is written down', async () => {
    const key = await enrolled({ counter: 5 })
    expect(await codeOf(await prove(key, { counter: 9 }))).toBe('done')
    expect(await codeOf(await prove(key, { counter: 9 }))).toBe('invalid_passkey')
    const written = ['passkey.clone_suspected stale_counter', 'user.sign_in_failed stale_counter']
    expect(await entries(id)).toEqual(expect.arrayContaining(written))
  })

  it('and its options are counted by network, whatever becomes of them', async () => {
    const once = { attempts: 1, seconds: 3_600 }
    const key = await enrolled()
    const proof = await prove(key, { tamper: { signature: true } })
    await sql('delete from auth.rate_limits')
    await configure({ rate_limits: { sign_in_per_address: once, passkey_options_per_address: once } })
    expect([await codeOf(proof), await codeOf(proof)]).toEqual(['invalid_passkey', 'rate_limited'])
    const admit = () => ceremonies.admit(browser)
    expect([await codeOf(admit), await codeOf(admit)]).toEqual(['done', 'rate_limited'])
  })
})

it('a challenge is for one purpose, one account and one session', async () => {
  const ceremony = { purpose: 'step_up', userId: id, boundTo: 'ses_1' } as const
  const { id: challenge } = await request(() => challenges.begin(ceremony, ''))
  const consumed = (other: Partial<Ceremony>) =>
    request(() => challenges.consume(challenge, { ...ceremony, ...other }, inRequest))
  for (const other of [{ purpose: 'enrol' }, { userId: 'usr_other' }, { boundTo: 'ses_2' }] as const)
    expect([other, await consumed(other)]).toEqual([other, undefined])
  expect(await consumed({})).toMatchObject({ label: '' })
})

describe('options of a second step', () => {
  const optionsFor = async (amr: string[]) => {
    const mfa_challenge_id = await request(() => waiting.begin(id, amr))
    return request(() => options.secondFactorOptions({ mfa_challenge_id }, http, 'req_1'))
  }

  it('ask for the user’s verification where the first step was a touch, and name this account’s passkeys', async () => {
    await expect(optionsFor(['pwd'])).rejects.toMatchObject({ code: 'factor_not_found' })
    const key = await enrolled()
    const { options } = await optionsFor(['pwd'])
    expect(options.userVerification).toBe('preferred')
    expect(options.allowCredentials.map((one) => one.id)).toEqual([key.credentialId])
    expect((await optionsFor(['swk', 'user'])).options.userVerification).toBe('required')
  })
})

describe('a hand-off to an application', () => {
  const back = 'https://app.example/back'
  const verifier = 'v'.repeat(43)
  const begun = async (flags?: Parameters<typeof enrolled>[0]) => {
    await configure({ redirect_allow_list: [back] })
    const body = await asserted(await enrolled(flags))
    const code_challenge = await digestOf(verifier)
    const asked = { ...body, redirect_to: back, code_challenge, code_challenge_method: 'S256' as const }
    const { location } = (await request(() => handOffs.handOff(asked, http, 'req_1'))) as { location: string }
    return new URL(location).searchParams.get('code')!
  }
  const exchange = (code: string, code_verifier: string) => () =>
    handOffs.exchange({ code, code_verifier }, http, 'req_1')

  it('is good for one attempt within 60 s', async () => {
    const code = await begun()
    const [row] = await sql<{ left: number }>(
      `select extract(epoch from expires_at - created_at)::int as left from auth.one_time_tokens where user_id = $1`,
      [id],
    )
    expect(row).toEqual({ left: 60 })
    expect(await codeOf(exchange(code, 'w'.repeat(43)))).toBe('invalid_code')
    expect(await codeOf(exchange(code, verifier))).toBe('invalid_code')
  })

  it('keeps what was proved', async () => {
    const { access_token } = (await request(exchange(await begun(), verifier))) as TokenAnswer
    expect(decodeJwt(access_token)).toMatchObject({ sub: id, aal: 'aal2', amr: ['swk', 'user', 'mfa'] })
  })

  it('that waits for a second step holds the account until it ends', async () => {
    const code = await begun({ uv: false })
    await request(async () => {
      expect(((await exchange(code, verifier)()) as Response).status).toBe(202)
      const disable = sql('select from auth.users where id = $1 for no key update nowait', [id])
      await expect(disable).rejects.toMatchObject({ code: '55P03' })
    })
  })
})

it('the relying party is the host of site_url, else of the stack', async () => {
  const { id, origins } = await request(async () => relyingParty({ site_url: 'https://shop.example.com/app' }))
  expect([id, origins]).toEqual(['shop.example.com', ['https://shop.example.com', 'https://stack.example']])
  expect(await request(async () => relyingParty({}).id)).toBe('stack.example')
})

it('what a browser sends is bounded', () => {
  const ids = { id: 'AA', rawId: 'AA', type: 'public-key' }
  const created = (attestation: number, transports: number) =>
    v.is(registration, {
      challenge_id: 'wac_1',
      response: {
        ...ids,
        response: {
          clientDataJSON: 'AA',
          attestationObject: 'A'.repeat(attestation),
          transports: Array.from({ length: transports }, () => 'usb'),
        },
      },
    })
  expect([created(8_192, 10), created(8_193, 10), created(8_192, 11)]).toEqual([true, false, false])
  const got = (signature: string) => {
    const response = { clientDataJSON: 'AA', authenticatorData: 'AA', signature }
    return v.is(assertion, { challenge_id: 'wac_1', response: { ...ids, response } })
  }
  expect([got('A'.repeat(4_096)), got('A'.repeat(4_097)), got('AA==')]).toEqual([true, false, false])
})
