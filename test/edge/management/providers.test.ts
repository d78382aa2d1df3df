/** 9.1 to 9.5 the provider records: read, opened and closed, configured, cleared, and their credentials. */
import { generateKeyPairSync } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const shop = useStack('examples/orders')

const vectors = path.resolve(import.meta.dirname, '../../../../shared/vectors')
const isThere = fs.existsSync(vectors)
if (!isThere) process.stderr.write('the public texts are not beside this repository: their tests are skipped\n')

const base = '/v1/management/auth/providers'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const send = (method: string, address: string, json?: unknown, headers: Record<string, string> = {}) =>
  shop.call(`${base}${address}`, {
    method,
    ...(json === undefined ? {} : { json }),
    headers: { ...asService(), ...headers },
  })
/** Sends the body as it is typed. */
const sendText = (method: string, address: string, body: BodyInit) =>
  shop.call(`${base}${address}`, { method, body, headers: { ...asService(), 'content-type': 'application/json' } })
const get = (address = '') => send('GET', address)
const enable = (name: string, enabled: unknown) => send('POST', `/${name}`, { enabled })
const configure = (name: string, json: unknown, headers = {}) => send('PUT', `/${name}/config`, json, headers)
const clear = (name: string, credential?: string) =>
  send('DELETE', `/${name}/config${credential === undefined ? '' : `?credential=${credential}`}`)
const write = (name: string, credential: string, json: object, headers = {}) =>
  send('PUT', `/${name}/credentials/${credential}`, { provider: name, ...json }, headers)
const writeSecret = (name: string, credential: string, client_secret = 'a client secret') =>
  write(name, credential, { kind: 'oauth_client_secret', client_secret })
const entries = (event = 'provider.%') =>
  shop.sql(
    `select event_type, actor_type, target_type, target_id, changes, details from auth.audit
     where event_type like $1 order by id`,
    [event],
  )

/** In the order in which fields are shown. */
const everywhere = { enabled: true, application_key: 'shop', platform: 'web', variant: 'release' }
const browser = (key = 'web', fields: object = {}) => ({
  key,
  ...everywhere,
  web_client_id: `${key}.apps.example`,
  credential_ref: key,
  return_uris: ['https://shop.example/signed-in'],
  ...fields,
})
const android = (key = 'android', fields: object = {}) => ({
  key,
  ...everywhere,
  platform: 'android',
  package_name: 'com.example.shop',
  android_client_id: 'android.apps.example',
  server_client_id: 'web.apps.example',
  signing_certificate_sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  redirect_uri: 'com.example.shop:/signed-in',
  ...fields,
})

function pemOf(namedCurve: string, type: 'pkcs8' | 'sec1' = 'pkcs8'): string {
  return generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type, format: 'pem' }) as string
}

/** Every provider as a new stack has it. */
async function reset(): Promise<void> {
  await shop.sql('delete from auth.provider_clients')
  await shop.sql('delete from auth.provider_credentials')
  await shop.sql(`update auth.providers set enabled = name = 'email', config = '{}'`)
  await shop.sql(`delete from stack.audit where event_type like 'provider.%'`)
  await shop.sql(`update auth.settings set document = '{}'`)
  await shop.sql('delete from auth.rate_limits')
}
beforeEach(reset)
afterEach(reset)

describe('the list', () => {
  it('has the six providers of a new stack in their order, and email alone is open', async () => {
    const { status, json, headers } = await get()
    expect([status, json.has_more, json.next_cursor]).toEqual([200, false, null])
    expect(headers.get('cache-control')).toBe('no-store')
    const told = json.data.map((one: Record<string, unknown>) => [one['name'], one['kind'], one['state']].join(' '))
    expect(told).toEqual([
      'google oauth disabled',
      'apple oauth disabled',
      'microsoft oauth disabled',
      'github oauth disabled',
      'email email enabled',
      'phone phone disabled',
    ])
    expect(json.data[0]).toEqual({
      name: 'google',
      kind: 'oauth',
      enabled: false,
      state: 'disabled',
      etag: expect.stringMatching(/^"\d+"$/),
      browser_clients: [],
      native_clients: [],
      scopes: [],
      link_policy: 'verified_email',
      credentials: [],
      configured: false,
      problems: ['no_enabled_client'],
      updated_at: expect.stringMatching(/Z$/),
    })
    expect(json.data[4]).toMatchObject({ enabled: true, configured: true, problems: [], browser_clients: [] })
    expect(json.data[5]).toMatchObject({ configured: false, problems: ['sender_unset'] })
  })

  it('shows what each provider alone shows, with its etag', async () => {
    await configure('google', { browser_clients: [browser()] })
    for (const listed of (await get()).json.data) {
      const { json, headers } = await get(`/${listed.name}`)
      expect(json).toEqual(listed)
      expect(headers.get('etag')).toBe(listed.etag)
    }
  })

  it('takes the synonyms, and no other name', async () => {
    const names = ['provider_a', 'provider_b', 'provider_c', 'provider_d', 'phone']
    const answers = await Promise.all(names.map((name) => get(`/${name}`)))
    expect(answers.map(({ json }) => json.name)).toEqual(['google', 'apple', 'microsoft', 'github', 'phone'])
    for (const name of ['provider_e', 'Google', 'toString', '__proto__', '%F0%9F%98%80', 'x'.repeat(9_000)]) {
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['POST', '', { enabled: true }],
        ['PUT', '/config', {}],
        ['DELETE', '/config', undefined],
        ['PUT', '/credentials/web', {}],
        ['DELETE', '/credentials/web', undefined],
      ] as const) {
        const { json } = await send(method, `/${name}${rest}`, body)
        expect(json).toMatchObject({ error: 'provider_not_found', status: 404 })
      }
    }
    expect((await get('/googel')).json.error_description).toContain('did you mean "google"?')
  })

  it.each([
    ['POST', ''],
    ['PUT', '/google'],
    ['DELETE', '/google'],
    ['GET', '/google/config'],
    ['POST', '/google/config'],
    ['GET', '/google/credentials/web'],
    ['DELETE', '/phone/settings'],
  ])('%s %s is 405', async (method, address) => {
    const { json, headers } = await send(method, address, method === 'DELETE' || method === 'GET' ? undefined : {})
    expect(json).toMatchObject({ error: 'method_not_allowed', status: 405 })
    expect(headers.get('allow')).toBeTruthy()
  })

  it.each([
    ['GET', '?enabled=true'],
    ['GET', '/google?credential=x'],
    ['DELETE', '/google/config?credentials=x'],
    ['GET', '/phone/settings?x'],
  ])('%s %s is an unknown parameter', async (method, address) => {
    expect((await send(method, address)).json).toMatchObject({ error: 'unknown_parameter', status: 400 })
  })
})

