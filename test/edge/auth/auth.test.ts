/** The auth module over HTTP: accounts, tokens, settings, roles; itself compiled by the build and run by the runtime (contract 9). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { build } from '../../../build/index.ts'
import { authTarget } from '../../../build/targets.ts'
import { openRequest } from '../../support/raw.ts'
import { type Answer, useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-auth-'))
const { built } = await build(authTarget(folder))
fs.rmSync(folder, { recursive: true, force: true })

const management = '/v1/management/auth'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const put = (json: unknown, headers: Record<string, string> = {}) =>
  shop.call(`${management}/settings`, { method: 'PUT', json, headers: { ...asService(), ...headers } })
const refresh = (refresh_token: string) => shop.call('/auth/token/refresh', { json: { refresh_token } })
const signIn = (email: string, password: string) => shop.call('/auth/sign-in/password', { json: { email, password } })

describe('accounts', () => {
  it('a sign-up writes the user, the password and the default role, and signs in', async () => {
    const person = await shop.signUp()
    expect(person.id).toMatch(/^usr_[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(await shop.sql('select role from auth.user_roles where user_id = $1', [person.id])).toEqual([
      { role: 'customer' },
    ])
    const [credential] = await shop.sql<{ phc: string }>(
      'select phc from auth.password_credentials where user_id = $1',
      [person.id],
    )
    expect(credential?.phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  })

  it('the default role is written in the transaction of the sign-up: without it, there is no user', async () => {
    const email = 'half-made@example.com'
    await shop.sql(
      `create function refuse_grant() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
    )
    await shop.sql('create trigger refuse_grant before insert on auth.user_roles execute function refuse_grant()')
    const answer = await shop.call('/auth/sign-up', { json: { email, password: 'correct horse battery' } })
    await shop.sql('drop trigger refuse_grant on auth.user_roles')
    expect(answer.status).toBe(500)
    expect(await shop.sql('select id from auth.users where email = $1', [email])).toEqual([])
  })

  it('an address is one account, whatever its case', async () => {
    const { email, password } = await shop.signUp()
    const again = await shop.call('/auth/sign-up', { json: { email: ` ${email.toUpperCase()}`, password } })
    expect(again.json).toMatchObject({ error: 'email_taken', status: 409 })
  })

  it('a password signs in; a wrong one and an unknown address get the same answer', async () => {
    const { email, password, id } = await shop.signUp()
    expect((await signIn(email, password)).json.user.id).toBe(id)
    const wrong = await signIn(email, `${password}!`)
    const unknown = await signIn('nobody@example.com', password)
    const strip = ({ json: { request_id: _, ...rest } }: Answer) => rest
    expect(strip(wrong)).toEqual(strip(unknown))
    expect(wrong.json).toMatchObject({ error: 'invalid_credentials', status: 401 })
  })

  it('every wrong field is named', async () => {
    const sent = { email: 'not an address', password: 7, pasword: '' }
    const { json } = await shop.call('/auth/sign-up', { json: sent })
    expect(json).toMatchObject({ error: 'invalid_request', status: 400 })
    expect(json.fields.map(({ path }: { path: string }) => path).sort()).toEqual(['email', 'password', 'pasword'])
  })

  it('the policy counts code points', async () => {
    const attempt = (password: string) =>
      shop.call('/auth/sign-up', { json: { email: `${crypto.randomUUID()}@example.com`, password } })
    expect((await attempt('1234567')).json).toMatchObject({ error: 'invalid_password', status: 400 })
    expect((await attempt('🐎🐎🐎🐎🐎🐎🐎')).json.error).toBe('invalid_password')
    expect((await attempt('🐎🐎🐎🐎🐎🐎🐎🐎')).status).toBe(200)
    expect((await attempt('x'.repeat(65))).json.error).toBe('invalid_password')
    expect((await attempt('')).json.error).toBe('invalid_password')
  })
})

describe('tokens', () => {
  it('are ES256 under the published key set, with the contracted claims', async () => {
    const { token, id, email } = await shop.signUp()
    const { json, headers } = await shop.call('/auth/.well-known/jwks.json')
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(Object.keys(json.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: json.keys[0].kid })
    const { payload } = await jwtVerify(token, createLocalJWKSet(json), {
      issuer: `${shop.url}/auth`,
      audience: shop.stack.record.ref,
    })
    expect(payload).toMatchObject({ sub: id, email, email_verified: false, role: 'authenticated' })
    expect(payload['session_id']).toMatch(/^ses_/)
    expect(payload.exp! - payload.iat!).toBe(900)
    for (const claim of ['jti', 'auth_time']) expect(payload[claim]).toBeDefined()
  })

  it('the private key is sealed at rest', async () => {
    const [row] = await shop.sql<{ sealed: string; public: { x: string } }>(
      `select encode(sealed_private, 'escape') as sealed, public_jwk as public from auth.signing_keys`,
    )
    expect(row?.sealed).not.toContain('"d"')
    expect(row?.sealed).not.toContain(row?.public.x)
  })

  it('a refresh gives a new pair; the old refresh token gives the same successor for a moment', async () => {
    const { refreshToken } = await shop.signUp()
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(refreshToken)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const successors = new Set(answers.map(({ json }) => json.refresh_token))
    expect(successors.size).toBe(1)
    expect(successors.has(refreshToken)).toBe(false)
  })

  it('a refresh token from two generations ago ends the session: two parties hold it', async () => {
    const { id, refreshToken, token } = await shop.signUp()
    const second = (await refresh(refreshToken)).json.refresh_token
    const third = (await refresh(second)).json.refresh_token
    const reused = await refresh(refreshToken)
    expect(reused.json).toMatchObject({ error: 'invalid_refresh_token', status: 401 })
    expect(reused.headers.get('x-request-id')).toBe(reused.json.request_id)
    expect((await refresh(third)).status).toBe(401)
    expect((await shop.call('/orders', { token })).status).toBe(401)
    expect(await shop.sql('select end_reason from auth.sessions where user_id = $1', [id])).toEqual([
      { end_reason: 'reuse_detected' },
    ])
  })

  it('the parent may come late three times, not four', async () => {
    const { id, refreshToken } = await shop.signUp()
    const late = () =>
      shop.sql(`update auth.sessions set refresh_rotated_at = now() - interval '11 s' where user_id = $1`, [id])
    let parent = refreshToken
    let current = (await refresh(parent)).json.refresh_token
    for (let recovery = 0; recovery < 3; recovery++) {
      await late()
      const { status, json } = await refresh(parent)
      expect(status).toBe(200)
      parent = current
      current = json.refresh_token
    }
    await late()
    expect((await refresh(parent)).status).toBe(401)
  })

  it('a refresh token that was not made here is refused before any query', async () => {
    const { refreshToken } = await shop.signUp()
    const other = refreshToken.endsWith('A') ? 'B' : 'A'
    for (const forged of [
      '',
      'rt_',
      'rt_AAAA',
      `${refreshToken}A`,
      refreshToken.slice(0, -1) + other,
      refreshToken.slice(3),
    ]) {
      expect((await refresh(forged)).json).toMatchObject({ error: 'invalid_refresh_token' })
    }
  })
})

describe('9.7 management', () => {
  /** Every route that administers, as the module's own table has it. */
  const routes = built!.table.routes.filter(({ path }) => /^\/(?:v1\/management|admin)\//.test(path))
  const bodies = routes.filter(({ parameters }) => parameters.some(({ from }) => from === 'body'))

  function addressOf(path: string): string {
    const examples: Record<string, string> = { ':id': 'usr_1', ':role': 'staff', ':name': 'GUARDED' }
    return path.replace(/:\w+/g, (name) => examples[name] ?? 'unknown')
  }

  /** A user whom the list of operators names, with a token that was issued afterwards. */
  async function operator(): Promise<{
    id: string
    token: string
    list: (method: 'PUT' | 'DELETE') => Promise<Answer>
  }> {
    const { id, refreshToken } = await shop.signUp()
    const list = (method: 'PUT' | 'DELETE') =>
      shop.call(`${management}/operators/${id}`, { method, headers: asService() })
    expect((await list('PUT')).status).toBe(204)
    return { id, token: (await refresh(refreshToken)).json.access_token, list }
  }

  it('4.6 the table declares the gate of every route below an administered path', () => {
    expect(routes.filter(({ gate }) => gate.serviceRole === undefined)).toEqual([])
  })

  it('an operator who was removed is refused on the next call with the same token, like every other user', async () => {
    const { id, token, list } = await operator()
    const settings = () => shop.call(`${management}/settings`, { token })
    expect((await settings()).status).toBe(200)
    const listed = (await shop.call(`${management}/operators`, { headers: asService() })).json
    expect(listed.data.find(({ user_id }: { user_id: string }) => user_id === id)).toEqual({
      user_id: id,
      email: expect.stringContaining('@'),
      created_at: expect.stringMatching(/Z$/),
    })
    expect((await list('DELETE')).status).toBe(204)
    const removed = await settings()
    const other = await shop.call(`${management}/settings`, { token: (await shop.signUp()).token })
    expect([removed.status, removed.json.error_description]).toEqual([403, other.json.error_description])
    expect((await list('PUT')).status).toBe(204)
    expect((await settings()).status).toBe(200)
  })

  it('a token without the claim is refused, though the list names its user; so is one whose session has ended', async () => {
    const person = await shop.signUp()
    expect(
      (await shop.call(`${management}/operators/${person.id}`, { method: 'PUT', headers: asService() })).status,
    ).toBe(204)
    expect((await shop.call(`${management}/settings`, { token: person.token })).status).toBe(403)
    const { id, token } = await operator()
    await shop.sql(`update auth.sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1`, [id])
    const ended = await shop.call(`${management}/settings`, { token })
    const none = await shop.call(`${management}/settings`)
    expect([ended.status, ended.json.error_description]).toEqual([401, none.json.error_description])
  })

  it.each(bodies.map(({ method, path, maxBodyBytes }) => [method, addressOf(path), maxBodyBytes] as const))(
    '4.1 %s %s checks the caller, then the length of the body, then the body',
    async (method, path, most) => {
      /** Only the head of the request is sent: its body never arrives. */
      const begin = async (length: number, ...headers: [string, string][]) => {
        const type = ['content-type', 'application/json'] as [string, string]
        const { answer, leave } = openRequest({
          url: shop.url,
          method,
          target: path,
          headers: [type, ...headers],
          length,
        })
        const { status } = await answer
        leave()
        return status
      }
      const key = ['apikey', asService().apikey] as [string, string]
      const { token } = await shop.signUp()
      for (const length of [1, most + 1]) {
        expect(await begin(length)).toBe(401)
        expect(await begin(length, ['authorization', `Bearer ${token}`])).toBe(403)
      }
      expect(await begin(most + 1, key)).toBe(413)
      const json = { ...asService(), 'content-type': 'application/json' }
      const broken = await shop.call(path, { method, body: '{', headers: json })
      expect(broken.json).toMatchObject({ error: 'invalid_request', status: 400 })
      const form = { ...asService(), 'content-type': 'application/x-www-form-urlencoded' }
      expect((await shop.call(path, { method, body: 'a=b', headers: form })).json.error).toBe('unsupported_media_type')
    },
  )
})

