/**
 * A stack behind a path (contract 9.14): everything that holds an address of the stack, as a client sees it through the proxy. The
 * contract of each operation behind a path is in `contract.test.ts`.
 */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limitsDefaults } from '../../../src/wire/settings.ts'
import { accountFlows } from '../../support/account-flows.ts'
import { stack } from '../../support/command.ts'
import { administer } from '../../support/management.ts'
import { PathProxy } from '../../support/path-proxy.ts'
import {
  challengeOf,
  enable,
  mockIssuers,
  newVerifier,
  putClient,
  signInWith,
  startPath,
} from '../../support/providers.ts'
import { call, useStack } from '../../support/stack.ts'
import { ownOperations, perform } from '../../support/surface.ts'
import { verbRecipient, verbSession, verbs, verbUser } from '../../support/verbs.ts'

const base = '/shop/api'
const proxy = new PathProxy(base)
const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings, proxy })
const admin = administer(shop)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-base-path-'))

afterAll(async () => {
  await issuers.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const linkIn = ({ text }: { text: string }) => /https?:\S+[?&]token=[\w-]{43}/.exec(text)![0]
const tokenIn = (mail: { text: string }) => linkIn(mail).slice(-43)

describe('a token', () => {
  it('names the issuer with the path, and the metadata there leads to its keys', async () => {
    const { token } = await shop.signUp()
    const issuer = `${shop.url}/auth`
    const { json, text } = await call(`${issuer}/.well-known/openid-configuration`)
    expect([json.issuer, json.jwks_uri.startsWith(`${issuer}/`)]).toEqual([issuer, true])
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(json.jwks_uri)), { issuer })
    expect(payload.iss).toBe(issuer)
    expect((await shop.call('/.well-known/oauth-authorization-server/auth')).text).toBe(text)
  })

  it('is verified by the backend, which asks the auth worker and not the proxy for the keys', async () => {
    const { token, refreshToken } = await shop.signUp()
    const before = proxy.requests.length
    const statusOf = async (bearer: string) => (await shop.call('/orders', { token: bearer })).status
    expect([await statusOf(token), await statusOf(`${token.slice(0, -4)}AAAA`)]).toEqual([200, 401])
    expect(proxy.requests.slice(before)).toEqual([`GET ${base}/orders`, `GET ${base}/orders`])
    const renewed = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
    expect(await statusOf(renewed.json.access_token)).toBe(200)
    // a token of the stack's own issuer ends with its session, so the backend knows the issuer with its path
    expect((await shop.call('/auth/sign-out', { token, json: {} })).status).toBeLessThan(300)
    expect(await statusOf(renewed.json.access_token)).toBe(401)
  })
})