describe('9.1 enabled and disabled', () => {
  it('one call, absolute: the second one changes nothing', async () => {
    const before = (await get('/google')).json
    const first = await enable('google', true)
    expect(first.json).toMatchObject({ enabled: true, state: 'enabled', problems: ['no_enabled_client'] })
    expect(first.headers.get('etag')).toBe(first.json.etag)
    expect(first.json.etag).not.toBe(before.etag)
    expect((await enable('google', true)).json).toEqual(first.json)
    expect((await enable('google', false)).json).toMatchObject({ enabled: false, state: 'disabled' })
    expect(await entries()).toEqual([
      {
        event_type: 'provider.enabled',
        actor_type: 'service',
        target_type: 'provider',
        target_id: 'google',
        changes: [{ path: 'enabled', from: false, to: true }],
        details: { unconditional: true },
      },
      expect.objectContaining({
        event_type: 'provider.disabled',
        changes: [{ path: 'enabled', from: true, to: false }],
      }),
    ])
  })

  it('disabling keeps the clients', async () => {
    await configure('google', { browser_clients: [browser()] })
    await enable('google', true)
    expect((await enable('google', false)).json.browser_clients).toEqual([browser()])
  })

  it('an operator’s act is recorded under their own id', async () => {
    const { id, refreshToken } = await shop.signUp()
    await shop.call(`/v1/management/auth/operators/${id}`, { method: 'PUT', headers: asService() })
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
    const act = await shop.call(`${base}/google`, { token: json.access_token, json: { enabled: true } })
    expect(act.status).toBe(200)
    const [entry] = await shop.sql(
      `select actor_type, actor_id, request_id from auth.audit where event_type = 'provider.enabled'`,
    )
    expect(entry).toEqual({ actor_type: 'operator', actor_id: id, request_id: act.headers.get('x-request-id') })
  })

  it.each(
    titled([
      ['{"enabled":"true"}'],
      ['{"enabled":1}'],
      ['{"enabled":null}'],
      ['{}'],
      ['[]'],
      ['null'],
      ['true'],
      ['{"enabled":true,"name":"google"}'],
      ['{"enabled":true,"enabled":false}'],
      ['{"enabled":true,"\\u0065nabled":false}'],
    ]),
  )('refuse %s', async (_title, body) => {
    const { json } = await sendText('POST', '/google', body)
    expect(json).toMatchObject({ error: 'invalid_provider_config', status: 400 })
    expect(json.fields.length).toBeGreaterThan(0)
    expect((await get('/google')).json.enabled).toBe(false)
  })

  it('a stale If-Match is refused, also where it would change nothing', async () => {
    const { etag } = (await get('/google')).json
    expect((await send('POST', '/google', { enabled: true }, { 'if-match': etag })).status).toBe(200)
    const stale = await send('POST', '/google', { enabled: true }, { 'if-match': etag })
    expect(stale.json).toMatchObject({ error: 'precondition_failed', status: 412 })
  })
})

