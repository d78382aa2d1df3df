/** Passkeys over HTTP: enrolment, sign-in without a password, the second factor, and what hostile clients and many attempts at once can do. */
import { afterEach, describe, expect, it } from 'vitest'
import { Authenticator, type Lies } from '../../support/authenticator.ts'
import { type Answer, useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const management = '/v1/management/auth'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const settings = (json: object) => shop.call(`${management}/settings`, { method: 'PUT', json, headers: asService() })
const withPassword = (email: string) => shop.call('/auth/sign-in/password', { json: { email, password } })
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
/** The page that people see: a relying party is a domain, so a local stack is `localhost`. */
const origin = () => shop.url.replace('127.0.0.1', 'localhost')
const eventsOf = (id: string) =>
  shop.sql<{ event_type: string; reason: string | null }>(
    'select event_type, reason from auth.audit where target_id = $1 order by id',
    [id],
  )
/** The notices of an account, oldest first. */
const mailsOf = async (id: string) => {
  const rows = await shop.sql<{ template: string }>(
    `select template from auth.outbox where user_id = $1 and template like 'mfa%' order by id`,
    [id],
  )
  return rows.map(({ template }) => template)
}
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort()
const many = <T>(make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 30 }, (_, index) => make(index)))

const signInOptions = async () => (await shop.call('/auth/sign-in/passkey/options', { method: 'POST' })).json
async function enrolOptions(token: string, json: object = {}) {
  return (await shop.call('/auth/passkeys/enrol', { token, json })).json
}

/** Enrols a passkey of the person. */
async function add(token: string, key: Authenticator, lies?: Lies) {
  const { challenge_id, options } = await enrolOptions(token, { label: 'a telephone' })
  return shop.call('/auth/passkeys/verify', { token, json: { challenge_id, response: key.create(options, lies) } })
}

async function enrolled(flags?: ConstructorParameters<typeof Authenticator>[1]) {
  const person = await shop.signUpConfirmed()
  const key = new Authenticator(origin(), flags)
  const { status, json, text } = await add(person.token, key)
  expect([status, text]).toEqual([200, expect.any(String)])
  return { ...person, key, factor: json.factor, recoveryCodes: json.recovery_codes as string[] }
}

async function signIn(key: Authenticator, lies?: Lies) {
  const { challenge_id, options } = await signInOptions()
  return shop.call('/auth/sign-in/passkey', { json: { challenge_id, response: key.get(options, lies) } })
}

/** A sign-in by password that waits for its second factor, and the options of a passkey for it. */
async function waiting(email: string) {
  const { status, json } = await withPassword(email)
  expect(status).toBe(202)
  const answer = await shop.call('/auth/mfa/passkey/options', { json: { mfa_challenge_id: json.challenge_id } })
  return { challenge: json, passkey: answer.json }
}

const finish = (challenge_id: string, passkey: object) =>
  shop.call('/auth/mfa/challenge', { json: { challenge_id, passkey } })

afterEach(async () => {
  await shop.sql('delete from auth.rate_limits')
  await settings({})
})

/** The address proves nothing any more: it is no way in. */
const unconfirm = (id: string) => shop.sql('update auth.users set email_confirmed_at = null where id = $1', [id])

