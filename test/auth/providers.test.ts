/**
 * What decides in the records of providers: their clients, their credentials and the settings of phone (contract 9.1 to 9.5). Classes of
 * the auth module run in Node against a real Postgres.
 */
import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { ProviderChanges } from '../../src/auth/providers/changes.ts'
import { ProviderCredentialsController } from '../../src/auth/providers/credential-routes.ts'
import { Credentials } from '../../src/auth/providers/credentials.ts'
import { PhoneSettingsController } from '../../src/auth/providers/phone-routes.ts'
import { readPhoneSettings } from '../../src/auth/providers/phone-settings.ts'
import { requirePrivateKey } from '../../src/auth/providers/private-key.ts'
import { ProvidersController } from '../../src/auth/providers/routes.ts'
import { ProviderStates, Providers } from '../../src/auth/providers/rows.ts'
import type { ShownProvider } from '../../src/auth/providers/shown.ts'
import { useAuthModule } from '../support/auth-module.ts'
import { titled } from '../support/titles.ts'

const auth = useAuthModule()
const { request, codeOf, atOnce, sql } = auth

const providers = new Providers()
const states = new ProviderStates()
const credentials = new Credentials()
const changes = new ProviderChanges(new Audit(), providers)
const routes = new ProvidersController(changes, providers)
const secrets = new ProviderCredentialsController(changes, credentials, providers)
const phone = new PhoneSettingsController(changes, providers)

beforeEach(async () => {
  await sql(`delete from auth.provider_clients; delete from auth.provider_credentials; delete from stack.audit;
    update auth.providers set enabled = name = 'email', config = '{}'; update auth.settings set document = '{}'`)
})

/** A request with the body as it is typed, and the body as the runtime has read it. */
const typed = (body: object | string) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return [JSON.parse(text), new Request('https://stack.example/', { method: 'PUT', body: text })] as const
}
const operator = { id: 'usr_operator' } as never
const enable = (name: string, enabled: boolean, ifMatch?: string) => {
  const [body, http] = typed({ enabled })
  return routes.setEnabled(name, body, ifMatch, operator, http, 'req_1')
}
const configure = (name: string, document: object | string, ifMatch?: string) => {
  const [body, http] = typed(document)
  return routes.configure(name, body, ifMatch, operator, http, 'req_1')
}
const clear = (name: string, credential?: string, ifMatch?: string) =>
  routes.clear(name, credential, ifMatch, operator, typed({})[1], 'req_1')
const write = (name: string, credential: string, document: object | string, ifMatch?: string) => {
  const [body, http] = typed(typeof document === 'string' ? document : { provider: name, ...document })
  return secrets.writeCredential(name, credential, body, ifMatch, operator, http, 'req_1')
}
const writeSecret = (name: string, credential: string, client_secret = 'a client secret') =>
  write(name, credential, { kind: 'oauth_client_secret', client_secret })
const removeSecret = (name: string, credential: string, ifMatch?: string) =>
  secrets.removeCredential(name, credential, ifMatch, operator, typed({})[1], 'req_1')
const setPhone = (document: object | string, ifMatch?: string) => {
  const [body, http] = typed(document)
  return phone.replacePhoneSettings(body, ifMatch, operator, http, 'req_1')
}
const read = async (name: string) => (await (await request(() => routes.read(name))).json()) as ShownProvider
const namesOf = async (name: string) => (await read(name)).credentials.map((one) => one.name)
const entries = () =>
  sql<{ event_type: string; changes: unknown; details: Record<string, unknown> }>(
    `select event_type, changes, details from stack.audit where actor_id = 'usr_operator' order by id`,
  )
const events = async () => (await entries()).map(({ event_type }) => event_type)

const everywhere = { enabled: true, application_key: 'shop', platform: 'web', variant: 'release' }
const browser = (key = 'web', fields: object = {}) => ({
  key,
  ...everywhere,
  web_client_id: `${key}.apps.example`,
  credential_ref: key,
  return_uris: ['https://shop.example/signed-in'],
  ...fields,
})
const ios = {
  key: 'ios',
  ...everywhere,
  platform: 'ios',
  bundle_id: 'com.example.shop',
  ios_client_id: 'ios.apps.example',
  redirect_uri: 'com.example.shop:/signed-in',
}