describe('a configuration', () => {
  it('is stored as it was sent, and can be sent back as it is read', async () => {
    const document = {
      browser_clients: [browser(), browser('staging', { enabled: false })],
      native_clients: [
        android(),
        {
          key: 'ios',
          ...everywhere,
          platform: 'ios',
          bundle_id: 'com.example.shop',
          ios_client_id: 'ios.apps.example',
          redirect_uri: 'com.example.shop:/signed-in',
        },
      ],
      scopes: ['https://api.example/calendar'],
      link_policy: 'never',
    }
    const { status, json, headers } = await configure('google', document)
    expect([status, headers.get('etag')]).toEqual([200, json.etag])
    expect(json).toMatchObject({ ...document, configured: true })
    expect(Object.keys(json.browser_clients[0])).toEqual(Object.keys(browser()))
    const { browser_clients, native_clients, scopes, link_policy } = (await get('/google')).json
    const again = await configure('google', { browser_clients, native_clients, scopes, link_policy })
    expect(again.json).toMatchObject(document)
    const last = (await entries()).at(-1)
    expect(last).toMatchObject({ event_type: 'provider.config_set', changes: [] })
  })

  it('a list that is given replaces the stored one whole, and what is left out stays', async () => {
    await configure('google', { browser_clients: [browser()], native_clients: [android()], scopes: ['a'] })
    const added = await configure('google', { browser_clients: [browser(), browser('second')] })
    expect(added.json).toMatchObject({ native_clients: [android()], scopes: ['a'] })
    const { json } = await configure('google', { native_clients: [] })
    expect(json).toMatchObject({ browser_clients: [browser(), browser('second')], native_clients: [] })
    expect((await configure('google', {})).json).toMatchObject({ browser_clients: json.browser_clients, scopes: ['a'] })
    expect((await configure('google', { browser_clients: [browser('second')] })).json.browser_clients).toEqual([
      browser('second'),
    ])
  })

  it('is checked with what stays: keys, and the web client of an Android client', async () => {
    await configure('google', { browser_clients: [browser()], native_clients: [android()] })
    const refused = async (json: unknown) => {
      const answer = (await configure('google', json)).json
      expect(answer).toMatchObject({ error: 'invalid_provider_config', status: 400 })
      return answer.fields.map((field: { path: string }) => field.path)
    }
    expect(await refused({ native_clients: [android('web')] })).toEqual(['native_clients.0.key'])
    expect(await refused({ browser_clients: [browser('other')] })).toEqual(['native_clients.0.server_client_id'])
    expect(await refused({ browser_clients: [] })).toEqual(['native_clients.0.server_client_id'])
    expect((await get('/google')).json).toMatchObject({ browser_clients: [browser()], native_clients: [android()] })
    expect((await configure('google', { browser_clients: [], native_clients: [] })).status).toBe(200)
  })

  it('its changes are recorded, one for each field', async () => {
    await configure('google', { browser_clients: [browser()] })
    await configure('google', { browser_clients: [browser('web', { enabled: false }), browser('new')], scopes: ['a'] })
    await configure('google', { browser_clients: [] })
    const [, second, third] = (await entries()).map(({ changes }) => changes)
    expect(second).toEqual([
      { path: 'browser_clients.web.enabled', from: true, to: false },
      { path: 'browser_clients.new', from: null, to: browser('new') },
      { path: 'scopes', from: null, to: ['a'] },
    ])
    expect((third as { to: unknown }[]).map(({ to }) => to)).toEqual([null, null])
  })

  it('deep nesting, a long body and a body that is no JSON are 4xx', async () => {
    const deep = await sendText('PUT', '/google/config', `{"scopes":${'['.repeat(100)}${']'.repeat(100)}}`)
    expect(deep.json).toMatchObject({ error: 'invalid_provider_config' })
    expect((await sendText('PUT', '/google/config', '['.repeat(60_000))).status).toBe(400)
    expect((await sendText('PUT', '/google/config', `{"x":"${'x'.repeat(65_536)}"}`)).status).toBe(413)
    expect((await sendText('PUT', '/google/config', '{')).json.error).toBe('invalid_request')
    expect((await sendText('PUT', '/google/config', Buffer.from('{"scopes":["\xff"]}', 'latin1'))).status).toBe(400)
  })

  it('every provider takes its own fields', async () => {
    const web = { key: 'web', ...everywhere, platform: 'web', return_uris: ['https://shop.example/'] }
    const ios = { key: 'ios', ...everywhere, platform: 'ios', bundle_id: 'com.example.shop' }
    const documents = {
      apple: { browser_clients: [{ ...web, services_id: 'com.example.web' }], native_clients: [ios] },
      microsoft: {
        browser_clients: [{ ...web, application_id: 'app', directory: 'tenant', tenant_id: 'contoso.example' }],
        native_clients: [{ ...ios, application_id: 'app', directory: 'common', redirect_uri: 'msauth.com.x://auth' }],
      },
      github: { browser_clients: [{ ...web, web_client_id: 'Iv1.0' }] },
    }
    for (const [name, document] of Object.entries(documents)) {
      expect((await configure(name, document)).json).toMatchObject(document)
    }
    // tokens of Microsoft name the directory by its id alone
    expect((await get('/microsoft')).json.problems).toEqual(['credential_missing:web', 'tenant_id_not_a_guid:web'])
    const [client] = documents.microsoft.browser_clients
    await configure('microsoft', { browser_clients: [{ ...client, tenant_id: crypto.randomUUID() }] })
    expect((await get('/microsoft')).json.problems).toEqual(['credential_missing:web'])
  })

  it('problems tell what keeps a sign-in from working', async () => {
    const problems = async () => (await get('/google')).json.problems
    await configure('google', { browser_clients: [browser('web', { return_uris: [] })] })
    expect(await problems()).toEqual(['credential_missing:web', 'redirect_unset:web'])
    await writeSecret('google', 'web')
    expect(await problems()).toEqual(['redirect_unset:web'])
    await configure('google', { browser_clients: [browser('web', { enabled: false })] })
    expect(await problems()).toEqual(['no_enabled_client'])
    await configure('google', { browser_clients: [browser()] })
    expect(await problems()).toEqual([])
  })
})