describe('enrolment', () => {
  it('gives the options of a discoverable credential, and no email address as its user handle', async () => {
    const { token, email, id } = await shop.signUpConfirmed()
    const { challenge_id, options } = await enrolOptions(token)
    expect(challenge_id).toMatch(/^wac_/)
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'localhost' },
      user: { name: email, displayName: email },
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
      attestation: 'none',
      excludeCredentials: [],
    })
    expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32)
    const handle = Buffer.from(options.user.id, 'base64url')
    expect(handle).toHaveLength(32)
    expect([handle.includes(email), handle.includes(id)]).toEqual([false, false])
  })

  it('gives the factor and recovery codes, raises the session, and shows no key afterwards', async () => {
    const { token, refreshToken, factor, recoveryCodes, key, id } = await enrolled()
    expect(factor).toEqual({
      id: expect.stringMatching(/^fac_/),
      type: 'webauthn',
      status: 'verified',
      label: 'a telephone',
      created_at: expect.any(String),
      verified_at: expect.any(String),
      last_used_at: null,
      backed_up: true,
    })
    expect(new Set(recoveryCodes).size).toBe(10)
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
    expect(claimsOf(json.access_token)).toMatchObject({ aal: 'aal2', amr: ['mfa', 'pwd', 'swk', 'user'] })
    const read = await shop.call('/auth/mfa', { token })
    expect(read.json).toMatchObject({ factors: [factor], recovery_codes: { total: 10, remaining: 10 } })
    expect(read.text).not.toContain(key.credentialId)
    expect((await eventsOf(id)).map(({ event_type }) => event_type)).toContain('mfa.enrolled')
    expect(await mailsOf(id)).toEqual(['mfa_enrolled'])
  })

  it('a second passkey gives no new codes, and its options exclude the first', async () => {
    const { token, key, recoveryCodes, email } = await enrolled()
    const { options } = await enrolOptions(token)
    expect(options.excludeCredentials).toEqual([
      { type: 'public-key', id: key.credentialId, transports: ['internal', 'hybrid'] },
    ])
    expect(() => key.create(options)).toThrow('InvalidStateError')
    const second = await add(token, new Authenticator(origin()))
    expect([second.status, second.json.recovery_codes]).toEqual([200, null])
    const { json } = await withPassword(email)
    const done = await shop.call('/auth/mfa/challenge', {
      json: { challenge_id: json.challenge_id, recovery_code: recoveryCodes[0] },
    })
    expect(done.status).toBe(200)
  })

  it('asks for a recent sign-in, an account, and the second factor that there is', async () => {
    const { token, email, id } = await enrolled()
    const enrol = (as?: string) => shop.call('/auth/passkeys/enrol', { json: {}, ...(as ? { token: as } : {}) })
    expect((await enrol(token)).status).toBe(200)
    expect((await enrol()).status).toBe(401)
    expect((await enrol((await shop.call('/auth/anonymous', { method: 'POST' })).json.access_token)).status).toBe(401)
    await shop.sql(`update auth.sessions set aal = 'aal1' where user_id = $1`, [id])
    expect((await enrol(token)).json.error).toBe('second_factor_required')
    const started = await enrolOptions((await shop.signUpConfirmed()).token)
    expect(started.challenge_id).toBeDefined()
    const other = await shop.signUpConfirmed()
    const { options } = await enrolOptions(other.token)
    const stolen = { challenge_id: started.challenge_id, response: new Authenticator(origin()).create(options) }
    expect((await shop.call('/auth/passkeys/verify', { token: other.token, json: stolen })).json.error).toBe(
      'invalid_passkey',
    )
    expect((await withPassword(email)).status).toBe(202)
  })

  it('takes an attestation that the key itself has signed', async () => {
    const { token } = await shop.signUpConfirmed()
    expect((await add(token, new Authenticator(origin()), { selfAttested: true })).status).toBe(200)
  })

  it.each<[string, Lies]>([
    ['of another origin', { origin: 'https://attacker.example' }],
    ['in a frame of another origin', { crossOrigin: true, topOrigin: 'https://attacker.example' }],
    ['for another domain', { rpId: 'attacker.example' }],
    ['with another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['that is an assertion', { type: 'webauthn.get' }],
    ['without a person', { flags: { up: false } }],
    ['with a backup of a key that cannot have one', { flags: { be: false, bs: true } }],
    ['with another id than the attested one', { credentialId: 'AAAA' }],
    ['with a statement beside “none”', { tamper: { attestation: 'statement' } }],
    ['with a wrong signature of its own', { selfAttested: true, tamper: { attestation: 'statement' } }],
    ['with a certificate that was not asked for', { certified: true }],
    ['whose key is cut off', { tamper: { attestation: 'bytes' } }],
    ['whose key is no point of its curve', { tamper: { attestation: 'point' } }],
  ])('refuses a credential %s', async (_title, lies) => {
    const { token, id } = await shop.signUpConfirmed()
    const answer = await add(token, new Authenticator(origin()), lies)
    expect(answer.json).toMatchObject({ error: 'invalid_passkey', status: 401 })
    expect((await shop.call('/auth/mfa', { token })).json.factors).toEqual([])
    expect(await eventsOf(id)).toContainEqual({ event_type: 'mfa.failed', reason: 'wrong_passkey' })
    expect((await add(token, new Authenticator(origin()))).status).toBe(200)
  })

  it('refuses what is no credential at all with 400, and one that is too long with 413', async () => {
    const { token } = await shop.signUpConfirmed()
    const { challenge_id, options } = await enrolOptions(token)
    const good = new Authenticator(origin()).create(options)
    const send = (response: unknown) => shop.call('/auth/passkeys/verify', { token, json: { challenge_id, response } })
    const inner = (part: object) => ({ ...good, response: { ...good.response, ...part } })
    expect((await send(inner({ attestationObject: '%%%' }))).json.error).toBe('invalid_request')
    expect((await send(inner({ attestationObject: 'A'.repeat(8_193) }))).json.error).toBe('invalid_request')
    expect((await send(inner({ transports: ['<script>'] }))).json.error).toBe('invalid_request')
    expect((await send(null)).json.error).toBe('invalid_request')
    expect((await send(inner({ attestationObject: 'A'.repeat(70_000) }))).json.error).toBe('payload_too_large')
    // 12,000 nested lists of CBOR, within the limit of the field
    expect((await send(inner({ attestationObject: 'gYGB'.repeat(2_000) }))).json.error).toBe('invalid_passkey')
    expect((await send(good)).json.error).toBe('invalid_passkey') // the challenge is used up
  })

  it('a credential belongs to one account', async () => {
    const { key } = await enrolled()
    const other = await shop.signUpConfirmed()
    expect((await add(other.token, key)).json).toMatchObject({ error: 'passkey_exists', status: 409 })
  })

  it('one challenge enrols one passkey, however many answer it at the same time', async () => {
    const { token } = await shop.signUpConfirmed()
    const { challenge_id, options } = await enrolOptions(token)
    const answers = await many(() => {
      const response = new Authenticator(origin()).create(options)
      return shop.call('/auth/passkeys/verify', { token, json: { challenge_id, response } })
    })
    expect(statusesOf(answers)).toEqual([200, ...Array(29).fill(401)])
  })

  it('an account has 20 passkeys at most, also when 30 sessions add one each', async () => {
    const { email, id } = await shop.signUpConfirmed()
    const tokens: string[] = []
    for (let count = 0; count < 30; count++) tokens.push((await withPassword(email)).json.access_token)
    await shop.sql(`update auth.sessions set aal = 'aal2' where user_id = $1`, [id])
    const answers = await many((index) => add(tokens[index]!, new Authenticator(origin())))
    expect(statusesOf(answers)).toEqual([...Array(20).fill(200), ...Array(10).fill(409)])
    const codes = answers.filter(({ json }) => json.recovery_codes !== null && json.recovery_codes !== undefined)
    expect(codes).toHaveLength(1)
    expect((await shop.call('/auth/passkeys/enrol', { token: tokens[0]!, json: {} })).json.error).toBe(
      'too_many_passkeys',
    )
  })
})

