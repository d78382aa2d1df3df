/** The pages behind the links of mails, without a worker (contract 9.10): what a form may be, what a page gives away, and what it undoes. */
import vm from 'node:vm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))
// WebAssembly is compiled by the worker's bundler, and nothing is hashed here
vi.mock('../../src/auth/passwords/argon2.ts', () => ({ argon2id: undefined }))

import { Limits } from '../../src/auth/limits/rows.ts'
import { type Found, OneTimeTokens } from '../../src/auth/mail/tokens.ts'
import { EmailPagesController } from '../../src/auth/pages/email-routes.ts'
import { readForm, tokenOf } from '../../src/auth/pages/form.ts'
import { type Page, respond, type Site, siteOf } from '../../src/auth/pages/frame.ts'
import { PasskeyPagesController } from '../../src/auth/pages/passkey-routes.ts'
import { passkeyScript } from '../../src/auth/pages/passkey-script.ts'
import { PasswordPagesController } from '../../src/auth/pages/password-routes.ts'
import { Pages, undoneIfRefused } from '../../src/auth/pages/show.ts'
import * as views from '../../src/auth/pages/views.ts'
import { PasswordResetController } from '../../src/auth/passwords/reset.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { HttpError } from '../../src/sdk/errors.ts'
import { useAuthModule } from '../support/auth-module.ts'

const auth = useAuthModule()
const { request, codeOf, sql } = auth

const settings = new SettingsRows()
const pages = new Pages(settings)
const tokens = new OneTimeTokens(new Limits(), settings)

const form = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Request('https://stack.example/auth/pages/reset', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    duplex: 'half',
  } as RequestInit)
/** The password of a form, or the status of its refusal. */
const passwordOf = (...given: Parameters<typeof form>) =>
  readForm(form(...given), 'token', 'password').then(
    ({ password }) => password,
    ({ status }: HttpError) => status,
  )
const stream = (...chunks: string[]) =>
  new Blob(chunks).stream().pipeThrough(new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>())

describe('a form', () => {
  it.each([
    ['same-origin', 'x'],
    ['none', 'x'],
    ['same-site', 403],
    ['cross-site', 403],
    ['another', 403],
  ])('comes from the stack’s own page: %s', async (site, outcome) => {
    expect(await passwordOf('password=x', { 'sec-fetch-site': site })).toBe(outcome)
  })

  it('has one encoding, and each of its fields once', async () => {
    expect(await passwordOf('password=x', { 'content-type': 'text/plain' })).toBe(415)
    expect(await passwordOf('password=x&password=y')).toBe(400)
    expect(await passwordOf('password=x&other=y&other=z')).toBe('x')
  })

  it('with bytes that are no UTF-8 is no other password', async () => {
    expect(await passwordOf(Buffer.from('password=\u00ff', 'latin1'))).toBe(400)
    expect(await passwordOf('password=%ff')).toBe(400)
    expect(await passwordOf('password=\u00ff')).toBe('\u00ff')
  })

  it('has 8 KiB at most, whatever it says of its length', async () => {
    const of = (length: number) => stream('password=x&rest='.padEnd(length, 'x'))
    expect(await passwordOf(of(8_193))).toBe(413)
    expect(await passwordOf(of(8_192))).toBe('x')
  })

  it('that stalls is refused, and not read as its beginning', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const start = (body: ReadableStreamDefaultController) => body.enqueue(new TextEncoder().encode('password=cor'))
      const read = passwordOf(new ReadableStream({ start }))
      await vi.advanceTimersByTimeAsync(10_000)
      const later = new Promise((resolve) => setImmediate(resolve, 'it waits'))
      expect(await Promise.race([read, later])).toBe(408)
    } finally {
      vi.useRealTimers()
    }
  })

  it('an address has its token once', () => {
    const of = (query: string) => tokenOf(new Request(`https://stack.example/auth/email/confirm${query}`))
    expect([of('?token=a'), of('?token=a&token=b'), of('')]).toEqual(['a', undefined, undefined])
  })
})