describe('a configuration that is refused before a write', () => {
  it.each(
    titled<[string, string, string]>([
      ['google', '{"browser_clients":[],"browser_clients":[]}', 'browser_clients'],
      ['google', '{"browser_clients":[],"browser\\u005fclients":[{}]}', 'browser_clients'],
      ['google', '{"browser_clients":[{"key":"a","key":"b"}]}', 'browser_clients.0.key'],
      ['google', '{"browser_clients":null}', 'browser_clients'],
      ['google', '{"browser_clients":[{"key":null}]}', 'browser_clients.0.key'],
      ['google', '{"browser_clients":{}}', 'browser_clients'],
      ['google', '{"browser_client":[]}', 'browser_client'],
      ['google', '{"enabled":true}', 'enabled'],
      ['google', '{"__proto__":{"enabled":true}}', '__proto__'],
      ['google', '{"browser_clients":[{"platform":"web","client_id":"x"}]}', 'browser_clients.0.client_id'],
      ['google', '[]', 'body'],
      ['google', '"x"', 'body'],
      ['email', '{}', 'body'],
      ['phone', '{"browser_clients":[]}', 'body'],
      ['github', `{"native_clients":[${JSON.stringify(android())}]}`, 'native_clients.0'],
    ]),
  )('%s', async (_title, name, body, fault) => {
    const before = (await get(`/${name}`)).json
    const { json } = await sendText('PUT', `/${name}/config`, body)
    expect(json).toMatchObject({ error: 'invalid_provider_config', status: 400 })
    expect(json.fields[0].path).toBe(fault)
    expect(json.error_description).toBe(json.fields[0].reason)
    expect((await get(`/${name}`)).json).toEqual(before)
    expect(await entries()).toEqual([])
  })
})

describe('9.2 If-Match', () => {
  it('a stale one is 412 with the current etag, and writes nothing', async () => {
    const { etag } = (await get('/google')).json
    expect((await configure('google', { scopes: ['a'] }, { 'if-match': etag })).status).toBe(200)
    const current = (await get('/google')).json
    const attempts = [
      configure('google', { scopes: ['b'] }, { 'if-match': etag }),
      send('DELETE', '/google/config', undefined, { 'if-match': etag }),
      send('DELETE', '/google/credentials/x', undefined, { 'if-match': etag }),
      write('google', 'web', { kind: 'oauth_client_secret', client_secret: 'x' }, { 'if-match': etag }),
      configure('google', { scopes: ['b'] }, { 'if-match': `W/${current.etag}` }),
      configure('google', { scopes: ['b'] }, { 'if-match': current.etag.replaceAll('"', '') }),
    ]
    for (const { json, headers } of await Promise.all(attempts)) {
      expect(json).toMatchObject({ error: 'precondition_failed', status: 412, etag: current.etag })
      expect(headers.get('etag')).toBe(current.etag)
    }
    expect((await get('/google')).json).toEqual(current)
    const listed = { 'if-match': `"0", ${current.etag}` }
    expect((await configure('google', { scopes: ['c'] }, listed)).status).toBe(200)
  })

  it('an absent one is recorded as unconditional, and one that matches is not', async () => {
    await configure('google', {})
    const { etag } = (await get('/google')).json
    await configure('google', {}, { 'if-match': etag })
    await configure('google', {}, { 'if-match': '*' })
    expect((await entries()).map(({ details }) => details)).toEqual([{ unconditional: true }, {}, {}])
  })

  it('of a hundred racers with one etag one wins', async () => {
    const { etag } = (await get('/google')).json
    const racers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        configure('google', { browser_clients: [browser(`racer-${index}`)] }, { 'if-match': etag }),
      ),
    )
    const winners = racers.filter(({ status }) => status === 200)
    expect(racers.filter(({ status }) => status !== 200 && status !== 412)).toEqual([])
    expect(winners).toHaveLength(1)
    expect((await get('/google')).json).toEqual(winners[0]!.json)
    expect(await entries()).toHaveLength(1)
  })

  it('of forty that clear, configure, open and write secrets at once, each counts', async () => {
    const { etag } = (await get('/google')).json
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        if (index % 4 === 0) return clear('google')
        if (index % 4 === 1) return writeSecret('google', `racer-${index % 8}`)
        if (index % 4 === 2) return enable('google', index % 8 === 2)
        return configure('google', { browser_clients: [browser(`racer-${index}`)] })
      }),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const revision = (tag: string) => Number(tag.replaceAll('"', ''))
    const after = (await get('/google')).json
    expect(revision(after.etag) - revision(etag)).toBe((await entries()).length)
  })
})