describe('9.2 a provider', () => {
  it('is changed with its present etag alone, and each change has another one', async () => {
    const { etag } = await read('google')
    expect(await codeOf(() => configure('google', { scopes: ['a'] }, etag))).toBe('done')
    expect((await read('google')).etag).not.toBe(etag)
    const stale = [
      () => enable('google', true, etag),
      () => configure('google', { scopes: ['b'] }, etag),
      () => clear('google', undefined, etag),
      () => write('google', 'web', { kind: 'oauth_client_secret', client_secret: 'x' }, etag),
      () => removeSecret('google', 'web', etag),
    ]
    for (const attempt of stale) expect(await codeOf(attempt)).toBe('precondition_failed')
    const before = await read('phone')
    expect(await codeOf(() => setPhone({ driver: 'console' }, before.etag))).toBe('done')
    expect(await codeOf(() => setPhone({ driver: 'console' }, before.etag))).toBe('precondition_failed')
    expect((await entries()).map(({ details }) => details)).toEqual([{}, {}])
  })

  it('is changed by one of thirty that have the same etag', async () => {
    const { etag } = await read('google')
    const codes = await atOnce('auth.providers', (n) =>
      configure('google', { browser_clients: [browser(`racer-${n}`)] }, etag),
    )
    expect([codes.filter((code) => code === 'done').length, new Set(codes)]).toEqual([
      1,
      new Set(['done', 'precondition_failed']),
    ])
  })

  it('has one entry of the audit trail for each change, without a condition where none was made', async () => {
    await request(() => enable('google', true))
    await request(() => enable('google', true))
    await request(() => configure('google', { browser_clients: [browser()] }))
    await request(() => writeSecret('google', 'unused'))
    await request(() => removeSecret('google', 'unused'))
    await request(() => removeSecret('google', 'unused'))
    await request(() => clear('google'))
    await request(() => clear('google'))
    await request(() => setPhone({ driver: 'console' }))
    expect(await events()).toEqual([
      'provider.enabled',
      'provider.config_set',
      'provider.credential_set',
      'provider.credential_removed',
      'provider.config_cleared',
      'provider.config_set',
    ])
    const [first, second] = await entries()
    expect([first!.details, first!.changes]).toEqual([
      { unconditional: true },
      [{ path: 'enabled', from: false, to: true }],
    ])
    expect(second!.changes).toEqual([{ path: 'browser_clients.web', from: null, to: browser() }])
  })
})

describe('9.3 a configuration', () => {
  it('is stored whole, and what is left out stays', async () => {
    await request(() => configure('google', { browser_clients: [browser(), browser('second')], native_clients: [ios] }))
    await request(() => configure('github', { browser_clients: [{ ...browser(), credential_ref: 'web' }] }))
    await request(() =>
      configure('google', { browser_clients: [browser('second', { enabled: false })], link_policy: 'never' }),
    )
    expect(await read('google')).toMatchObject({
      browser_clients: [browser('second', { enabled: false })],
      native_clients: [ios],
      link_policy: 'never',
    })
    expect((await read('github')).browser_clients).toHaveLength(1)
    await request(() => configure('google', { scopes: ['a'] }))
    expect(await read('google')).toMatchObject({ link_policy: 'never', scopes: ['a'] })
    const [, , last] = await entries()
    expect(last!.changes).toEqual([
      { path: 'browser_clients.web', from: browser(), to: null },
      { path: 'browser_clients.second.enabled', from: true, to: false },
      { path: 'link_policy', from: null, to: 'never' },
    ])
  })

  it.each(
    titled([
      ['google', '{"browser_clients":[],"browser_clients":[]}'],
      ['google', '{"browser_clients":null}'],
      ['google', '{"enabled":true}'],
      ['email', '{}'],
      ['github', JSON.stringify({ native_clients: [ios] })],
    ]),
  )('is refused: %s', async (_title, name, body) => {
    expect(await codeOf(() => configure(name, body))).toBe('invalid_provider_config')
  })

  it('is refused where it does not fit what stays', async () => {
    await request(() => configure('google', { browser_clients: [browser()] }))
    expect(await codeOf(() => configure('google', { native_clients: [{ ...ios, key: 'web' }] }))).toBe(
      'invalid_provider_config',
    )
    expect(await codeOf(() => configure('nobody', {}))).toBe('provider_not_found')
  })

  it('that is cleared closes its provider, and keeps a credential that is in use', async () => {
    await request(() => enable('google', true))
    await request(() => configure('google', { browser_clients: [browser()], scopes: ['a'] }))
    for (const name of ['web', 'other']) await request(() => writeSecret('google', name))
    await request(() => clear('google', 'web'))
    expect(await read('google')).toMatchObject({ enabled: false, browser_clients: [], scopes: [] })
    expect(await namesOf('google')).toEqual(['other'])
    await request(() => write('phone', 'gateway', { kind: 'sender_secret', secret: 'x' }))
    await request(() => setPhone({ driver: 'http', url: 'https://sms.example/', credential_ref: 'gateway' }))
    await request(() => clear('phone', 'gateway'))
    expect(await namesOf('phone')).toEqual(['gateway'])
  })

  it('tells what keeps a sign-in from working', async () => {
    const problems = async () => (await read('google')).problems
    expect(await problems()).toEqual(['no_enabled_client'])
    await request(() => configure('google', { browser_clients: [browser('web', { return_uris: [] })] }))
    expect(await problems()).toEqual(['credential_missing:web', 'redirect_unset:web'])
    await request(() => writeSecret('google', 'web'))
    await request(() => configure('google', { browser_clients: [browser()] }))
    expect(await problems()).toEqual([])
  })
})