describe('a page', () => {
  const site: Site = { name: 'The shop', url: 'https://shop.example/', support: undefined, base: '', settings: {} }
  const textOf = async (page: Page, more: Partial<Site> = {}) => (await respond(page, { ...site, ...more })).text()

  it('loads nothing, is kept nowhere, and tells no other site its address', async () => {
    const policies = []
    for (let count = 0; count < 2; count++) {
      const { headers } = await respond(views.lostPage(), site)
      const policy = headers.get('content-security-policy')!
      const [, nonce = ''] = /'nonce-([0-9a-f-]{36})'/.exec(policy)!
      expect(policy).toBe(
        `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      )
      expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
      policies.push(policy)
    }
    expect(policies[0]).not.toBe(policies[1])
  })

  it('with a script calls the stack alone', async () => {
    const { headers } = await respond({ ...views.lostPage(), script: 'void 0' }, site)
    expect(headers.get('content-security-policy')).toMatch(
      /; script-src 'nonce-[0-9a-f-]{36}'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none';/,
    )
  })

  it('has every value as text', async () => {
    const hostile = `</title><img src=x onerror=alert(1)>"'&<script>alert(1)</script>`
    const begun = {
      redirect_to: hostile,
      code_challenge: hostile,
      code_challenge_method: 'S256',
      state: hostile,
    } as const
    const more = { name: hostile, url: hostile, support: hostile, base: hostile }
    for (const page of [
      views.resetPage({ ...site, ...more }, hostile, hostile, hostile),
      views.confirmOverPage({ ...site, ...more }, { value: hostile, reason: hostile }),
      views.passkeyPage({ ...site, ...more }, begun, hostile),
      views.refusedPage(new HttpError(403, 'forbidden', hostile), hostile),
    ])
      expect(await textOf(page, more)).not.toMatch(/<img|<script|onerror=alert\(1\)>/)
  })

  it('posts what was typed, and hides a password', async () => {
    for (const page of [views.resetPage(site, 't', 'a@example.com'), views.undoPage(site, 't', 'a@example.com')])
      expect((await textOf(page)).match(/<form [^>]*>/g)).toEqual([expect.stringMatching(/^<form method="post"/)])
    expect(await textOf(views.resetPage(site, 't', 'a@example.com'))).toMatch(
      /name="password" type="password" autocomplete="new-password"/,
    )
  })

  it('begins its forms with the path of STACK_URL', async () => {
    const { STACK_URL } = auth.env
    auth.env['STACK_URL'] = 'https://stack.example/shop/'
    expect(await request(async () => siteOf({}).base)).toBe('/shop')
    auth.env['STACK_URL'] = STACK_URL
  })
})

describe('what a page answers', () => {
  const named = (name: string) => sql('select from auth.roles where name = $1', [name])
  const write = (name: string) => inRequest`insert into auth.roles (name) values (${name})`
  const refusal = new HttpError(403, 'forbidden', 'not here')

  it('is an error of the stack as a page, and no fault', async () => {
    const shown = await request(() => pages.show(() => Promise.reject(refusal)))
    expect([shown.status, await shown.text()]).toEqual([403, expect.stringContaining('Not here.')])
    const fault = new Error('a secret of the database')
    await expect(request(() => pages.show(() => Promise.reject(fault)))).rejects.toBe(fault)
  })

  it('leaves nothing of what was refused', async () => {
    const refused = (error: Error) => () =>
      undoneIfRefused(async () => {
        await write('refused')
        throw error
      })
    expect([await request(refused(refusal)), await named('refused')]).toEqual([refusal, []])
    await expect(request(refused(new Error('a fault')))).rejects.toThrow('a fault')
    await request(() => undoneIfRefused(() => write('done')))
    expect(await named('done')).toHaveLength(1)
  })
})

/** What the actions behind the pages are refused with. */
let refusal: HttpError | undefined
let acted: string[] = []
beforeEach(() => {
  refusal = undefined
  acted = []
})
const tooMany = new HttpError(429, 'rate_limited', 'too many attempts')
const post = (fields: Record<string, string>) => form(new URLSearchParams(fields).toString())

describe('the link of a mail', () => {
  const act = (name: string) => async (found: Found) => {
    if (!(await tokens.use(found))) throw new HttpError(400, 'invalid_token', 'the token is used')
    acted.push(`${name} ${found.purpose}`)
    if (refusal) throw refusal
    return found.target
  }
  const resend = async () => {
    throw tooMany
  }
  const addresses = { confirm: act('confirm'), change: act('change'), undo: act('undo'), confirmedBy() {}, resend }
  const routes = new EmailPagesController(addresses as never, pages, tokens)
  const purposes = { confirm: 'confirm_email', change: 'email_change', undo: 'email_change_undo' } as const

  beforeEach(() => sql(`insert into auth.users (id) values ('usr_1') on conflict do nothing`))

  async function issued(purpose: Found['purpose']) {
    const proof = { purpose, userId: 'usr_1', target: `${crypto.randomUUID()}@example.com` }
    return (await request(() => tokens.issue(proof, 3_600, { seconds: 600, digits: 6 }))).token
  }
  const statusOf = async (work: () => Promise<Response>) => (await request(work)).status

  it.each(['confirm', 'change', 'undo'] as const)(
    '%s is used by its button alone, and for its purpose',
    async (name) => {
      const other = await issued('reset_password')
      const token = await issued(purposes[name])
      const open = (given: string) => () =>
        routes[`${name}Page`](new Request(`https://stack.example/auth/email/${name}?token=${given}`))
      const press = (given: string) => () => routes[name](post({ token: given }), 'req_1')
      expect([await statusOf(open(token)), await statusOf(open(token)), acted]).toEqual([200, 200, []])
      expect([await statusOf(press(token)), await statusOf(press(token))]).toEqual([200, 410])
      expect([await statusOf(open(other)), await statusOf(press(other))]).toEqual([410, 410])
      expect(acted).toEqual([`${name} ${purposes[name]}`])
    },
  )

  it('whose action is refused works again', async () => {
    const token = await issued('email_change')
    const press = () => routes.change(post({ token }), 'req_1')
    refusal = new HttpError(409, 'email_taken', 'the address is taken')
    expect(await statusOf(press)).toBe(409)
    refusal = undefined
    expect(await statusOf(press)).toBe(200)
  })

  it('is asked for again within the limits', async () => {
    expect(await statusOf(() => routes.resend(post({ email: 'a@example.com' }), 'req_1'))).toBe(429)
  })
})

describe('a forgotten password', () => {
  const passwords = {
    prepare: async () => ({}),
    replace: async () => {
      await inRequest`select`
      if (refusal) throw refusal
    },
    request: async () => {
      throw tooMany
    },
  }
  const token = 'A'.repeat(43)
  const shown = new PasswordPagesController(pages, passwords as never, tokens)
  const json = new PasswordResetController(passwords as never)
  const http = new Request('https://stack.example/auth/password/reset')

  it('is said to be replaced where it is', async () => {
    const press = async () => {
      const { status } = await request(() => shown.reset(post({ token, password: 'a new horse battery' }), 'req_1'))
      return [status, await codeOf(() => json.reset({ token, password: 'a new horse battery' }, http, 'req_1'))]
    }
    expect(await press()).toEqual([200, 'done'])
    refusal = new HttpError(400, 'invalid_token', 'the token is used')
    expect(await press()).toEqual([410, 'invalid_token'])
  })

  it('is asked for within the limits', async () => {
    expect((await request(() => shown.forgot(post({ email: 'a@example.com' }), 'req_1'))).status).toBe(429)
    expect(await codeOf(() => json.forgot({ email: 'a@example.com' }, http, 'req_1'))).toBe('rate_limited')
  })
})

describe('the page of passkeys', () => {
  const routes = new PasskeyPagesController(pages)
  const back = 'https://app.example/back'
  const query = (redirect: string, ...more: string[]) =>
    ['code_challenge_method=S256', `code_challenge=${'c'.repeat(43)}`, `redirect_to=${redirect}`, ...more].join('&')
  const statusOf = async (text: string) =>
    (await request(() => routes.passkeyPage(new Request(`https://stack.example/auth/passkey?${text}`)))).status

  it('is for listed addresses, and for parameters that stand once', async () => {
    await sql('update auth.settings set document = $1', [JSON.stringify({ redirect_allow_list: [back] })])
    expect([await statusOf(query(back)), await statusOf(query('https://evil.example'))]).toEqual([200, 400])
    expect(await statusOf(query('https://evil.example', `redirect_to=${back}`))).toBe(400)
    expect(await statusOf(query(back, `code_challenge=${'d'.repeat(43)}`))).toBe(400)
    await sql(`update auth.settings set document = '{}'`)
  })
})

describe('the script of the page of passkeys', () => {
  /** Runs it in a document of three elements, with one answer of the stack, and presses its button twice. */
  async function run(answer: { ok: boolean; json: () => Promise<object> }) {
    const sent: [string, object][] = []
    const left: string[] = []
    let press = async () => {}
    const fault = { textContent: '', innerHTML: '' }
    const button = {
      textContent: 'Use a passkey',
      setAttribute() {},
      removeAttribute() {},
      addEventListener(_type: string, listener: typeof press) {
        press = listener
      },
    }
    const bytes = new ArrayBuffer(1)
    const response = { clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: null }
    const dataset = { base: '/shop', redirectTo: 'https://app.example/', codeChallenge: 'c', state: 'mine' }
    const root = { dataset, querySelector: (selector: string) => (selector === 'button' ? button : fault) }
    vm.runInNewContext(passkeyScript, {
      atob,
      btoa,
      document: { getElementById: () => root },
      window: { PublicKeyCredential: {}, location: { replace: (to: string) => left.push(to) } },
      navigator: { credentials: { get: async () => ({ id: 'AA', rawId: bytes, type: 'public-key', response }) } },
      fetch: async (path: string, { body = '{}' }: { body?: string }) => {
        sent.push([path, JSON.parse(body)])
        return answer
      },
    })
    await Promise.all([press(), press()])
    return { sent, left, fault }
  }

  it('gives the application its own state, after one ceremony for two presses', async () => {
    const options = { challenge: 'AA', allowCredentials: [] }
    const location = 'https://app.example/?code=x&state=mine'
    const { sent, left } = await run({ ok: true, json: async () => ({ challenge_id: 'wac_1', options, location }) })
    expect([sent.map(([path]) => path), left]).toEqual([
      ['/shop/auth/sign-in/passkey/options', '/shop/auth/sign-in/passkey/hand-off'],
      [location],
    ])
    expect(sent[1]![1]).toMatchObject({ code_challenge: 'c', code_challenge_method: 'S256', state: 'mine' })
  })

  it('shows a refusal as text', async () => {
    const { fault } = await run({ ok: false, json: async () => ({ error_description: '<img src=x>' }) })
    expect(fault).toEqual({ textContent: '<img src=x>.', innerHTML: '' })
  })
})