describe('9.3 credentials', () => {
  it('are shown by name, kind and fingerprint, never with the secret', async () => {
    await configure('google', { browser_clients: [browser()] })
    const { status, json, headers } = await writeSecret('google', 'web', 'the first secret')
    expect(status).toBe(200)
    expect(json).toEqual({
      provider: 'google',
      name: 'web',
      kind: 'oauth_client_secret',
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      public_fields: {},
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      rotated_at: expect.stringMatching(/Z$/),
      referenced_by: ['web'],
    })
    const { provider: _, ...listed } = json
    const provider = (await get('/google')).json
    expect(provider).toMatchObject({ credentials: [listed], etag: headers.get('etag') })
    const same = (await writeSecret('google', 'web', 'the first secret')).json
    const rotated = (await writeSecret('google', 'web', 'the second secret')).json
    expect([same.fingerprint === json.fingerprint, rotated.fingerprint === json.fingerprint]).toEqual([true, false])
    expect([rotated.created_at, rotated.rotated_at > json.rotated_at]).toEqual([json.created_at, true])
    const elsewhere = (await writeSecret('github', 'web', 'the first secret')).json
    expect(elsewhere.fingerprint).not.toBe(json.fingerprint)
    expect((await entries()).slice(1, 4).map(({ changes, details }) => [changes, details])).toEqual([
      [
        [{ path: 'credentials.web', from: null, to: '***' }],
        { kind: 'oauth_client_secret', fingerprint: json.fingerprint, unconditional: true },
      ],
      [[{ path: 'credentials.web', from: '***', to: '***' }], expect.anything()],
      [[{ path: 'credentials.web', from: '***', to: '***' }], expect.anything()],
    ])
  })

  it('a signing key is imported before it is stored', async () => {
    const attempt = (private_key: string) =>
      write('apple', 'key', { kind: 'signing_key', team_id: 'TEAM123456', key_id: 'KEY1234567', private_key })
    const sound = pemOf('P-256')
    const { status, json } = await attempt(sound)
    expect([status, json.public_fields]).toEqual([200, { team_id: 'TEAM123456', key_id: 'KEY1234567' }])
    const reformed = ` \n${sound.replaceAll('\n', '\r\n')}\n`
    expect((await attempt(reformed)).json.fingerprint).toBe(json.fingerprint)
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
    const wrong = [
      pemOf('P-384'),
      pemOf('P-256', 'sec1'),
      rsa.export({ type: 'pkcs8', format: 'pem' }) as string,
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
      sound.replace('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'),
      sound.slice(0, 120),
      sound.replace(/\n.{10}/, '\n'),
      '-----BEGIN PRIVATE KEY-----\n====\n-----END PRIVATE KEY-----',
      'x',
    ]
    for (const text of wrong) {
      const refused = await attempt(text)
      expect(refused.json).toMatchObject({
        error: 'invalid_private_key',
        status: 400,
        fields: [{ path: 'private_key' }],
      })
      for (const line of text.split('\n').filter((one) => one.length > 20 && !one.startsWith('--'))) {
        expect(refused.text).not.toContain(line)
      }
    }
    expect((await get('/apple')).json.credentials[0].fingerprint).toBe(json.fingerprint)
  })

  it.each(['email', 'phone'])('%s takes the secret of its sender', async (name) => {
    expect((await write(name, 'sender', { kind: 'sender_secret', secret: 'a password' })).status).toBe(200)
    expect((await get(`/${name}`)).json.credentials).toMatchObject([{ name: 'sender', kind: 'sender_secret' }])
  })

  it.each(['Web', 'a%20b', '-a', 'x'.repeat(64), '__proto__'])('no credential has the name %s', async (name) => {
    const attempts = [writeSecret('google', name), send('DELETE', `/google/credentials/${name}`), clear('google', name)]
    for (const { json } of await Promise.all(attempts)) {
      expect(json).toMatchObject({ error: 'invalid_provider_credential', fields: [{ path: 'credential' }] })
    }
  })

  it('one is removed alone where nothing refers to it', async () => {
    await configure('google', { browser_clients: [browser('web', { credential_ref: 'shared' })] })
    await writeSecret('google', 'shared')
    await writeSecret('google', 'unused')
    const kept = await send('DELETE', '/google/credentials/shared')
    expect(kept.json).toMatchObject({ error: 'credential_in_use', status: 409, referenced_by: ['web'] })
    for (let time = 0; time < 2; time++) expect((await send('DELETE', '/google/credentials/unused')).status).toBe(204)
    expect((await get('/google')).json.credentials.map(({ name }: { name: string }) => name)).toEqual(['shared'])
    expect(await entries('provider.credential_removed')).toHaveLength(1)
  })

  it('a provider has a hundred', async () => {
    await shop.sql(`insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint)
      select 'google', 'c' || n, 'oauth_client_secret', '', repeat('0', 16) from generate_series(1, 100) as n`)
    expect((await writeSecret('google', 'one-more')).json).toMatchObject({ error: 'too_many_credentials', status: 409 })
    expect((await writeSecret('google', 'c1')).status).toBe(200)
  })

  it('of thirty writes of one credential each is whole, and the last one stands', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => writeSecret('google', 'web', `secret ${index}`)),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const [stored] = (await get('/google')).json.credentials
    expect(answers.map(({ json }) => json.fingerprint)).toContain(stored.fingerprint)
    expect(new Set(answers.map(({ json }) => json.fingerprint)).size).toBe(30)
  })
})