describe('9.8 settings', () => {
  it('are replaced whole; what nobody reads is named', async () => {
    const written = await put({ password_min_length: 10, site_url: 'https://shop.example', pasword_max: 3 })
    expect(written.json).toEqual({
      password_min_length: 10,
      site_url: 'https://shop.example',
      ignored_fields: ['pasword_max'],
    })
    const again = await put({ confirm_email_required: false })
    expect(again.json).toEqual({ confirm_email_required: false, ignored_fields: [] })
    expect((await shop.call(`${management}/settings`, { headers: asService() })).json).toEqual({
      confirm_email_required: false,
    })
  })

  it('password_max_length lies between the minimum and 64', async () => {
    for (const document of [
      { password_max_length: 65 },
      { password_max_length: 7 },
      { password_min_length: 20, password_max_length: 19 },
    ]) {
      expect((await put(document)).json).toMatchObject({
        error: 'invalid_settings',
        error_description: 'password_max_length must be between password_min_length and 64',
        status: 400,
      })
    }
    expect((await put({ password_min_length: 20, password_max_length: 20 })).status).toBe(200)
    await put({})
  })

  it('9.2 a stale If-Match is 412 with the current etag; of ten writers one wins', async () => {
    const { headers } = await shop.call(`${management}/settings`, { headers: asService() })
    const etag = headers.get('etag')!
    const writers = await Promise.all(Array.from({ length: 10 }, () => put({}, { 'if-match': etag })))
    expect(writers.filter(({ status }) => status === 200)).toHaveLength(1)
    const stale = await put({}, { 'if-match': etag })
    expect(stale.json).toMatchObject({ error: 'precondition_failed', status: 412 })
    expect((await put({}, { 'if-match': stale.json.etag })).status).toBe(200)
  })

  it('confirm_email_required: no session before the address is confirmed, and known addresses stay hidden', async () => {
    const known = await shop.signUp()
    await put({ confirm_email_required: true })
    const attempt = (email: string) => shop.call('/auth/sign-up', { json: { email, password: known.password } })
    const fresh = `${crypto.randomUUID()}@example.com`
    expect((await attempt(fresh)).text).toBe((await attempt(known.email)).text)
    expect((await signIn(fresh, known.password)).json).toMatchObject({ error: 'email_not_confirmed', status: 403 })
    expect((await signIn(fresh, 'wrong password')).json.error).toBe('invalid_credentials')
    await shop.sql('update auth.users set email_confirmed_at = now() where email = $1', [fresh])
    expect((await signIn(fresh, known.password)).json.user.email_verified).toBe(true)
    await put({})
  })
})

