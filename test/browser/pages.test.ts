/** The pages in a real browser: light and dark, narrow and wide, by keyboard alone, and without script. */
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, launchBrowser, tabTo } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const next = 'a new horse battery'
const settings = (json: object) =>
  shop.call('/v1/management/auth/settings', {
    method: 'PUT',
    json,
    headers: { apikey: shop.stack.record.service_role_key },
  })
const address = () => `${crypto.randomUUID().slice(0, 8)}@example.com`
const signUp = (email: string) => shop.call('/auth/sign-up', { json: { email, password } })
const signIn = (email: string, given = password) =>
  shop.call('/auth/sign-in/password', { json: { email, password: given } })
const post = (path: string, json: object, token?: string) => shop.call(path, { json, ...(token ? { token } : {}) })
/** The link of a mail at this stack, where the settings have another site. */
const linkIn = ({ text }: { text: string }) => {
  const url = new URL(/https?:\S+[?&]token=[A-Za-z0-9_-]{43}/.exec(text)![0])
  return `${shop.url}${url.pathname}${url.search}`
}
const linkFor = async (email: string, template: string) => linkIn(await shop.mail(email, template))

/** Signs a person up who asks for another address. */
async function changing(): Promise<{ email: string; other: string }> {
  const [email, other] = [address(), address()]
  const { json } = await signUp(email)
  await post('/auth/email/confirm', { token: (await linkFor(email, 'confirm_email')).slice(-43) })
  await post('/auth/email/change', { email: other, current_password: password }, json.access_token)
  return { email, other }
}

/** How a page is looked at. */
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [320, 1280].map((width) => ({
    title: `${colorScheme}, ${width} px wide`,
    options: { colorScheme, viewport: { width, height: 720 } } satisfies BrowserContextOptions,
  })),
)

if (!hasBrowser) process.stderr.write('the browser of the tests is for Linux on x64 alone: its tests are skipped\n')