describe('a credential that is refused before a write', () => {
  it.each(
    titled<[string, string, string]>([
      ['google', '{"provider":"github","kind":"oauth_client_secret","client_secret":"planted"}', 'provider'],
      ['google', '{"provider":"google","kind":"sender_secret","client_secret":"planted"}', 'kind'],
      ['google', '{"provider":"google","kind":"oauth_client_secret"}', 'client_secret'],
      ['google', '{"provider":"google","kind":"oauth_client_secret","client_secret":null}', 'client_secret'],
      ['google', '{"provider":"google","kind":"oauth_client_secret","client_secret":"planted","x":1}', 'x'],
      [
        'google',
        '{"provider":"google","kind":"oauth_client_secret","client_secret":"a","client_secret":"b"}',
        'client_secret',
      ],
      ['google', '[]', 'body'],
      ['apple', '{"provider":"apple","kind":"oauth_client_secret","client_secret":"planted"}', 'kind'],
    ]),
  )('%s', async (_title, name, body, fault) => {
    const { json, text } = await sendText('PUT', `/${name}/credentials/web`, body)
    expect(json).toMatchObject({ error: 'invalid_provider_credential', status: 400 })
    expect(json.fields[0].path).toBe(fault)
    expect(text).not.toContain('planted')
    expect(await shop.sql('select from auth.provider_credentials')).toEqual([])
  })
})

describe('9.3 clear', () => {
  it('removes the clients, closes the provider, and deletes the credential that is named', async () => {
    await configure('google', { browser_clients: [browser()], native_clients: [android()], scopes: ['a'] })
    await writeSecret('google', 'web')
    await writeSecret('google', 'other')
    await enable('google', true)
    const { status, json, headers } = await clear('google', 'web')
    expect([status, headers.get('etag')]).toEqual([200, json.etag])
    expect(json).toMatchObject({
      enabled: false,
      state: 'disabled',
      browser_clients: [],
      native_clients: [],
      scopes: [],
      configured: false,
      credential: { name: 'web', outcome: 'removed', referenced_by: [] },
    })
    expect(json.credentials.map(({ name }: { name: string }) => name)).toEqual(['other'])
    expect((await entries()).at(-1)).toMatchObject({
      event_type: 'provider.config_cleared',
      changes: expect.arrayContaining([
        { path: 'enabled', from: true, to: false },
        { path: 'credentials.web', from: '***', to: null },
      ]),
      details: { unconditional: true, credential: { name: 'web', outcome: 'removed' } },
    })
  })

  it('twice is once, and keeps credentials that it does not name', async () => {
    await configure('google', { browser_clients: [browser()] })
    await writeSecret('google', 'web')
    const first = (await clear('google')).json
    expect(first).not.toHaveProperty('credential')
    expect((await clear('google')).json).toEqual(first)
    expect((await clear('google', 'absent')).json.credential).toMatchObject({ name: 'absent', outcome: 'absent' })
    expect(first.credentials).toHaveLength(1)
    expect(await entries('provider.config_cleared')).toHaveLength(1)
  })

  it('keeps a credential that the settings of mail or of phone name, and says so', async () => {
    await write('email', 'smtp', { kind: 'sender_secret', secret: 'x' })
    await write('phone', 'gateway', { kind: 'sender_secret', secret: 'x' })
    const mail = { from: 'a@shop.example', transport: 'smtp', host: 'mail.example', port: 465, credential_ref: 'smtp' }
    await shop.sql('update auth.settings set document = $1', [{ mail }])
    await send('PUT', '/phone/settings', { driver: 'http', url: 'https://sms.example/', credential_ref: 'gateway' })
    const [email, phone] = [(await clear('email', 'smtp')).json, (await clear('phone', 'gateway')).json]
    expect(email).toMatchObject({ enabled: false, credential: { outcome: 'kept', referenced_by: ['settings.mail'] } })
    expect(phone).toMatchObject({
      credential: { outcome: 'kept', referenced_by: ['phone.settings'] },
      configured: true,
    })
    expect((await send('DELETE', '/email/credentials/smtp')).json.error).toBe('credential_in_use')
    await shop.sql(`update auth.settings set document = '{}'`)
    expect((await clear('email', 'smtp')).json.credential.outcome).toBe('removed')
  })
})

