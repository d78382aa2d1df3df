/** The pages behind the links of mails, over the running stack: what they show, what they use up, and what they refuse. */
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { Authenticator } from '../../support/authenticator.ts'
import { naughtyStrings } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const next = 'a new horse battery'
const settings = (json: object) =>
  shop.call('/v1/management/auth/settings', {
    method: 'PUT',
    json,
    headers: { apikey: shop.stack.record.service_role_key },
  })
const address = () => `${crypto.randomUUID()}@example.com`
const signUp = (email: string) => shop.call('/auth/sign-up', { json: { email, password } })
const signIn = (email: string, given = password) =>
  shop.call('/auth/sign-in/password', { json: { email, password: given } })
const pathIn = ({ text }: { text: string }) => {
  const url = new URL(/https?:\S+[?&]token=[A-Za-z0-9_-]{43}/.exec(text)![0])
  return `${url.pathname}${url.search}`
}
const tokenIn = (mail: { text: string }) => pathIn(mail).slice(-43)

/** Posts a form as a browser does from a page of the stack. */
const submit = (page: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  shop.call(`/auth/pages/${page}`, {
    body: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin: 'null',
      ...headers,
    },
  })
const titleOf = ({ text }: { text: string }) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1]
const thirty = <T>(work: (index: number) => Promise<T>) => Promise.all(Array.from({ length: 30 }, (_, at) => work(at)))

/** Each link of a mail: how a person gets it, its form's path, and how to see that the link has worked. */
const links = {
  confirm: {
    purpose: 'confirm_email',
    async begin() {
      const email = address()
      const { json } = await signUp(email)
      return {
        path: pathIn(await shop.mail(email, 'confirm_email')),
        email,
        hasWorked: async () =>
          (await shop.call('/auth/user', { token: json.access_token })).json.email_verified === true,
      }
    },
  },
  reset: {
    purpose: 'reset_password',
    async begin() {
      const { email } = await shop.signUp()
      await shop.call('/auth/password/forgot', { json: { email } })
      return {
        path: pathIn(await shop.mail(email, 'reset_password')),
        email,
        hasWorked: async () => (await signIn(email, next)).status === 200,
      }
    },
  },
  change: {
    purpose: 'email_change',
    async begin() {
      const { token } = await shop.signUp()
      const email = address()
      await shop.call('/auth/email/change', { token, json: { email, current_password: password } })
      return {
        path: pathIn(await shop.mail(email, 'email_change_confirm')),
        email,
        hasWorked: async () => (await signIn(email)).status === 200,
      }
    },
  },
  undo: {
    purpose: 'email_change_undo',
    async begin() {
      const { email, token } = await shop.signUp()
      await shop.call('/auth/email/confirm', { json: { token: tokenIn(await shop.mail(email, 'confirm_email')) } })
      const other = address()
      await shop.call('/auth/email/change', { token, json: { email: other, current_password: password } })
      const path = pathIn(await shop.mail(email, 'email_change_notice'))
      await shop.call('/auth/email/change/confirm', {
        json: { token: tokenIn(await shop.mail(other, 'email_change_confirm')) },
      })
      return { path, email, hasWorked: async () => (await signIn(other)).status === 401 }
    },
  },
}
type Name = keyof typeof links
const names = Object.keys(links) as Name[]

afterEach(() => settings({}))