describe('sign-in with a passkey', () => {
  it('needs neither name nor password; the options tell of no account', async () => {
    const { key, id, email } = await enrolled()
    const { options } = await signInOptions()
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'preferred', allowCredentials: [] })
    const { status, json } = await signIn(key)
    expect([status, json.user.id, json.user.email]).toEqual([200, id, email])
    expect(claimsOf(json.access_token)).toMatchObject({ aal: 'aal2', amr: ['swk', 'user', 'mfa'] })
    expect((await shop.call('/orders', { token: json.access_token })).status).toBe(200)
    const [factor] = (await shop.call('/auth/mfa', { token: json.access_token })).json.factors
    expect(factor.last_used_at).not.toBeNull()
  })

  it.each(['ES256', 'EdDSA', 'RS256'] as const)('takes %s, which the options offer', async (type) => {
    const { key, token } = await enrolled({ key: type })
    expect((await signIn(key)).status).toBe(200)
    expect((await signIn(key, { tamper: { signature: true } })).json.error).toBe('invalid_passkey')
    const { pubKeyCredParams } = (await enrolOptions(token)).options
    expect(pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257])
  })

  it('an RSA key of 1,024 bits is refused', async () => {
    const { token } = await shop.signUpConfirmed()
    expect((await add(token, new Authenticator(origin(), { key: 'RSA1024' }))).json.error).toBe('invalid_passkey')
  })

  it('a key that is bound to its device is a hardware key', async () => {
    const { key } = await enrolled({ be: false, bs: false, counter: 7 })
    const { json } = await signIn(key)
    expect(claimsOf(json.access_token).amr).toEqual(['hwk', 'user', 'mfa'])
    expect((await signIn(key)).status).toBe(200)
  })

  it.each<[string, Lies]>([
    ['another origin', { origin: 'https://attacker.example' }],
    ['a frame of another origin', { crossOrigin: true }],
    ['another domain', { rpId: 'attacker.example' }],
    ['another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['an enrolment', { type: 'webauthn.create' }],
    ['a changed signature', { tamper: { signature: true } }],
    ['changed authenticator data', { tamper: { authenticatorData: true } }],
    ['nobody present', { flags: { up: false } }],
    ['other backup flags than at enrolment', { flags: { be: false, bs: false } }],
    ['no user handle', { userHandle: null }],
    ['another user handle', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['an unknown credential', { credentialId: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ])('%s is refused with one and the same answer', async (_title, lies) => {
    const { key } = await enrolled()
    const answer = await signIn(key, lies)
    expect(answer.json).toEqual({
      error: 'invalid_passkey',
      error_description: 'the passkey was not accepted: try again',
      status: 401,
      request_id: expect.any(String),
    })
    expect((await signIn(key)).status).toBe(200)
  })

  it('another user’s credential is refused, also with the owner’s handle', async () => {
    const [victim, thief] = [await enrolled(), await enrolled()]
    const claimed = { credentialId: victim.key.credentialId, userHandle: victim.key.userHandle! }
    expect((await signIn(thief.key, claimed)).json.error).toBe('invalid_passkey')
    expect((await signIn(thief.key, { credentialId: victim.key.credentialId })).json.error).toBe('invalid_passkey')
    expect(await eventsOf(victim.id)).toContainEqual({ event_type: 'user.sign_in_failed', reason: 'wrong_passkey' })
  })

  it('a challenge that is used, over, unknown or of another purpose is refused', async () => {
    const { key, token, email } = await enrolled()
    const send = (challenge_id: string, response: unknown) =>
      shop.call('/auth/sign-in/passkey', { json: { challenge_id, response } })
    const { challenge_id, options } = await signInOptions()
    const response = key.get(options)
    expect((await send('wac_unknown', response)).json.error).toBe('invalid_passkey')
    expect((await send(challenge_id, response)).status).toBe(200)
    expect((await send(challenge_id, response)).json.error).toBe('invalid_passkey')
    const aged = await signInOptions()
    await shop.sql(`update auth.webauthn_challenges set expires_at = now() - interval '1 second' where id = $1`, [
      aged.challenge_id,
    ])
    expect((await send(aged.challenge_id, key.get(aged.options))).json.error).toBe('invalid_passkey')
    const stepUp = (await shop.call('/auth/mfa/step-up/passkey/options', { method: 'POST', token })).json
    expect((await send(stepUp.challenge_id, key.get(stepUp.options))).json.error).toBe('invalid_passkey')
    const enrol = await enrolOptions(token)
    expect((await send(enrol.challenge_id, key.get({ ...enrol.options, rpId: 'localhost' }))).status).toBe(401)
    const { passkey } = await waiting(email)
    expect((await send(passkey.challenge_id, key.get(passkey.options))).json.error).toBe('invalid_passkey')
  })

  it('a failed attempt uses the challenge up', async () => {
    const { key } = await enrolled()
    const { challenge_id, options } = await signInOptions()
    const send = (lies?: Lies) =>
      shop.call('/auth/sign-in/passkey', { json: { challenge_id, response: key.get(options, lies) } })
    expect((await send({ tamper: { signature: true } })).status).toBe(401)
    expect((await send()).status).toBe(401)
  })

  it('what is no assertion is 400, and what is too long is 413', async () => {
    const { key } = await enrolled()
    const { challenge_id, options } = await signInOptions()
    const good = key.get(options)
    const send = (response: unknown, more = {}) =>
      shop.call('/auth/sign-in/passkey', { json: { challenge_id, response, ...more } })
    const inner = (part: object) => ({ ...good, response: { ...good.response, ...part } })
    for (const part of [{ signature: '***' }, { clientDataJSON: 'e30=' }, { authenticatorData: 7 }, { signature: '' }])
      expect((await send(inner(part))).json.error).toBe('invalid_request')
    expect((await send(good, { unknown: 1 })).json.error).toBe('invalid_request')
    expect((await send({ ...good, type: 'password' })).json.error).toBe('invalid_request')
    expect((await send(inner({ signature: 'A'.repeat(70_000) }))).json.error).toBe('payload_too_large')
    expect((await send(inner({ futureMember: { any: 'thing' } }))).status).toBe(200)
    for (const part of [{ signature: 'AA' }, { clientDataJSON: 'bnVsbA' }, { authenticatorData: 'AAAA' }]) {
      const { challenge_id, options } = await signInOptions()
      const response = key.get(options)
      const json = { challenge_id, response: { ...response, response: { ...response.response, ...part } } }
      expect((await shop.call('/auth/sign-in/passkey', { json })).json.error).toBe('invalid_passkey')
    }
  })

  it('of thirty uses of one assertion one signs in, with a counter and without', async () => {
    for (const counter of [0, 5]) {
      const { key, id } = await enrolled({ counter })
      const { challenge_id, options } = await signInOptions()
      const json = { challenge_id, response: key.get(options) }
      const answers = await many(() => shop.call('/auth/sign-in/passkey', { json }))
      expect(statusesOf(answers)).toEqual([200, ...Array(29).fill(401)])
      const events = (await eventsOf(id)).filter(({ event_type }) => event_type === 'user.signed_in')
      expect(events).toHaveLength(2) // the sign-up was the first
    }
  })

  it('a counter that does not grow is a clone: refused and recorded, and the passkey stays', async () => {
    const { key, id } = await enrolled({ counter: 5 })
    expect((await signIn(key, { counter: 9 })).status).toBe(200)
    for (const counter of [9, 3, 0]) expect((await signIn(key, { counter })).json.error).toBe('invalid_passkey')
    const suspicions = (await eventsOf(id)).filter(({ event_type }) => event_type === 'passkey.clone_suspected')
    expect(suspicions).toHaveLength(3)
    expect((await signIn(key, { counter: 10 })).status).toBe(200)
    const [row] = await shop.sql('select sign_count::int from auth.mfa_factors where user_id = $1', [id])
    expect(row).toEqual({ sign_count: 10 })
    expect((await signIn(key, { counter: 3, tamper: { signature: true } })).status).toBe(401)
    expect((await eventsOf(id)).filter(({ event_type }) => event_type === 'passkey.clone_suspected')).toHaveLength(3)
  })

  it('of thirty assertions with one counter one signs in', async () => {
    const { key } = await enrolled({ counter: 5 })
    const begun = await many(signInOptions)
    const answers = await Promise.all(
      begun.map(({ challenge_id, options }) =>
        shop.call('/auth/sign-in/passkey', { json: { challenge_id, response: key.get(options, { counter: 77 }) } }),
      ),
    )
    expect(statusesOf(answers)).toEqual([200, ...Array(29).fill(401)])
  })

  it('a disabled account is told so, and an address that must be confirmed', async () => {
    const { key, id } = await enrolled()
    await unconfirm(id)
    await settings({ confirm_email_required: true })
    expect((await signIn(key)).json).toMatchObject({ error: 'email_not_confirmed', status: 403 })
    await shop.sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    expect((await signIn(key)).status).toBe(200)
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect((await signIn(key)).json).toMatchObject({ error: 'user_disabled', status: 403 })
    expect((await signIn(key, { tamper: { signature: true } })).json.error).toBe('invalid_passkey')
  })

  it('attempts and options count under the network of the client', async () => {
    const from = { 'cf-connecting-ip': '203.0.113.9' }
    const { key } = await enrolled()
    await settings({
      rate_limits: {
        sign_in_per_address: { attempts: 2, seconds: 600 },
        passkey_options_per_address: { attempts: 3, seconds: 600 },
      },
    })
    const options = () => shop.call('/auth/sign-in/passkey/options', { method: 'POST', headers: from })
    const { json } = await options()
    const attempt = { challenge_id: json.challenge_id, response: key.get(json.options) }
    const send = (headers = {}) => shop.call('/auth/sign-in/passkey', { json: attempt, headers })
    expect(statusesOf([await send(from), await send(from), await send(from)])).toEqual([200, 401, 429])
    expect((await send()).status).toBe(401)
    expect(statusesOf([await options(), await options(), await options()])).toEqual([200, 200, 429])
  })
})

describe('a passkey that has not verified its user', () => {
  it('is one factor: the second one is asked for, and holding the same key is none', async () => {
    const { key } = await enrolled({ uv: false })
    const first = await signIn(key)
    expect([first.status, first.json]).toEqual([
      202,
      {
        mfa_required: true,
        challenge_id: expect.any(String),
        factors: [expect.objectContaining({ type: 'webauthn' })],
      },
    ])
    const ask = async () =>
      (await shop.call('/auth/mfa/passkey/options', { json: { mfa_challenge_id: first.json.challenge_id } })).json
    const touched = await ask()
    expect(touched.options.userVerification).toBe('required')
    const refused = await finish(first.json.challenge_id, {
      challenge_id: touched.challenge_id,
      response: key.get(touched.options),
    })
    expect(refused.json).toMatchObject({ error: 'invalid_passkey', status: 401 })
    const asked = await ask()
    const done = await finish(first.json.challenge_id, {
      challenge_id: asked.challenge_id,
      response: key.get(asked.options, { flags: { uv: true } }),
    })
    expect([done.status, claimsOf(done.json.access_token)]).toEqual([
      200,
      expect.objectContaining({ aal: 'aal2', amr: ['swk', 'user', 'mfa'] }),
    ])
  })

  it('goes on with a recovery code', async () => {
    const { key, recoveryCodes } = await enrolled({ uv: false })
    const { json } = await signIn(key)
    const recovery_code = recoveryCodes[0]
    const done = await shop.call('/auth/mfa/challenge', { json: { challenge_id: json.challenge_id, recovery_code } })
    expect(claimsOf(done.json.access_token).amr).toEqual(['swk', 'user', 'recovery', 'mfa'])
  })
})

describe('a passkey as second factor', () => {
  it('follows the password; the options name the account’s passkeys', async () => {
    const { email, key, factor } = await enrolled({ uv: false })
    const { challenge, passkey } = await waiting(email)
    expect(challenge.factors).toEqual([{ id: factor.id, type: 'webauthn', label: 'a telephone' }])
    expect(passkey.options).toMatchObject({
      userVerification: 'preferred',
      allowCredentials: [{ type: 'public-key', id: key.credentialId, transports: ['internal', 'hybrid'] }],
    })
    const response = key.get(passkey.options)
    const done = await finish(challenge.challenge_id, { challenge_id: passkey.challenge_id, response })
    expect([done.status, claimsOf(done.json.access_token)]).toEqual([
      200,
      expect.objectContaining({ aal: 'aal2', amr: ['pwd', 'swk', 'user', 'mfa'] }),
    ])
    const again = await finish(challenge.challenge_id, { challenge_id: passkey.challenge_id, response })
    expect(again.json.error).toBe('invalid_challenge')
  })

  it('another account’s passkey is refused, and the challenge of another sign-in', async () => {
    const [owner, other] = [await enrolled(), await enrolled()]
    const { challenge, passkey } = await waiting(owner.email)
    const foreign = other.key.get({ ...passkey.options, allowCredentials: [] })
    const attempt = await finish(challenge.challenge_id, { challenge_id: passkey.challenge_id, response: foreign })
    expect(attempt.json).toMatchObject({ error: 'invalid_passkey', status: 401 })
    const second = await waiting(owner.email)
    const crossed = await finish(challenge.challenge_id, {
      challenge_id: second.passkey.challenge_id,
      response: owner.key.get(second.passkey.options),
    })
    expect(crossed.json.error).toBe('invalid_passkey')
    const own = await finish(second.challenge.challenge_id, {
      challenge_id: second.passkey.challenge_id,
      response: owner.key.get(second.passkey.options),
    })
    expect(own.status).toBe(200)
    const [failed] = (await eventsOf(owner.id)).filter(({ event_type }) => event_type === 'mfa.failed')
    expect(failed!.reason).toBe('unknown_passkey')
  })

  it('options need a sign-in that waits, and an account with a passkey', async () => {
    const ask = (mfa_challenge_id: string) => shop.call('/auth/mfa/passkey/options', { json: { mfa_challenge_id } })
    expect((await ask('chl_unknown')).json).toMatchObject({ error: 'invalid_challenge', status: 401 })
    const { email, id } = await enrolled()
    const { json } = await withPassword(email)
    expect((await ask(json.challenge_id)).status).toBe(200)
    await shop.sql(`delete from auth.mfa_factors where user_id = $1`, [id])
    expect((await ask(json.challenge_id)).json.error).toBe('factor_not_found')
  })

  it('of thirty tries with one assertion one signs in, and attempts count against the account', async () => {
    const { email, key } = await enrolled()
    await settings({ rate_limits: { second_factor_per_account: { attempts: 1_000, seconds: 60 } } })
    const { challenge, passkey } = await waiting(email)
    const response = key.get(passkey.options)
    const answers = await many(() => finish(challenge.challenge_id, { challenge_id: passkey.challenge_id, response }))
    expect(statusesOf(answers)).toEqual([200, ...Array(29).fill(401)])
    await settings({ rate_limits: { second_factor_per_account: { attempts: 1, seconds: 600 } } })
    await shop.sql('delete from auth.rate_limits')
    const next = await waiting(email)
    const wrong = key.get(next.passkey.options, { tamper: { signature: true } })
    const tries = [
      await finish(next.challenge.challenge_id, { challenge_id: next.passkey.challenge_id, response: wrong }),
      await finish(next.challenge.challenge_id, { challenge_id: next.passkey.challenge_id, response: wrong }),
    ]
    expect(statusesOf(tries)).toEqual([401, 429])
  })

  it('raises a session that asked for it, and no other session', async () => {
    const person = await shop.signUpConfirmed()
    const early = (await withPassword(person.email)).json
    const another = (await withPassword(person.email)).json
    const key = new Authenticator(origin())
    expect((await add(person.token, key)).status).toBe(200)
    const options = async (token: string) =>
      (await shop.call('/auth/mfa/step-up/passkey/options', { method: 'POST', token })).json
    const stepUp = (token: string, challenge_id: string, response: unknown) =>
      shop.call('/auth/mfa/step-up', { token, json: { passkey: { challenge_id, response } } })
    const codes = () => shop.call('/auth/mfa/recovery-codes', { method: 'POST', token: early.access_token })
    expect((await codes()).json.error).toBe('second_factor_required')
    const foreign = await options(another.access_token)
    const crossed = await stepUp(early.access_token, foreign.challenge_id, key.get(foreign.options))
    expect(crossed.json.error).toBe('invalid_passkey')
    const own = await options(early.access_token)
    expect((await stepUp(early.access_token, own.challenge_id, key.get(own.options))).status).toBe(204)
    expect((await codes()).status).toBe(200)
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: early.refresh_token } })
    expect(claimsOf(json.access_token)).toMatchObject({ aal: 'aal2', amr: ['mfa', 'pwd', 'swk', 'user'] })
    expect((await shop.call('/auth/mfa/step-up/passkey/options', { method: 'POST' })).status).toBe(401)
  })

  it('stands beside an authenticator app', async () => {
    const { token, factor, email } = await enrolled()
    const { status, json } = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
    expect([status, json.secret]).toEqual([200, expect.any(String)])
    expect((await shop.call('/auth/mfa', { token })).json.factors).toHaveLength(2)
    expect((await withPassword(email)).json.factors.map(({ id }: { id: string }) => id)).toEqual([factor.id])
  })
})