describe('the settings of phone', () => {
  const settings = (json: unknown, headers = {}) => send('PUT', '/phone/settings', json, headers)
  const defaults = {
    otp_length: 6,
    otp_ttl_seconds: 300,
    max_attempts: 5,
    resend_seconds: 60,
    per_number_per_day: 10,
    allowed_prefixes: ['+'],
    template_key: 'phone_otp',
  }

  it('are replaced whole, with the etag of the provider', async () => {
    const before = await get('/phone/settings')
    expect(before.json).toEqual(defaults)
    const given = {
      driver: 'http',
      url: 'https://sms.example/send',
      from: 'Shop',
      credential_ref: 'gateway',
      otp_length: 8,
      otp_ttl_seconds: 120,
      max_attempts: 3,
      resend_seconds: 30,
      per_number_per_day: 5,
      allowed_prefixes: ['+49', '+43'],
      template_key: 'phone_code',
    }
    const written = await settings(given, { 'if-match': before.headers.get('etag')! })
    expect([written.status, written.json]).toEqual([200, given])
    expect((await get('/phone/settings')).json).toEqual(given)
    const provider = (await get('/phone')).json
    expect(provider).toMatchObject({ etag: written.headers.get('etag'), problems: ['credential_missing:gateway'] })
    const stale = await settings({ driver: 'console' }, { 'if-match': before.headers.get('etag')! })
    expect(stale.json).toMatchObject({ error: 'precondition_failed', etag: provider.etag })
    expect((await settings({ driver: 'console' })).json).toEqual({ driver: 'console', ...defaults })
    expect((await get('/phone')).json.problems).toEqual([])
    expect((await entries()).map(({ changes }) => (changes as unknown[]).length)).toEqual([11, 11])
  })

  it.each(
    titled<[string, string]>([
      ['{}', 'driver'],
      ['[]', 'body'],
      ['{"driver":"sms"}', 'driver'],
      ['{"driver":"http"}', 'url'],
      ['{"driver":"console","url":"https://sms.example/"}', 'url'],
      ['{"driver":"http","url":"http://sms.example/"}', 'url'],
      ['{"driver":"http","url":"https://user:pass@sms.example/"}', 'url'],
      ['{"driver":"http","url":"javascript:x"}', 'url'],
      ['{"driver":"console","otp_length":3}', 'otp_length'],
      ['{"driver":"console","otp_length":11}', 'otp_length'],
      ['{"driver":"console","otp_length":6.5}', 'otp_length'],
      ['{"driver":"console","otp_length":"6"}', 'otp_length'],
      ['{"driver":"console","otp_ttl_seconds":601}', 'otp_ttl_seconds'],
      ['{"driver":"console","max_attempts":0}', 'max_attempts'],
      ['{"driver":"console","resend_seconds":0}', 'resend_seconds'],
      ['{"driver":"console","per_number_per_day":1e9}', 'per_number_per_day'],
      ['{"driver":"console","allowed_prefixes":[]}', 'allowed_prefixes'],
      ['{"driver":"console","allowed_prefixes":["49"]}', 'allowed_prefixes'],
      ['{"driver":"console","allowed_prefixes":["+4a"]}', 'allowed_prefixes'],
      ['{"driver":"console","template_key":"A b"}', 'template_key'],
      ['{"driver":"console","credential_ref":"A b"}', 'credential_ref'],
      ['{"driver":"console","from":"a\\tb"}', 'from'],
      ['{"driver":"console","otp_lenght":6}', 'otp_lenght'],
      ['{"driver":"console","from":null}', 'from'],
      ['{"driver":"console","driver":"http"}', 'driver'],
      ['{"driver":"console","__proto__":{}}', '__proto__'],
    ]),
  )('refuse %s', async (_title, body, fault) => {
    const { json } = await sendText('PUT', '/phone/settings', body)
    expect(json).toMatchObject({ error: 'invalid_provider_config', status: 400 })
    expect(json.fields[0].path).toBe(fault)
    expect((await get('/phone/settings')).json).toEqual(defaults)
  })

  it('prefixes: 300 and digits at both bounds', async () => {
    const prefixes = (count: number) => Array.from({ length: count }, (_, index) => `+${index}`)
    expect((await settings({ driver: 'console', allowed_prefixes: prefixes(300) })).status).toBe(200)
    expect((await settings({ driver: 'console', allowed_prefixes: prefixes(301) })).status).toBe(400)
    for (const otp_length of [4, 10]) expect((await settings({ driver: 'console', otp_length })).status).toBe(200)
  })
})

describe('email closed', () => {
  const password = 'correct horse battery'
  const refused = { error: 'provider_disabled', status: 403 }
  const signIn = (email: string, given = password) =>
    shop.call('/auth/sign-in/password', { json: { email, password: given } })
  const signUp = () => shop.call('/auth/sign-up', { json: { email: `${crypto.randomUUID()}@example.com`, password } })

  it('no sign-up, sign-in, upgrade or reset: from the next call on, and until it is open again', async () => {
    const person = await shop.signUp()
    const guest = (await shop.call('/auth/anonymous', { method: 'POST' })).json
    const upgrade = () =>
      shop.call('/auth/upgrade', {
        token: guest.access_token,
        json: { email: `${crypto.randomUUID()}@example.com`, password },
      })
    const forgot = () => shop.call('/auth/password/forgot', { json: { email: person.email } })
    const reset = () => shop.call('/auth/password/reset', { json: { token: 'x'.repeat(43), password } })
    await enable('email', false)
    const attempts = [
      signUp(),
      signIn(person.email),
      signIn(person.email, 'wrong'),
      signIn('no@example.com'),
      upgrade(),
      forgot(),
      reset(),
    ]
    for (const { json } of await Promise.all(attempts)) expect(json).toMatchObject(refused)
    // sessions that were begun before go on
    expect((await shop.call('/auth/token/refresh', { json: { refresh_token: person.refreshToken } })).status).toBe(200)
    expect((await shop.call('/auth/anonymous', { method: 'POST' })).status).toBe(200)
    await enable('email', true)
    expect((await forgot()).status).toBe(202)
    expect((await reset()).json.error).toBe('invalid_token')
    for (const { status } of [await signUp(), await signIn(person.email), await upgrade()]) expect(status).toBe(200)
  })

  it('nor the second step of a sign-in that began with a password', async () => {
    const { id } = await shop.signUp()
    const challenge_id = `chl_${crypto.randomUUID()}`
    await shop.sql(`insert into auth.mfa_challenges (id, user_id, amr) values ($1, $2, '["pwd"]')`, [challenge_id, id])
    const attempt = () => shop.call('/auth/mfa/challenge', { json: { challenge_id, code: '000000' } })
    await enable('email', false)
    expect((await attempt()).json).toMatchObject(refused)
    await enable('email', true)
    expect((await attempt()).json.error).toBe('invalid_code')
  })
})