describe('9.1 a provider that is closed', () => {
  it('is closed for the next use', async () => {
    const open = () => codeOf(() => states.requireEnabled('google'))
    await request(() => enable('google', true))
    expect(await open()).toBe('done')
    await request(() => enable('google', false))
    expect(await open()).toBe('provider_disabled')
  })
})

function pemOf(namedCurve: string, type: 'pkcs8' | 'sec1' = 'pkcs8'): string {
  return generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type, format: 'pem' }) as string
}

describe('9.3 a credential', () => {
  it('is in no answer, no row and no entry, and opens at its own place alone', async () => {
    const secret = 'planted secret'
    const answer = await request(() => writeSecret('google', 'web', secret))
    const rows = await sql<{ row: string }>(
      `select to_jsonb(one)::text as row from auth.provider_credentials one union all select to_jsonb(two)::text from stack.audit two`,
    )
    const told = [await answer.text(), JSON.stringify(await read('google')), ...rows.map(({ row }) => row)].join('\n')
    expect([told.includes('provider.credential_set'), told.includes(secret)]).toEqual([true, false])
    const open = (provider: 'google' | 'github', name: string) =>
      request(() => credentials.open(provider, name)).catch(() => 'does not open')
    expect([await open('google', 'web'), await open('github', 'web')]).toEqual([
      { kind: 'oauth_client_secret', client_secret: secret },
      undefined,
    ])
    await sql(`update auth.provider_credentials set name = 'moved'`)
    expect(await open('google', 'moved')).toBe('does not open')
    await sql(`update auth.provider_credentials set name = 'web', provider = 'github'`)
    expect(await open('github', 'web')).toBe('does not open')
  })

  it('has a fingerprint that tells nothing outside of its provider and its stack', async () => {
    const of = (provider: 'google' | 'github') =>
      request(() => credentials.fingerprint(provider, { kind: 'oauth_client_secret', client_secret: 'a' }))
    const prints = [await of('google'), await of('google'), await of('github')]
    const { PASSWORD_PEPPER } = auth.env
    auth.env['PASSWORD_PEPPER'] = Buffer.alloc(32, 'x').toString('base64url')
    prints.push(await of('google'))
    auth.env['PASSWORD_PEPPER'] = PASSWORD_PEPPER
    expect([prints[0] === prints[1], new Set(prints).size, prints[0]]).toEqual([
      true,
      3,
      expect.stringMatching(/^[0-9a-f]{16}$/),
    ])
  })

  it.each(
    titled([
      ['{"provider":"github","kind":"oauth_client_secret","client_secret":"a"}'],
      ['{"provider":"google","kind":"sender_secret","client_secret":"a"}'],
      ['{"provider":"google","kind":"oauth_client_secret","client_secret":"a","client_secret":"b"}'],
      ['{"provider":"google","kind":"oauth_client_secret","client_secret":"a","x":1}'],
    ]),
  )('is refused: %s', async (_title, body) => {
    expect(await codeOf(() => write('google', 'web', body))).toBe('invalid_provider_credential')
  })

  it('has a name of lowercase letters, digits and few signs', async () => {
    for (const name of ['Web', 'a b', '-a', 'x'.repeat(64), '__proto__']) {
      const codes = [
        await codeOf(() => writeSecret('google', name)),
        await codeOf(() => removeSecret('google', name)),
        await codeOf(() => clear('google', name)),
      ]
      expect(codes).toEqual(Array(3).fill('invalid_provider_credential'))
    }
  })

  it('is one of a hundred, and stays while a client names it', async () => {
    await sql(`insert into auth.provider_credentials (provider, name, kind, sealed, fingerprint)
      select 'google', 'c' || n, 'oauth_client_secret', '', repeat('0', 16) from generate_series(1, 99) as n`)
    await request(() => configure('google', { browser_clients: [browser()] }))
    const codes = [
      await codeOf(() => writeSecret('google', 'web')),
      await codeOf(() => writeSecret('google', 'one-more')),
      await codeOf(() => writeSecret('google', 'web', 'another')),
      await codeOf(() => removeSecret('google', 'web')),
      await codeOf(() => removeSecret('google', 'c1')),
    ]
    expect(codes).toEqual(['done', 'too_many_credentials', 'done', 'credential_in_use', 'done'])
    expect(await namesOf('google')).toHaveLength(99)
    expect(await request(() => credentials.open('google', 'web'))).toMatchObject({ client_secret: 'another' })
  })

  it('of mail or of phone stays while the settings name it', async () => {
    for (const name of ['email', 'phone']) {
      await request(() => write(name, 'sender', { kind: 'sender_secret', secret: 'x' }))
      expect(await codeOf(() => removeSecret(name, 'sender'))).toBe('done')
      await request(() => write(name, 'sender', { kind: 'sender_secret', secret: 'x' }))
    }
    await sql(`update auth.settings set document = '{"mail":{"credential_ref":"sender"}}'`)
    await request(() => setPhone({ driver: 'http', url: 'https://sms.example/', credential_ref: 'sender' }))
    for (const name of ['email', 'phone'])
      expect(await codeOf(() => removeSecret(name, 'sender'))).toBe('credential_in_use')
  })

  it('that signs is a key of P-256, and its refusal does not quote it', async () => {
    const sound = pemOf('P-256')
    expect(await requirePrivateKey(` \n${sound.replaceAll('\n', '\r\n')}\n`)).toBe(sound)
    const key = { kind: 'signing_key', team_id: 'TEAM123456', key_id: 'KEY1234567' }
    for (const private_key of [
      pemOf('P-384'),
      pemOf('P-256', 'sec1'),
      sound.slice(0, 120),
      sound.replace(/\n.{10}/, '\n'),
    ]) {
      const error: Error = await requirePrivateKey(private_key).catch((refusal) => refusal)
      const [, line] = private_key.split('\n')
      expect([error.message, JSON.stringify(error).includes(line!)]).toEqual([
        expect.stringContaining('private key'),
        false,
      ])
      expect(error.message).not.toContain(line!)
      expect(await codeOf(() => write('apple', 'key', { ...key, private_key }))).toBe('invalid_private_key')
    }
    expect(await codeOf(() => write('apple', 'key', { ...key, private_key: sound }))).toBe('done')
  })
})

