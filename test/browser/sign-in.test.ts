/** The sign-in page of the example in a real browser: it reads the snapshot that `stack link` wrote (contract 10.6). */
import * as fs from 'node:fs'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, launchBrowser } from '../support/browser.ts'
import { type Running, stack, startProcess } from '../support/command.ts'
import { administer } from '../support/management.ts'
import { mockIssuers } from '../support/providers.ts'
import { useStack } from '../support/stack.ts'

const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
const admin = administer(shop)
afterAll(() => issuers.close())

const secret = () => issuers.google.clientSecret

async function configure(return_uris: string[]): Promise<void> {
  const client = { key: 'web', enabled: true, application_key: 'shop', platform: 'web', variant: 'release' }
  const credential = { provider: 'google', kind: 'oauth_client_secret', client_secret: secret() }
  await admin.call('PUT', '/providers/google/credentials/web', credential)
  await admin.call('PUT', '/providers/google/config', {
    browser_clients: [{ ...client, web_client_id: 'google-web', return_uris }],
  })
  const { status } = await admin.call('POST', '/providers/google', { enabled: true })
  expect(status).toBe(200)
}

/** Serves the page of the project's copy, on a free port. */
async function served(): Promise<{ site: string; running: Running }> {
  const running = startProcess(process.execPath, [path.join(shop.root, 'web/serve.mjs')], shop.root, { PORT: '0' })
  await running.seen('http://localhost:')
  return { site: /http:\S+/.exec(running.output())![0], running }
}

if (!hasBrowser) process.stderr.write('the browser of the tests is for Linux on x64 alone: its tests are skipped\n')

describe.skipIf(!hasBrowser)('the sign-in page of the example', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
    const selection = { project: 'orders', oauth: { web: { application_key: 'shop', variant: 'release' } } }
    fs.writeFileSync(path.join(shop.root, 'stack/project.json'), JSON.stringify(selection))
  })
  afterAll(() => browser?.close())

  async function opened(work: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage()
    try {
      await work(page)
    } finally {
      await page.close()
    }
  }
  const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()

  it('signs a person in with the client of the snapshot, by PKCE', async () => {
    const { site } = await served()
    await configure([site])
    expect((await stack(['link'], { cwd: shop.root })).code).toBe(0)
    issuers.google.person = { sub: 'g-1', email: 'ada@example.com', verified: true }
    await opened(async (page) => {
      await page.goto(site)
      await status(page, 'Choose how to sign in.')
      await expectAccessible(page, 'example sign-in')
      await page.getByRole('button', { name: 'Continue with Google' }).click()
      await status(page, 'Signed in as ada@example.com, with 0 orders.')
      expect(page.url()).toBe(site)
    })
  })

  it('says what is missing: no snapshot, or another address among the return_uris', async () => {
    const { site } = await served()
    await configure(['https://shop.example/signed-in'])
    await stack(['link'], { cwd: shop.root })
    await opened(async (page) => {
      await page.goto(site)
      await status(page, `No client has ${site} among its return_uris.`)
      fs.rmSync(path.join(shop.root, 'stack/oauth/web.json'))
      await page.goto(site)
      await status(page, 'There is no stack/oauth/web.json: run `stack link`.')
    })
  })
})