describe('a secret', () => {
  /** Every row of both schemas as text, as a dump has them. */
  async function dump(): Promise<string> {
    const tables = await shop.sql<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('auth', 'stack')`,
    )
    const texts: string[] = []
    for (const { name } of tables) {
      const rows = await shop.sql<{ text: string }>(`select one::text as text from ${name} as one`)
      texts.push(...rows.map(({ text }) => text))
    }
    return texts.join('\n')
  }

  it('is in no answer, no row, no line of the log and no entry of the trail', async () => {
    const planted = (place: string) => `planted-${place}-${crypto.randomUUID()}`
    const secrets = ['client', 'rotated', 'smtp', 'sms', 'wrong-kind', 'in-config', 'twice'].map(planted)
    const [client, rotated, smtp, sms, wrongKind, inConfig, twice] = secrets as [string, ...string[]]
    const pem = pemOf('P-256')
    const answers = [
      await configure('google', { browser_clients: [browser()] }),
      await writeSecret('google', 'web', client),
      await writeSecret('google', 'web', rotated),
      await write('email', 'smtp', { kind: 'sender_secret', secret: smtp }),
      await write('phone', 'sms', { kind: 'sender_secret', secret: sms }),
      await write('apple', 'key', { kind: 'signing_key', team_id: 'T', key_id: 'K', private_key: pem }),
      await write('apple', 'key', { kind: 'oauth_client_secret', client_secret: wrongKind }),
      await configure('google', { browser_clients: [browser('web', { client_secret: inConfig, enabled: inConfig })] }),
      await sendText('PUT', '/google/config', `{"client_secret":"${twice}","client_secret":"${twice}"}`),
      await get(),
      await get('/google'),
      await clear('google', 'web'),
    ]
    const [, line] = pem.split('\n')
    const everything = [...answers.map(({ text }) => text), await dump(), JSON.stringify(shop.log)].join('\n')
    expect(everything).toContain('provider.credential_set')
    expect([...secrets, line!].filter((secret) => everything.includes(secret))).toEqual([])
    const encoded = [...secrets].map((secret) => Buffer.from(secret).toString('base64').slice(0, 40))
    expect(encoded.filter((text) => everything.includes(text))).toEqual([])
  })
})

describe.skipIf(!isThere)('public texts', () => {
  const read = (file: string) => JSON.parse(fs.readFileSync(path.join(vectors, file), 'utf8'))
  const batches = <T>(all: T[]) =>
    Array.from({ length: Math.ceil(all.length / 5) }, (_, n) => all.slice(n * 5, n * 5 + 5))

  it('naughty strings in each field, each path and each parameter are never 5xx', async () => {
    const strings = (Object.values(read('naughty-strings.json')).flat() as unknown[]).filter(
      (one): one is string => typeof one === 'string',
    )
    expect(strings.length).toBeGreaterThan(400)
    const worst: unknown[] = []
    for (const batch of batches(strings)) {
      const answers = await Promise.all(
        batch.flatMap((text) => {
          const all = Object.fromEntries(Object.keys({ ...browser(), ...android() }).map((field) => [field, text]))
          return [
            configure('google', { browser_clients: [{ ...all, platform: 'web' }], scopes: [text], link_policy: text }),
            configure('google', { native_clients: [{ ...all, platform: 'android' }], [text]: text }),
            configure('github', { browser_clients: [browser('web', { application_key: text, variant: text })] }),
            writeSecret('google', 'web', text),
            send('PUT', '/phone/settings', { driver: 'http', url: text, from: text, allowed_prefixes: [text] }),
            send('DELETE', `/google/config?credential=${encodeURIComponent(text.toWellFormed())}`),
            get(`/${encodeURIComponent(text.toWellFormed())}`),
          ]
        }),
      )
      worst.push(...answers.filter(({ status }) => status >= 500))
    }
    expect(worst).toEqual([])
  }, 240_000)

  it('JSON that a strict reader refuses is 400', async () => {
    interface Case {
      name: string
      expect?: string
      b64: string
      expect_provider_config?: string
    }
    const { cases, extra } = read('json-strict.json') as { cases: Case[]; extra: Case[] }
    const refused = [...cases, ...extra].filter(
      (one) => one.b64 && (one.expect === 'reject' || one.expect_provider_config),
    )
    const odd: string[] = []
    for (const batch of batches(refused)) {
      await Promise.all(
        batch.map(async ({ name, b64 }) => {
          const { status, json } = await sendText('PUT', '/google/config', Buffer.from(b64, 'base64'))
          if (status !== 400 || !json.error || !json.request_id) odd.push(`${name} ${status}`)
        }),
      )
    }
    for (const { b64, name } of cases.filter((one) => one.b64 && one.expect !== 'reject')) {
      const { status } = await sendText('PUT', '/google/config', Buffer.from(b64, 'base64'))
      if (status >= 500) odd.push(`${name} ${status}`)
    }
    expect(odd).toEqual([])
  }, 120_000)
})