describe('the settings of phone', () => {
  const http = { driver: 'http', url: 'https://sms.example/' }
  it.each(
    titled([
      [{ driver: 'console' }, undefined],
      [http, undefined],
      [{ ...http, url: 'http://127.0.0.1:9/' }, undefined],
      [{}, 'driver'],
      [{ driver: 'http' }, 'url'],
      [{ ...http, driver: 'console' }, 'url'],
      [{ ...http, url: 'http://sms.example/' }, 'url'],
      [{ ...http, url: 'https://user:pass@sms.example/' }, 'url'],
      [{ ...http, url: 'javascript:x' }, 'url'],
      [{ driver: 'console', otp_length: 3 }, 'otp_length'],
      [{ driver: 'console', otp_length: 11 }, 'otp_length'],
      [{ driver: 'console', otp_length: '6' }, 'otp_length'],
      [{ driver: 'console', otp_ttl_seconds: 600 }, undefined],
      [{ driver: 'console', otp_ttl_seconds: 601 }, 'otp_ttl_seconds'],
      [{ driver: 'console', max_attempts: 10 }, undefined],
      [{ driver: 'console', max_attempts: 11 }, 'max_attempts'],
      [{ driver: 'console', resend_seconds: 0 }, 'resend_seconds'],
      [{ driver: 'console', per_number_per_day: 1_001 }, 'per_number_per_day'],
      [{ driver: 'console', allowed_prefixes: [] }, 'allowed_prefixes'],
      [{ driver: 'console', allowed_prefixes: ['49'] }, 'allowed_prefixes'],
      [{ driver: 'console', allowed_prefixes: ['+49'] }, undefined],
      [{ driver: 'console', otp_lenght: 6 }, 'otp_lenght'],
    ]),
  )('%s', (_title, document, fault) => {
    expect(readPhoneSettings(document).faults[0]?.path).toBe(fault)
  })

  it('have 300 prefixes at most', () => {
    const faults = (count: number) =>
      readPhoneSettings({ driver: 'console', allowed_prefixes: Array(count).fill('+49') }).faults.length
    expect([faults(300), faults(301)]).toEqual([0, 1])
  })

  it('are refused as they are typed, and replaced whole', async () => {
    expect(await codeOf(() => setPhone('{"driver":"console","driver":"console"}'))).toBe('invalid_provider_config')
    expect(await codeOf(() => setPhone({ driver: 'console', otp_length: 3 }))).toBe('invalid_provider_config')
    await request(() => setPhone({ driver: 'console', otp_length: 8, allowed_prefixes: ['+49'] }))
    await request(() => setPhone({ driver: 'console' }))
    const [row] = await sql(`select config from auth.providers where name = 'phone'`)
    expect(row).toEqual({ config: { driver: 'console' } })
  })
})