describe('removal', () => {
  const remove = (token: string, id: string) => shop.call(`/auth/mfa/${id}`, { method: 'DELETE', token })

  it('takes the passkey and, with the last factor, the recovery codes', async () => {
    const { token, factor, key, email, id } = await enrolled()
    const second = (await add(token, new Authenticator(origin()))).json.factor
    const stranger = await enrolled()
    expect((await remove(stranger.token, factor.id)).json.error).toBe('factor_not_found')
    expect((await remove(token, factor.id)).status).toBe(204)
    expect((await signIn(key)).json.error).toBe('invalid_passkey')
    expect((await shop.call('/auth/mfa', { token })).json.recovery_codes).toMatchObject({ remaining: 10 })
    expect((await remove(token, second.id)).status).toBe(204)
    expect((await shop.call('/auth/mfa', { token })).json).toEqual({ factors: [], recovery_codes: null })
    expect((await withPassword(email)).status).toBe(200)
    expect((await eventsOf(id)).filter(({ event_type }) => event_type === 'mfa.removed')).toHaveLength(2)
    expect(await mailsOf(id)).toEqual(['mfa_enrolled', 'mfa_enrolled', 'mfa_removed', 'mfa_removed'])
  })

  it('leaves the last way in, whichever that is', async () => {
    const { token, factor, id } = await enrolled()
    await shop.sql('delete from auth.password_credentials where user_id = $1', [id])
    const refused = async () =>
      expect((await remove(token, factor.id)).json).toMatchObject({ error: 'last_way_in', status: 409 })
    const ways: [string, string][] = [
      [
        `insert into auth.identities (provider, subject, user_id) values ('google', $1, $1)`,
        'delete from auth.identities where user_id = $1',
      ],
      [
        `update auth.users set phone = '+15550001111', phone_confirmed_at = now() where id = $1`,
        'update auth.users set phone = null, phone_confirmed_at = null where id = $1',
      ],
      [
        'update auth.users set email_confirmed_at = now() where id = $1',
        'update auth.users set email_confirmed_at = null where id = $1',
      ],
      [
        `insert into auth.password_credentials (user_id, phc) values ($1, '$argon2id$x')`,
        'delete from auth.password_credentials where user_id = $1',
      ],
    ]
    await unconfirm(id)
    await refused()
    const enable = (isEnabled: boolean) =>
      shop.sql('update auth.providers set enabled = $1 where kind = any($2)', [isEnabled, ['oauth', 'phone']])
    await shop.sql(`insert into auth.identities (provider, subject, user_id) values ('google', 'one', $1)`, [id])
    await refused() // the provider is switched off
    await shop.sql('delete from auth.identities where user_id = $1', [id])
    await enable(true)
    for (const [give, take] of ways) {
      await shop.sql(give, [id])
      const [row] = await shop.sql<{ saved: object }>(
        'select to_jsonb(f) as saved from auth.mfa_factors f where id = $1',
        [factor.id],
      )
      expect([give, (await remove(token, factor.id)).status]).toEqual([give, 204])
      await shop.sql('insert into auth.mfa_factors select * from jsonb_populate_record(null::auth.mfa_factors, $1)', [
        row!.saved,
      ])
      await shop.sql(take, [id])
      await refused()
    }
    await enable(false)
  })

  it('of two passkeys that are the only ways in, thirty removals at once leave one', async () => {
    const { token, factor, id } = await enrolled()
    const second = (await add(token, new Authenticator(origin()))).json.factor
    await unconfirm(id)
    await shop.sql('delete from auth.password_credentials where user_id = $1', [id])
    const answers = await many((index) => remove(token, index % 2 ? factor.id : second.id))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(new Set(statusesOf(answers))).toEqual(new Set([204, 404, 409]))
    expect((await shop.call('/auth/mfa', { token })).json.factors).toHaveLength(1)
  })

  it('a passkey that has never verified its user is no way in by itself', async () => {
    const { token, factor, id, key } = await enrolled()
    const touch = (await add(token, new Authenticator(origin(), { uv: false }))).json.factor
    await unconfirm(id)
    await shop.sql('delete from auth.password_credentials where user_id = $1', [id])
    expect((await remove(token, factor.id)).json.error).toBe('last_way_in')
    expect((await remove(token, touch.id)).status).toBe(204)
    expect((await signIn(key)).status).toBe(200)
  })
})