describe.skipIf(!hasBrowser)('in a browser', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launchBrowser()
    await settings({ site_name: 'Corner Shop', site_url: 'https://shop.example', support_email: 'help@shop.example' })
  })
  afterAll(() => browser?.close())

  /** Opens a page of its own. What a page reports on the console, like a violation of its policy, is a fault. */
  async function opened<T>(options: BrowserContextOptions, work: (page: Page) => Promise<T>): Promise<T> {
    const context = await browser.newContext(options)
    try {
      const page = await context.newPage()
      const faults: string[] = []
      page.on('console', (message) => {
        const isStatus = /the server responded with a status of/.test(message.text())
        if (message.type() === 'error' && !isStatus) faults.push(message.text())
      })
      page.on('pageerror', (error) => faults.push(String(error)))
      const result = await work(page)
      expect(faults).toEqual([])
      return result
    } finally {
      await context.close()
    }
  }

  /** Presses Enter, and waits for the page that follows. */
  const enter = async (page: Page) => {
    const loaded = page.waitForEvent('load')
    await page.keyboard.press('Enter')
    await loaded
  }
  const press = async (page: Page, selector = 'main button') => {
    await tabTo(page, selector)
    await enter(page)
  }
  const title = (page: Page) => page.locator('h1').textContent()

  describe.each(looks)('$title', ({ title: look, options }) => {
    /** Every step of every flow, as a person with a keyboard takes it. */
    const flows: Record<string, (page: Page, seen: (name: string) => Promise<void>) => Promise<void>> = {
      async 'an address is confirmed'(page, seen) {
        const email = address()
        await signUp(email)
        const link = await linkFor(email, 'confirm_email')
        await page.goto(link)
        await seen('confirm')
        await press(page)
        expect(await title(page)).toBe('Your address is confirmed')
        await seen('confirmed')
        await page.goto(link)
        expect(await title(page)).toBe('Your address is confirmed')
      },
      async 'a link that is over is sent again'(page, seen) {
        const email = address()
        await signUp(email)
        await shop.mail(email)
        await page.goto(`${shop.url}/auth/email/confirm?token=${'A'.repeat(43)}`)
        await seen('over')
        await tabTo(page, 'input[type=email]')
        await page.keyboard.type('ada@localhost')
        await enter(page)
        expect(await page.title()).toMatch(/^Error: /)
        await tabTo(page, 'input[aria-invalid]')
        await seen('over, refused')
        await page.keyboard.press('ControlOrMeta+a')
        await page.keyboard.type(email)
        await press(page)
        expect(await title(page)).toBe('Check your mailbox')
        await seen('sent again')
        await expect.poll(async () => (await shop.mails(email)).length).toBe(2)
      },
      async 'a password is chosen'(page, seen) {
        const email = address()
        await signUp(email)
        await post('/auth/password/forgot', { email })
        await page.goto(await linkFor(email, 'reset_password'))
        await seen('reset')
        await tabTo(page, 'input[type=password]')
        await page.keyboard.type('short')
        await page.keyboard.press('Enter')
        // the browser itself refuses what is too short, and keeps the page
        expect(await page.locator('[role=alert]').count()).toBe(0)
        await settings({ password_min_length: 4, site_name: 'Corner Shop' })
        await page.reload()
        await settings({
          site_name: 'Corner Shop',
          site_url: 'https://shop.example',
          support_email: 'help@shop.example',
        })
        await tabTo(page, 'input[type=password]')
        await page.keyboard.type('short')
        await press(page)
        await tabTo(page, 'input[aria-invalid]')
        await seen('reset, refused')
        await page.keyboard.type(next)
        await press(page)
        expect(await title(page)).toBe('Your password is set')
        await seen('password set')
        expect((await signIn(email, next)).status).toBe(200)
      },
      async 'an address is changed'(page, seen) {
        const { other } = await changing()
        const link = await linkFor(other, 'email_change_confirm')
        await page.goto(link)
        await seen('change')
        await press(page)
        expect(await title(page)).toBe('Your address is changed')
        await seen('changed')
        await page.goto(link)
        await seen('change, over')
        expect((await signIn(other)).status).toBe(200)
      },
      async 'an address is kept'(page, seen) {
        const { email } = await changing()
        const link = await linkFor(email, 'email_change_notice')
        await page.goto(link)
        await seen('undo')
        await press(page)
        expect(await title(page)).toBe('Your address is kept')
        await seen('kept')
        await page.goto(link)
        await seen('undo, over')
        await shop.mail(email, 'reset_password')
      },
      async 'what is wrong is told'(page, seen) {
        await page.goto(`${shop.url}/auth/email/confirm`)
        await seen('incomplete')
        await page.goto(`${shop.url}/auth/password/reset?token=${'A'.repeat(43)}`)
        await seen('reset, over')
        const email = address()
        for (let count = 0; count < 3; count++) await post('/auth/password/forgot', { email })
        await tabTo(page, 'input[type=email]')
        await page.keyboard.type(email)
        await press(page)
        expect(await title(page)).toBe('Too many attempts')
        await seen('too many')
        await page.goto(`${shop.url}/auth/pages/confirm`)
        await seen('lost')
      },
    }

    it.each(Object.keys(flows))('%s, and no page has a violation', async (name) => {
      await opened(options, (page) => flows[name]!(page, (step) => expectAccessible(page, `${step} ${look}`)))
    })

    it.each(Object.keys(flows))('%s without script', async (name) => {
      await opened({ ...options, javaScriptEnabled: false }, (page) => flows[name]!(page, async () => {}))
    })

    it('the mailbox of the local stack has no violation, and shows what arrives', async () => {
      const mailbox = shop.stack.record.dashboard_url!
      const email = address()
      await opened(options, async (page) => {
        await fetch(`${mailbox}mailbox.json`, { method: 'DELETE' })
        await page.goto(mailbox)
        await expectAccessible(page, `mailbox, empty ${look}`)
        await signUp(email)
        await page.locator('li', { hasText: email }).waitFor()
        await post('/auth/password/forgot', { email })
        await page.locator('li', { hasText: 'password' }).waitFor()
        await expectAccessible(page, `mailbox ${look}`)
        await press(page, 'li:first-child a')
        await page.locator('iframe').waitFor()
        await expectAccessible(page, `message ${look}`)
        // the mailbox runs no script in the message's own document, and neither could axe-core
        await page.goto('about:blank')
        await page.setContent((await shop.mail(email, 'reset_password')).html)
        await expectAccessible(page, `message as HTML ${look}`)
        await page.goto(`${mailbox}messages/msg_00000000000000000000000000`)
        await expectAccessible(page, `message, unknown ${look}`)
      })
    })
  })

  describe('a passkey', () => {
    const back = 'http://app.example/back'
    const verifier = 'v'.repeat(64)
    /** A relying party is a domain, so a local stack is `localhost`. */
    const address = () => {
      const query = new URLSearchParams({
        redirect_to: back,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: 'opaque',
      })
      return `${shop.url.replace('127.0.0.1', 'localhost')}/auth/passkey?${query}`
    }
    /** Runs in the page of the stack: the virtual authenticator makes a passkey. */
    const enrol = `async (token) => {
      const post = async (path, body) => {
        const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
        const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
        if (!response.ok) throw new Error(await response.text())
        return response.json()
      }
      const { challenge_id, options } = await post('/auth/passkeys/enrol', { label: 'virtual' })
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
      const credential = await navigator.credentials.create({ publicKey })
      await post('/auth/passkeys/verify', { challenge_id, response: credential.toJSON() })
    }`

    beforeAll(() => settings({ site_name: 'Corner Shop', redirect_allow_list: [back] }))

    it.each(looks)('signs in for an application, by keyboard alone: $title', async ({ title: look, options }) => {
      const { id, token } = await shop.signUpConfirmed()
      await opened(options, async (page) => {
        const devtools = await page.context().newCDPSession(page)
        await devtools.send('WebAuthn.enable')
        const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
          options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
          },
        })
        await page.route(`${back}?*`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>The app</h1>' }))
        await page.goto(address())
        await expectAccessible(page, `passkey ${look}`)
        // no passkey is there yet
        await tabTo(page, 'main button')
        await page.keyboard.press('Enter')
        await page.getByText('No passkey was used. Try again.').waitFor()
        await expectAccessible(page, `passkey, refused ${look}`)
        await page.evaluate(`(${enrol})(${JSON.stringify(token)})`)
        await tabTo(page, 'main button')
        await page.keyboard.press('Enter')
        await page.waitForURL(`${back}?*`)
        const { searchParams } = new URL(page.url())
        expect([...searchParams.keys()].sort()).toEqual(['code', 'state'])
        const answer = await post('/auth/sign-in/passkey/exchange', {
          code: searchParams.get('code'),
          code_verifier: verifier,
        })
        expect([answer.status, answer.json.user.id]).toEqual([200, id])
        await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
      })
    })

    it('is not used by a person who cancels: the application hears of it', async () => {
      await opened({}, async (page) => {
        await page.route(`${back}?*`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>The app</h1>' }))
        await page.goto(address())
        await press(page, 'main a')
        expect(page.url()).toBe(`${back}?error=access_denied&state=opaque`)
      })
    })

    it('needs script, and the page says so without', async () => {
      await opened({ javaScriptEnabled: false }, async (page) => {
        await page.goto(address())
        expect(await page.locator('main').innerText()).toContain('This page needs JavaScript.')
        expect(await page.locator('main button').isVisible()).toBe(false)
      })
    })

    it('does not work at an address that is no domain, and the page says so', async () => {
      await opened({}, async (page) => {
        await page.goto(address().replace('localhost', '127.0.0.1'))
        await tabTo(page, 'main button')
        await page.keyboard.press('Enter')
        await page.getByText('Passkeys do not work at this address.').waitFor()
      })
    })
  })

  it('another site can neither frame a page nor post its form', async () => {
    const email = address()
    const { json } = await signUp(email)
    const link = await linkFor(email, 'confirm_email')
    const content = `<iframe src="${link}"></iframe><form method="post" action="${shop.url}/auth/pages/confirm">
      <input name="token" value="${link.slice(-43)}"><button>Go</button></form>`
    const other = http.createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(content),
    )
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const context = await browser.newContext()
    const page = await context.newPage()
    const blocked = page.waitForEvent('requestfailed')
    // a browser takes localhost and 127.0.0.1 for two sites
    await page.goto(`http://localhost:${(other.address() as { port: number }).port}/`)
    expect((await blocked).failure()!.errorText).toMatch(/BLOCKED_BY/)
    const loaded = page.waitForEvent('load')
    await page.locator('button').click()
    await loaded
    expect([page.url(), await title(page)]).toEqual([`${shop.url}/auth/pages/confirm`, 'This did not work'])
    expect((await shop.call('/auth/user', { token: json.access_token })).json.email_verified).toBe(false)
    await context.close()
    other.close()
  })
})