describe('roles', () => {
  const declare = (json: unknown) => shop.call(`${management}/roles`, { json, headers: asService() })
  const list = async () => (await shop.call(`${management}/roles`, { headers: asService() })).json.data

  it('those of stack/roles.json are there from the start', async () => {
    expect(await list()).toEqual([
      { name: 'customer', default: true, permissions: [] },
      { name: 'manager', default: false, permissions: ['orders.*'] },
      { name: 'staff', default: false, permissions: ['orders.read'] },
    ])
  })

  it('declaring again changes the role; a new default replaces the old one', async () => {
    await declare({ name: 'temporary', permissions: ['a.b', 'a.c'] })
    await declare({ name: 'temporary', permissions: ['a.c'], default: true })
    const roles = await list()
    expect(roles.find(({ name }: { name: string }) => name === 'temporary')).toEqual({
      name: 'temporary',
      default: true,
      permissions: ['a.c'],
    })
    expect(roles.filter((role: { default: boolean }) => role.default)).toHaveLength(1)
    await declare({ name: 'customer', default: true })
  })

  it('a malformed one is refused by name', async () => {
    for (const wrong of [
      { name: 'N/o' },
      { name: 'x', permissions: ['all'] },
      { name: 'x', permission: [] },
      [],
      null,
    ]) {
      expect((await declare(wrong)).json).toMatchObject({ error: 'invalid_role', status: 400 })
    }
  })

  it('an unknown role or user is 404 by name', async () => {
    const { id } = await shop.signUp()
    expect((await shop.role('PUT', id, 'nobody')).json).toMatchObject({
      error: 'role_not_defined',
      role: 'nobody',
      status: 404,
    })
    expect((await shop.role('PUT', 'usr_none', 'staff')).json).toMatchObject({ error: 'user_not_found', status: 404 })
  })
})

describe('1.2 the two workers', () => {
  it('the host hands the auth module’s paths to it, and everything else to the project', async () => {
    const workerOf = async (path: string) => {
      const { headers } = await shop.call(path, { token: 'a.b.c' })
      const id = headers.get('x-request-id')
      // the refused token is logged by whichever worker looked at it; a public route looks too
      return (await shop.logged(({ request_id, worker }) => request_id === id && worker !== 'front'))['worker']
    }
    expect(await workerOf('/catalogue')).toBe('backend')
    expect(await workerOf('/auth/.well-known/jwks.json')).toBe('auth')
    expect(await workerOf('/v1/management/auth/settings')).toBe('auth')
    for (const path of ['/auth/nothing', '/admin/vault/nothing', '/authors', '/authx/sign-up']) {
      expect((await shop.call(path)).json).toMatchObject({ error: 'not_found', status: 404 })
    }
  })
})