describe('the relying party', () => {
  it('is the host of site_url; passkey_origins adds origins', async () => {
    const android = `android:apk-key-hash:${'A'.repeat(43)}`
    await settings({ site_url: 'https://shop.example.com/app', site_name: 'The shop', passkey_origins: [android] })
    const { token } = await shop.signUpConfirmed()
    expect((await enrolOptions(token)).options.rp).toEqual({ id: 'shop.example.com', name: 'The shop' })
    const key = new Authenticator('https://shop.example.com')
    expect((await add(token, key)).status).toBe(200)
    expect((await signIn(key)).status).toBe(200)
    expect((await signIn(key, { origin: android })).status).toBe(200)
    expect((await signIn(key, { origin: android.replace(/A$/, 'B') })).status).toBe(401)
    expect((await signIn(key, { origin: 'https://example.com' })).status).toBe(401)
    expect((await signIn(key, { origin: 'https://shop.example.com.attacker.example' })).status).toBe(401)
    await settings({})
    expect((await signIn(key, { rpId: 'shop.example.com' })).status).toBe(401) // made for the site of before
    expect((await enrolOptions(token)).options.excludeCredentials).toEqual([])
  })

  it.each(
    titled<[unknown, number]>([
      [['https://app.example.com', 'https://app.example.com:8443'], 200],
      [['https://app.example.com/'], 400],
      [['http://app.example.com'], 400],
      [['https://*.example.com'], 400],
      [['android:apk-key-hash:short'], 400],
      [Array.from({ length: 21 }, (_, index) => `https://app${index}.example.com`), 400],
      ['https://app.example.com', 400],
    ]),
  )('passkey_origins %s', async (_title, passkey_origins, status) => {
    expect((await settings({ passkey_origins })).status).toBe(status)
  })
})

it('challenges that are over are deleted each hour', async () => {
  const [old, fresh] = [await signInOptions(), await signInOptions()]
  await shop.sql(`update auth.webauthn_challenges set expires_at = now() - interval '1 second' where id = $1`, [
    old.challenge_id,
  ])
  const { status } = await shop.call('/cdn-cgi/stack/cron', {
    method: 'POST',
    headers: asService(),
    json: { name: 'WebauthnChallenges.forgetExpired' },
  })
  expect(status).toBe(200)
  const rows = await shop.sql<{ id: string }>('select id from auth.webauthn_challenges where id = any($1)', [
    [old.challenge_id, fresh.challenge_id],
  ])
  expect(rows).toEqual([{ id: fresh.challenge_id }])
})

it('asking again takes the place of the challenge before', async () => {
  const { token } = await shop.signUpConfirmed()
  const first = await enrolOptions(token)
  const second = await enrolOptions(token)
  const verify = ({ challenge_id, options }: typeof first) =>
    shop.call('/auth/passkeys/verify', {
      token,
      json: { challenge_id, response: new Authenticator(origin()).create(options) },
    })
  expect((await verify(first)).json.error).toBe('invalid_passkey')
  expect((await verify(second)).status).toBe(200)
})