describe('a page', () => {
  /** Every address that a browser would request from the page. */
  const addressesIn = (text: string) => [...text.matchAll(/ (?:action|href|src)="([^"]*)"/g)].map(([, found]) => found!)
  const password = 'a new horse battery'
  const confirmed = async (email: string) => {
    const [row] = await shop.sql<{ is: boolean }>(
      'select email_confirmed_at is not null as is from auth.users where email = $1',
      [email],
    )
    return row?.is === true
  }
  const flows = {
    confirm_email: async () => {
      const { email } = await shop.signUp()
      return { to: email, hasWorked: () => confirmed(email) }
    },
    reset_password: async () => {
      const { email } = await shop.signUp()
      await shop.call('/auth/password/forgot', { json: { email } })
      const signIn = () => shop.call('/auth/sign-in/password', { json: { email, password } })
      return { to: email, hasWorked: async () => (await signIn()).status === 200 }
    },
    email_change_confirm: async () => {
      const person = await shop.signUp()
      const email = `changed-${person.email}`
      const json = { email, current_password: person.password }
      expect((await shop.call('/auth/email/change', { token: person.token, json })).status).toBeLessThan(300)
      return { to: email, hasWorked: () => confirmed(email) }
    },
    email_change_notice: async () => {
      const { email, token, password } = await shop.signUpConfirmed()
      const changed = `changed-${email}`
      await shop.call('/auth/email/change', { token, json: { email: changed, current_password: password } })
      const confirmation = tokenIn(await shop.mail(changed, 'email_change_confirm'))
      await shop.call('/auth/email/change/confirm', { json: { token: confirmation } })
      return { to: email, hasWorked: () => confirmed(email) }
    },
  }

  it.each(Object.entries(flows))('of %s is linked by the mail, and its form works', async (template, begin) => {
    const { to, hasWorked } = await begin()
    const link = linkIn(await shop.mail(to, template))
    expect(link.startsWith(`${shop.url}/auth/`)).toBe(true)
    const page = await call(link)
    const addresses = addressesIn(page.text)
    expect([page.status, addresses.length]).toEqual([200, 1])
    const action = new URL(addresses[0]!, link).href
    expect(action.startsWith(`${shop.url}/auth/pages/`)).toBe(true)
    const form = (token: string) => ({
      body: new URLSearchParams({ token, password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', origin: 'null' },
    })
    const refused = await call(action, form('A'.repeat(43)))
    expect([refused.status, await hasWorked()]).toEqual([410, false])
    for (const other of addressesIn(refused.text))
      expect(new URL(other, link).href.startsWith(`${shop.url}/`)).toBe(true)
    const done = await call(action, form(link.slice(-43)))
    expect([done.status, await hasWorked()]).toEqual([200, true])
  })

  it('of the passkeys calls the stack below the path', async () => {
    const redirect_to = 'https://app.example/back'
    await admin.call('PUT', '/settings', { redirect_allow_list: [redirect_to] })
    const query = { redirect_to, code_challenge: challengeOf(newVerifier()), code_challenge_method: 'S256' }
    const page = await shop.call(`/auth/passkey?${new URLSearchParams(query)}`)
    expect([page.status, /data-base="([^"]*)"/.exec(page.text)?.[1]]).toEqual([200, base])
  })
})

describe('the accounts’ own operations', () => {
  beforeAll(async () => {
    for (const issuer of issuers.all) await enable(shop, issuer)
    const fields = { ios_client_id: 'google-ios' }
    await putClient(shop, 'google', { key: 'app-ios', kind: 'native', platform: 'ios', fields })
    await admin.call('POST', '/providers/phone', { enabled: true })
    const wide = { attempts: 10_000, seconds: 1 }
    const rate_limits = Object.fromEntries(Object.keys(limitsDefaults).map((name) => [name, wide]))
    await admin.call('PUT', '/settings', { rate_limits })
  })

  const operations = ownOperations.map((one) => [one.name, one, accountFlows[one.name]!] as const)
  it.each(operations.filter(([, , { neverSucceeds }]) => neverSucceeds === undefined))(
    '%s',
    async (_, operation, row) => {
      const { status, text } = await perform({ stack: shop, admin, issuers }, operation, row.happy)
      expect([status, text]).toEqual([row.status, text])
    },
  )

  it.each(['google', 'apple', 'microsoft', 'github'] as const)(
    '%s sends people back below the path',
    async (dialect) => {
      const { headers } = await shop.call(startPath(dialect, newVerifier()))
      const redirectUri = new URL(headers.get('location')!).searchParams.get('redirect_uri')
      expect(redirectUri).toBe(`${shop.url}/auth/oauth/${dialect}/callback`)
      const email = `${dialect}@example.com`
      const person = { sub: '70001', email, verified: true, name: 'Ada L.' }
      const { status, json } = await signInWith(shop, issuers[dialect], { person })
      expect([status, json.user.email]).toEqual([200, email])
      expect((await shop.call('/orders', { token: json.access_token })).status).toBe(200)
    },
  )
})

describe('the command line, with an environment whose url has the path', () => {
  const run = (words: string[], input?: string) =>
    stack([...words, '--env', 'staging'], {
      cwd: folder,
      env: { STACK_SERVICE_ROLE_KEY: shop.stack.record.service_role_key },
      ...(input === undefined ? {} : { input }),
    })

  beforeAll(async () => {
    fs.mkdirSync(path.join(folder, 'stack'))
    const oauth = { web: { application_key: 'shop', variant: 'release' } }
    const environments = { staging: { ref: shop.stack.record.ref, url: shop.url } }
    fs.writeFileSync(path.join(folder, 'stack/project.json'), JSON.stringify({ project: 'shop', environments, oauth }))
    await admin.call('PUT', '/settings', {})
    await shop.sql('insert into auth.users (id, email) values ($1, $2)', [verbUser, verbRecipient])
    await shop.sql(`insert into auth.sessions (id, user_id, expires_at) values ($1, $2, now() + interval '1 day')`, [
      verbSession,
      verbUser,
    ])
  })

  it.each(verbs.map((verb, index) => [`${index + 1} stack ${verb.words}`, verb] as const))('%s', async (_, verb) => {
    const before = proxy.requests.length
    const { code, stdout, stderr } = await run(
      [...verb.words.split(' '), ...verb.positionals, ...verb.flags],
      verb.stdin,
    )
    expect(proxy.requests.at(-1)).toBe(`${verb.method} ${base}/v1/management/auth${verb.path}`)
    expect(proxy.requests.slice(before).filter((request) => !request.includes(` ${base}/`))).toEqual([])
    expect([code, stderr]).toEqual([verb.status < 400 ? 0 : 1, expect.any(String)])
    if (verb.status < 400) expect(Object.keys(JSON.parse(stdout))).toEqual(expect.arrayContaining([...verb.answer]))
  })

  it.each(['secret list', 'operators list', 'webhooks deliveries', 'link'])('stack %s', async (words) => {
    const before = proxy.requests.length
    const { code, stderr } = await run(words.split(' '))
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const asked = proxy.requests.slice(before)
    expect([asked.length > 0, asked.filter((request) => !request.includes(` ${base}/`))]).toEqual([true, []])
  })
})