describe('the page of a link', () => {
  it.each(names)('%s is used up by its button alone, however often it is opened before', async (name) => {
    const { path, email, hasWorked } = await links[name].begin()
    const opened = await Promise.all(Array.from({ length: 50 }, () => shop.call(path)))
    const probed = await Promise.all(Array.from({ length: 50 }, () => shop.call(path, { method: 'HEAD' })))
    expect(new Set([...opened, ...probed].map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(probed.map(({ text }) => text))).toEqual(new Set(['']))
    expect(opened[0]!.text).toContain(email)
    expect(opened[0]!.text).toContain(`action="/auth/pages/${name}"`)
    expect(await hasWorked()).toBe(false)
    const done = await submit(name, { token: path.slice(-43), password: next })
    expect([done.status, /class="mark"/.test(done.text)]).toEqual([200, true])
    expect(await hasWorked()).toBe(true)
  })

  it.each(names)('%s has headers that keep its address and its form to itself', async (name) => {
    const { path } = await links[name].begin()
    for (const { headers, text } of [
      await shop.call(path),
      await submit(name, { token: path.slice(-43), password: next }),
      await submit(name, {}),
    ]) {
      const policy = headers.get('content-security-policy')!
      const nonce = /style-src 'nonce-([0-9a-f-]{36})'/.exec(policy)![1]!
      expect(policy).toBe(
        `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      )
      expect(text).toContain(`<style nonce="${nonce}">`)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-opener-policy': 'same-origin',
        'x-request-id': expect.stringMatching(/^req_/),
      })
      expect(headers.get('set-cookie')).toBeNull()
      // nothing is loaded: no address but those of links and forms
      expect(text.match(/(?:src|srcset|poster|data)\s*=|url\(|@import|<script|style="/gi)).toBeNull()
      expect(text).toContain('<html lang="en">')
    }
  })

  it.each(names)('%s works once, however many forms are posted at the same time', async (name) => {
    const { path, hasWorked } = await links[name].begin()
    const answers = await thirty(() => submit(name, { token: path.slice(-43), password: next }))
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    // an address that is confirmed by another of the forms reads as a success
    const won = name === 'confirm' ? 30 : 1
    // where 30 hashes keep the cores busy, forms may wait too long for a connection: they are refused, and have done nothing
    const busy = name === 'reset' ? count(503) : 0
    expect([count(200), count(410) + busy]).toEqual([won, 30 - won])
    expect(await hasWorked()).toBe(true)
  })

  it.each(names)('%s says what to do where its token is wrong, over, used or of another kind', async (name) => {
    const { path, hasWorked } = await links[name].begin()
    const page = path.slice(0, -43)
    const other = await links[name === 'reset' ? 'confirm' : 'reset'].begin()
    const unknown = ['A'.repeat(43), other.path.slice(-43)]
    for (const token of unknown) {
      for (const answer of [await shop.call(page + token), await submit(name, { token, password: next })])
        expect([answer.status, titleOf(answer)]).toEqual([410, 'This link is not valid any more'])
    }
    const malformed = [
      '',
      'x',
      'A'.repeat(44),
      '%00',
      '<script>',
      `${path.slice(-43)}%0a`,
      `${path.slice(-43)}&token=x`,
    ]
    for (const token of malformed) {
      const answer = await shop.call(page + token)
      expect([token, answer.status, titleOf(answer) ?? answer.text]).toEqual([token, 400, 'This link is not complete'])
      expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    }
    expect((await shop.call(page.slice(0, -7))).status).toBe(400)
    await shop.sql('update auth.one_time_tokens set expires_at = now() where purpose = $1', [links[name].purpose])
    for (const answer of [await shop.call(path), await submit(name, { token: path.slice(-43), password: next })])
      expect(answer.status).toBe(410)
    expect(await hasWorked()).toBe(false)
  })
})

describe('the confirmation of an address', () => {
  it('reads as a success also for a link that was used, and for nobody without that link', async () => {
    const { path, email } = await links.confirm.begin()
    await submit('confirm', { token: path.slice(-43) })
    for (const answer of [await shop.call(path), await submit('confirm', { token: path.slice(-43) })])
      expect([answer.status, titleOf(answer), answer.text.includes(email)]).toEqual([
        200,
        'Your address is confirmed',
        true,
      ])
    const stranger = await shop.call(path.slice(0, -43) + 'B'.repeat(43))
    expect([stranger.status, stranger.text.includes(email)]).toEqual([410, false])
  })

  it('is sent again from the page, with one answer for every address', async () => {
    const [waiting, unknown] = [address(), address()]
    await signUp(waiting)
    await shop.mail(waiting)
    const answers = await Promise.all([waiting, unknown].map((email) => submit('resend', { email })))
    const without = answers.map(({ status, text }, at) =>
      `${status} ${text}`.replaceAll([waiting, unknown][at]!, '').replaceAll(/nonce="[^"]*"/g, ''),
    )
    expect([without[0], answers[0]!.status]).toEqual([without[1], 200])
    await expect.poll(async () => (await shop.mails(waiting)).length).toBe(2)
    expect(await shop.mails(unknown)).toEqual([])
  })

  it('is asked for three times a minute, and the page says how long to wait', async () => {
    const email = address()
    const answers = []
    for (let count = 0; count < 4; count++) answers.push(await submit('resend', { email }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect([titleOf(answers[3]!), Number(answers[3]!.headers.get('retry-after')) > 0]).toEqual([
      'Too many attempts',
      true,
    ])
  })
})

describe('a forgotten password', () => {
  it('is asked for again in the form with its token, until it fits the policy', async () => {
    await settings({ password_min_length: 12, password_max_length: 40 })
    const { path, email, hasWorked } = await links.reset.begin()
    const page = await shop.call(path)
    expect(page.text).toContain('12 to 40 characters')
    expect(page.text).toMatch(/<input[^>]* type="password" autocomplete="new-password" required minlength="12"/)
    expect(page.text).toMatch(new RegExp(`autocomplete="username" value="${email}"`))
    const token = path.slice(-43)
    for (const given of ['', 'short', 'x'.repeat(41), 'x'.repeat(2_000)]) {
      const answer = await submit('reset', { token, password: given })
      expect([answer.status, answer.text.includes(`value="${token}"`)]).toEqual([400, true])
      expect(answer.text).toMatch(/id="password-fault" role="alert"/)
      expect(answer.text).toMatch(/aria-invalid="true" autofocus/)
      expect(answer.text).toMatch(/<title>Error: /)
      if (given !== '') expect(answer.text).not.toContain(given)
    }
    expect(await hasWorked()).toBe(false)
    expect((await submit('reset', { token, password: next })).status).toBe(200)
    expect(await hasWorked()).toBe(true)
  })

  it('ends every session, like the JSON route', async () => {
    const { email, token } = await shop.signUp()
    await shop.call('/auth/password/forgot', { json: { email } })
    const mail = await shop.mail(email, 'reset_password')
    await submit('reset', { token: tokenIn(mail), password: next })
    expect((await shop.call('/orders', { token })).status).toBe(401)
    await shop.mail(email, 'password_changed')
  })

  it('keeps blanks, signs and letters of every script', async () => {
    for (const given of [' blanks  at both ends ', 'a+b&c=d%20e%', 'пароль-密码-🔑🔑🔑', 'q"<script>\'`$']) {
      const { path, email } = await links.reset.begin()
      expect((await submit('reset', { token: path.slice(-43), password: given })).status).toBe(200)
      expect((await signIn(email, given)).status).toBe(200)
    }
  })

  it('is asked for on the page of a link that is over', async () => {
    const { email } = await shop.signUp()
    const over = await shop.call(`/auth/password/reset?token=${'C'.repeat(43)}`)
    expect([over.status, over.text.includes('action="/auth/pages/forgot"')]).toEqual([410, true])
    const [known, unknown] = [await submit('forgot', { email }), await submit('forgot', { email: address() })]
    expect([known.status, titleOf(known), unknown.status, titleOf(unknown)]).toEqual([
      200,
      'Check your mailbox',
      200,
      'Check your mailbox',
    ])
    await shop.mail(email, 'reset_password')
  })
})

it('an address that is taken meanwhile leaves the link as it was, as for the JSON route', async () => {
  const { path, email, hasWorked } = await links.change.begin()
  const { json } = await signUp(email)
  const refused = await submit('change', { token: path.slice(-43) })
  expect([refused.status, titleOf(refused)]).toEqual([409, 'This address belongs to another account'])
  await shop.sql('delete from auth.users where id = $1', [json.user.id])
  expect((await submit('change', { token: path.slice(-43) })).status).toBe(200)
  expect(await hasWorked()).toBe(true)
})

describe('a form', () => {
  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of another host of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['as JSON', { 'content-type': 'application/json' }, 415],
    ['of several parts', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['as text', { 'content-type': 'text/plain' }, 415],
    ['with a stated encoding', { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }, 200],
    ['of a browser that states no site', { 'sec-fetch-site': '' }, 200],
  ])('%s', async (_title, headers, status) => {
    const { path, hasWorked } = await links.confirm.begin()
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
    const answer = await shop.call('/auth/pages/confirm', {
      body: `token=${path.slice(-43)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...sent },
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await hasWorked()).toBe(status === 200)
  })

  it('has 8 KiB at most, with or without a stated length, and unknown fields do not count', async () => {
    const { path, hasWorked } = await links.confirm.begin()
    const of = (length: number) => `token=${path.slice(-43)}&padding=`.padEnd(length, 'x')
    const send = (body: string, isChunked: boolean) =>
      fetch(`${shop.url}/auth/pages/confirm`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: isChunked ? new Blob([body]).stream() : body,
        ...(isChunked ? { duplex: 'half' } : {}),
      } as RequestInit)
    for (const isChunked of [false, true]) {
      for (const length of [8_193, 65_536]) expect((await send(of(length), isChunked)).status).toBe(413)
    }
    for (const isChunked of [false, true]) expect((await send(of(200_000), isChunked)).status).toBe(413)
    expect(await hasWorked()).toBe(false)
    expect((await send(of(8_192), true)).status).toBe(200)
    expect(await hasWorked()).toBe(true)
  })

  it.each([
    ['without anything', ''],
    ['with a broken escape', 'token=%zz'],
    ['with an escape that is cut', 'token=%'],
    ['with bytes that are no UTF-8', 'token=%ff%fe'],
    ['with a token twice', `token=${'A'.repeat(43)}&token=${'B'.repeat(43)}`],
    ['with signs alone', '&&==&=&'],
    ['with a token that is a list', 'token[]=x&token[a]=y'],
  ])('%s is 400, and a page', async (_title, body) => {
    for (const page of ['confirm', 'reset', 'change', 'undo', 'resend', 'forgot']) {
      const answer = await shop.call(`/auth/pages/${page}`, {
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect([page, answer.status, answer.headers.get('content-type')]).toEqual([page, 400, 'text/html; charset=utf-8'])
    }
  })

  it('that stalls is given up', async () => {
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('token=')) })
    const answer = await fetch(`${shop.url}/auth/pages/confirm`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(408)
  })

  it('whose page is opened again without it says so, and unknown pages are JSON as before', async () => {
    const lost = await shop.call('/auth/pages/confirm')
    expect([lost.status, titleOf(lost)]).toEqual([404, 'This page has nothing to show'])
    for (const path of ['/auth/pages/nothing', '/auth/nothing', '/auth/pages'])
      expect((await shop.call(path, { headers: { accept: 'text/html' } })).json).toMatchObject({
        error: 'not_found',
        status: 404,
      })
  })
})

describe('markup', () => {
  const hostile = `<img src=x onerror=alert(1)>"'&</title></style><script>alert(1)</script>`

  it('of the settings stays text, wherever it stands', async () => {
    for (const name of names) {
      const { path } = await links[name].begin()
      const stored = await settings({ site_name: hostile, site_url: `https://shop.example/?a="><script>&b='` })
      expect(stored.status).toBe(200)
      const token = path.slice(-43)
      for (const { text } of [
        await shop.call(path),
        await submit(name, { token, password: 'x' }),
        await submit(name, { token, password: next }),
        await submit(name, { token, password: next }),
        await shop.call(path.slice(0, -43)),
      ]) {
        expect(text).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
        expect(text.match(/<\/style>/g)).toHaveLength(1)
        expect(text).toContain('&lt;img src=x')
        for (const [, href] of text.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(?:https:\/\/shop|mailto:)/)
      }
      await settings({})
    }
  })

  it.each([
    hostile,
    '"><script>alert(1)</script>@example.com',
    "'onfocus=alert(1) autofocus='@x.example",
    '\u202Eevil',
  ])('%s in an address stays text', async (email) => {
    for (const page of ['resend', 'forgot']) {
      const { status, text } = await submit(page, { email })
      expect([status, /<script|<img|[^;]'onfocus/.test(text)]).toEqual([400, false])
      expect(text).toMatch(/id="email-fault" role="alert"/)
    }
  })

  it('in the address of a page is not repeated', async () => {
    const parameters = `error=${encodeURIComponent(hostile)}&error_description=${encodeURIComponent(hostile)}`
    for (const path of ['email/confirm', 'password/reset', 'email/change', 'email/undo']) {
      const { status, text } = await shop.call(`/auth/${path}?token=${encodeURIComponent(hostile)}&${parameters}`)
      expect([status, text.includes('alert(1)')]).toEqual([400, false])
    }
  })
})

describe('a passkey for an application', () => {
  const back = 'https://app.example/back'
  const verifier = 'v'.repeat(43)
  const challengeOf = (text: string) => createHash('sha256').update(text).digest('base64url')
  const begun = { redirect_to: back, code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const pageOf = (query: Record<string, string>) => shop.call(`/auth/passkey?${new URLSearchParams(query)}`)
  const origin = () => shop.url.replace('127.0.0.1', 'localhost')

  async function enrolled(flags?: ConstructorParameters<typeof Authenticator>[1]) {
    await settings({ redirect_allow_list: [back] })
    const person = await shop.signUpConfirmed()
    const key = new Authenticator(origin(), flags)
    const { json } = await shop.call('/auth/passkeys/enrol', { token: person.token, json: { label: 'a telephone' } })
    const response = key.create(json.options)
    const { status } = await shop.call('/auth/passkeys/verify', {
      token: person.token,
      json: { challenge_id: json.challenge_id, response },
    })
    expect(status).toBe(200)
    return { ...person, key }
  }
  async function handOff(key: Authenticator, fields: object = {}) {
    const { json } = await shop.call('/auth/sign-in/passkey/options', { method: 'POST' })
    const body = { challenge_id: json.challenge_id, response: key.get(json.options), ...begun, ...fields }
    return shop.call('/auth/sign-in/passkey/hand-off', { json: body })
  }
  const codeOf = ({ json }: { json: { location: string } }) => new URL(json.location).searchParams.get('code')!
  const exchange = (code: string, code_verifier = verifier) =>
    shop.call('/auth/sign-in/passkey/exchange', { json: { code, code_verifier } })

  it('has a page for listed addresses alone, compared character by character', async () => {
    await settings({ redirect_allow_list: [back, 'com.example.app://back'] })
    const page = await pageOf({ ...begun, state: '"><script>' })
    expect([page.status, page.text.includes('<noscript>')]).toEqual([200, true])
    expect(page.text).toContain('data-state="&quot;&gt;&lt;script&gt;"')
    const nonce = /<script type="module" nonce="([^"]+)">/.exec(page.text)![1]!
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    )
    expect((await pageOf({ ...begun, redirect_to: 'com.example.app://back' })).status).toBe(200)
    for (const query of [
      {},
      { ...begun, redirect_to: `${back}/` },
      { ...begun, redirect_to: `${back}#x` },
      { ...begun, redirect_to: 'https://app.example.evil/back' },
      { ...begun, redirect_to: 'HTTPS://app.example/back' },
      { ...begun, redirect_to: 'javascript:alert(1)' },
      { ...begun, code_challenge: 'short' },
      { ...begun, code_challenge_method: 'plain' },
      { ...begun, state: 'ä' },
    ]) {
      const refused = await pageOf(query as Record<string, string>)
      expect([refused.status, refused.text.includes('app.example')]).toEqual([400, false])
    }
    const twice = await shop.call(`/auth/passkey?${new URLSearchParams(begun)}&redirect_to=https://evil.example/`)
    expect(twice.status).toBe(400)
  })

  it('gives a code to a listed address alone, and no token', async () => {
    const { key } = await enrolled()
    const given = await handOff(key, { state: 'a b&c' })
    expect([given.status, Object.keys(given.json)]).toEqual([200, ['location']])
    const location = new URL(given.json.location)
    expect([location.origin + location.pathname, location.searchParams.get('state')]).toEqual([back, 'a b&c'])
    const elsewhere = await handOff(key, { redirect_to: 'https://evil.example/' })
    expect(elsewhere.json).toMatchObject({ status: 400, error: 'invalid_redirect' })
    const wrong = await handOff(new Authenticator(origin()))
    expect([wrong.status, wrong.json.error]).toEqual([401, 'invalid_passkey'])
  })

  it('is worth tokens once, with the verifier, however many exchange the code at the same time', async () => {
    const { id, key } = await enrolled()
    const code = codeOf(await handOff(key))
    const answers = await thirty(() => exchange(code))
    const won = answers.filter(({ status }) => status === 200)
    expect([won.length, answers.filter(({ json }) => json.error === 'invalid_code').length]).toEqual([1, 29])
    expect(won[0]!.json.user.id).toBe(id)
    const claims = JSON.parse(Buffer.from(won[0]!.json.access_token.split('.')[1], 'base64url').toString())
    expect([claims.aal, claims.amr]).toEqual(['aal2', expect.arrayContaining(['mfa'])])
  })

  it('is worth nothing after a wrong verifier, after its time, or as another token', async () => {
    const { key } = await enrolled()
    const tried = codeOf(await handOff(key))
    expect((await exchange(tried, 'w'.repeat(43))).json.error).toBe('invalid_code')
    expect((await exchange(tried)).json.error).toBe('invalid_code')
    const late = codeOf(await handOff(key))
    await shop.sql(`update auth.one_time_tokens set expires_at = now() where purpose = 'passkey_hand_off'`)
    expect((await exchange(late)).json.error).toBe('invalid_code')
    const { path } = await links.confirm.begin()
    expect((await exchange(path.slice(-43))).json.error).toBe('invalid_code')
    await settings({ redirect_allow_list: [back] })
    const mine = codeOf(await handOff(key))
    expect((await submit('confirm', { token: mine })).status).toBe(410)
    expect((await exchange(mine)).status).toBe(200)
  })

  it('of a disabled account opens nothing', async () => {
    const { id, key } = await enrolled()
    const code = codeOf(await handOff(key))
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect((await exchange(code)).json.error).toBe('user_disabled')
    expect((await handOff(key)).json.error).toBe('user_disabled')
  })

  it('that has not verified its user is the first of two steps, as in a sign-in without a page', async () => {
    const { key } = await enrolled({ uv: false })
    const answer = await exchange(codeOf(await handOff(key)))
    expect([answer.status, answer.json.mfa_required]).toEqual([202, true])
  })
})

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  it('in every place are never 5xx', async () => {
    await settings({ rate_limits: { mail_per_recipient: { attempts: 10_000, seconds: 1 } } })
    const { path } = await links.reset.begin()
    const token = path.slice(-43)
    const bad: unknown[] = []
    const note = ({ status }: { status: number }, what: string) => status >= 500 && bad.push([status, what])
    for (const text of naughtyStrings) {
      const query = encodeURIComponent(text.toWellFormed())
      const answers = await Promise.all([
        shop.call(`/auth/email/confirm?token=${query}`),
        submit('undo', { token: text }),
        submit('forgot', { email: text }),
        submit('resend', { email: text, [text || 'x']: text }),
      ])
      for (const answer of answers) note(answer, text)
    }
    for (const text of naughtyStrings.slice(0, 40)) {
      // a token is used up by the first password that fits
      note(await submit('reset', { token, password: text.slice(0, 7) }), text)
    }
    expect(bad).toEqual([])
  })
})
