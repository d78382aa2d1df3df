/** 9.5: which fields a client record has, by provider, list and platform, and what their values may be. */
import { describe, expect, it } from 'vitest'
import { readCredential } from '../../src/wire/provider-credentials.ts'
import { checkClients, type ProviderClient, providerNamed, readProviderConfig } from '../../src/wire/providers.ts'
import { titled } from '../support/titles.ts'

const everywhere = { key: 'main', enabled: true, application_key: 'shop', variant: 'release' }
const sha1 = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'

/** A sound value of each field that not every client has. */
const values = {
  web_client_id: 'web.apps.example',
  services_id: 'com.example.services',
  application_id: '5b8f1c7e-0000-4000-8000-000000000000',
  directory: 'common',
  tenant_id: '72f988bf-86f1-41af-91ab-2d7cd011db47',
  credential_ref: 'other',
  return_uris: ['https://shop.example/signed-in'],
  bundle_id: 'com.example.shop',
  package_name: 'com.example.shop',
  ios_client_id: 'ios.apps.example',
  android_client_id: 'android.apps.example',
  server_client_id: 'web.apps.example',
  signing_certificate_sha1: sha1,
  redirect_uri: 'com.example.shop:/signed-in',
} as const
type FieldName = keyof typeof values

/** The table of contract 9.5, written by hand. `?` marks what may be left out. */
const table = {
  'google browser_clients web': 'web_client_id credential_ref? return_uris?',
  'google native_clients ios': 'bundle_id ios_client_id redirect_uri',
  'google native_clients android':
    'package_name android_client_id server_client_id signing_certificate_sha1 redirect_uri',
  'apple browser_clients web': 'services_id credential_ref? return_uris?',
  'apple native_clients ios': 'bundle_id redirect_uri?',
  'apple native_clients android': undefined,
  'microsoft browser_clients web': 'application_id directory credential_ref? return_uris?',
  'microsoft native_clients ios': 'application_id directory bundle_id redirect_uri',
  'microsoft native_clients android': 'application_id directory package_name signing_certificate_sha1? redirect_uri',
  'github browser_clients web': 'web_client_id credential_ref? return_uris?',
  'github native_clients ios': undefined,
  'github native_clients android': undefined,
}

type Kind = keyof typeof table
const partsOf = (kind: Kind) => kind.split(' ') as ['google', 'browser_clients' | 'native_clients', string]
const wordsOf = (kind: Kind) => table[kind]?.split(' ') ?? []
const kinds = Object.keys(table) as Kind[]

/** The record of that kind with every field that must be there. */
function recordOf(kind: Kind): Record<string, unknown> {
  const needed = wordsOf(kind).filter((word) => !word.endsWith('?')) as FieldName[]
  const [, , platform] = partsOf(kind)
  return { ...everywhere, platform, ...Object.fromEntries(needed.map((name) => [name, values[name]])) }
}

function faultsOf(kind: Kind, record: unknown) {
  const [provider, list] = partsOf(kind)
  return readProviderConfig(provider, { [list]: [record] }).faults
}
const pathsOf = (kind: Kind, record: unknown) =>
  faultsOf(kind, record).map(({ path }) => path.replace(/^\w+\.0\.?/, ''))

describe('the matrix', () => {
  const cases = kinds.flatMap((kind) => (Object.keys(values) as FieldName[]).map((field) => [kind, field] as const))

  it.each(cases.filter(([kind, field]) => field !== 'tenant_id' && table[kind]).map((one) => one))(
    '%s: %s',
    (kind, field) => {
      const words = wordsOf(kind)
      const record = recordOf(kind)
      expect(pathsOf(kind, record)).toEqual([])
      const isKnown = words.includes(field) || words.includes(`${field}?`)
      expect(pathsOf(kind, { ...record, [field]: values[field] })).toEqual(isKnown ? [] : [field])
      const { [field]: _, ...without } = record
      expect(pathsOf(kind, without)).toEqual(words.includes(field) ? [field] : [])
    },
  )

  it.each(kinds.filter((kind) => !table[kind]))('%s: there is none', (kind) => {
    expect(faultsOf(kind, { ...recordOf(kind), ...values })).toHaveLength(1)
  })

  it.each(['key', 'enabled', 'application_key', 'platform', 'variant'])('every client has %s', (field) => {
    for (const kind of kinds.filter((one) => table[one])) {
      const { [field]: _, ...without } = recordOf(kind)
      expect(pathsOf(kind, without)).toEqual([field])
      expect(pathsOf(kind, { ...without, [field]: 7 })).toEqual([field])
    }
  })

  it('tenant_id goes with the directory "tenant" alone, of every client of microsoft and of no other', () => {
    for (const kind of kinds.filter((one) => table[one])) {
      const isMicrosoft = kind.startsWith('microsoft')
      const { tenant_id } = values
      const record = recordOf(kind)
      if (isMicrosoft) {
        expect(pathsOf(kind, { ...record, directory: 'tenant', tenant_id })).toEqual([])
        expect(pathsOf(kind, { ...record, directory: 'tenant' })).toEqual(['tenant_id'])
        for (const directory of ['common', 'organizations', 'consumers']) {
          expect(pathsOf(kind, { ...record, directory })).toEqual([])
          expect(pathsOf(kind, { ...record, directory, tenant_id })).toEqual(['tenant_id'])
        }
        expect(pathsOf(kind, { ...record, directory: 'all' })).toEqual(['directory'])
      } else expect(pathsOf(kind, { ...record, tenant_id })).toEqual(['tenant_id'])
    }
  })

  it('a client for the web is a browser client, and every other one is native', () => {
    const web = recordOf('google browser_clients web')
    const ios = recordOf('google native_clients ios')
    expect(pathsOf('google native_clients ios', web)).toEqual(['platform'])
    expect(pathsOf('google browser_clients web', ios)).toEqual(['platform'])
  })

  it('email and phone have no client records', () => {
    for (const provider of ['email', 'phone'] as const) {
      expect(readProviderConfig(provider, {}).faults).toHaveLength(1)
      expect(readProviderConfig(provider, { browser_clients: [] }).faults).toHaveLength(1)
    }
    expect(readProviderConfig('google', {}).faults).toEqual([])
  })
})

describe('a name that is no field', () => {
  const web = 'google browser_clients web' as const
  const reasonOf = (field: string) => faultsOf(web, { ...recordOf(web), [field]: 'a-value' })[0]!.reason

  it.each([
    ['web_clientid', 'did you mean "web_client_id"?'],
    ['client_id', 'the fields are key,'],
    ['bundle_id', 'belongs to clients for ios, and this one is for web'],
    ['services_id', 'is a field of apple'],
    ['client_secret', 'write it as a credential'],
    ['__proto__x', 'is no field here'],
    ['constructor', 'is no field here'],
    ['toString', 'is no field here'],
  ])('%s', (field, reason) => {
    expect(reasonOf(field)).toContain(reason)
    expect(reasonOf(field)).not.toContain('a-value')
  })

  it('at the top too', () => {
    expect(readProviderConfig('google', { browserclients: [] }).faults).toEqual([
      { path: 'browserclients', reason: '"browserclients" is no field here: did you mean "browser_clients"?' },
    ])
    expect(readProviderConfig('google', JSON.parse('{"__proto__":{"enabled":true}}')).faults).toHaveLength(1)
  })

  it('does not come back whole where it is long, and of a thousand fifty are told', () => {
    const [fault] = faultsOf(web, { ...recordOf(web), ['x'.repeat(60_000)]: 1 })
    expect(JSON.stringify(fault).length).toBeLessThan(600)
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]))
    expect(faultsOf(web, { ...recordOf(web), ...many })).toHaveLength(50)
  })
})

describe('values', () => {
  const web = 'google browser_clients web' as const
  const ios = 'google native_clients ios' as const
  const android = 'google native_clients android' as const

  it.each(
    titled<[Kind, string, unknown, boolean]>([
      [web, 'key', 'a', true],
      [web, 'key', 'shop.web_1-x', true],
      [web, 'key', 'x'.repeat(63), true],
      [web, 'key', 'x'.repeat(64), false],
      [web, 'key', 'Main', false],
      [web, 'key', '-main', false],
      [web, 'key', '', false],
      [web, 'key', 'a/b', false],
      [web, 'key', 'main\n', false],
      [web, 'enabled', false, true],
      [web, 'enabled', 'true', false],
      [web, 'enabled', null, false],
      [web, 'application_key', 'Der Laden', true],
      [web, 'application_key', '😀'.repeat(200), true],
      [web, 'application_key', 'x'.repeat(201), false],
      [web, 'application_key', ' x', false],
      [web, 'application_key', 'a\u0000b', false],
      [web, 'application_key', 'a\ud800', false],
      [web, 'variant', '', false],
      [web, 'web_client_id', 'x'.repeat(255), true],
      [web, 'web_client_id', 'x'.repeat(256), false],
      [web, 'web_client_id', 'a b', false],
      [web, 'web_client_id', ['a'], false],
      [web, 'credential_ref', 'Main', false],
      [ios, 'bundle_id', 'com.example.my-app', true],
      [ios, 'bundle_id', 'com example', false],
      [android, 'package_name', 'com.example.my_app', true],
      [android, 'package_name', 'example', false],
      [android, 'package_name', 'com.1example', false],
      [android, 'signing_certificate_sha1', sha1, true],
      [android, 'signing_certificate_sha1', sha1.toUpperCase(), true],
      [android, 'signing_certificate_sha1', sha1.slice(1), false],
      [android, 'signing_certificate_sha1', `${sha1}0`, false],
      [android, 'signing_certificate_sha1', sha1.replace(/../g, '$&:').slice(0, -1), false],
      [android, 'signing_certificate_sha1', sha1.replace('d', 'g'), false],
      [ios, 'redirect_uri', 'com.example.shop://auth', true],
      [ios, 'redirect_uri', 'https://shop.example/app', true],
      [ios, 'redirect_uri', 'http://127.0.0.1:4000/', true],
      [ios, 'redirect_uri', 'http://shop.example/', false],
      [ios, 'redirect_uri', 'javascript:alert(1)', false],
      [ios, 'redirect_uri', 'JavaScript:alert(1)', false],
      [ios, 'redirect_uri', 'data:text/html,x', false],
      [ios, 'redirect_uri', 'vbscript:x', false],
      [ios, 'redirect_uri', 'file:///etc/passwd', false],
      [ios, 'redirect_uri', 'com.example.shop:/x#y', false],
      [ios, 'redirect_uri', 'com.example.shop:', false],
      [ios, 'redirect_uri', '/relative', false],
      [ios, 'redirect_uri', `com.example:/${'x'.repeat(2_000)}`, false],
    ]),
  )('%s', (_title, kind, field, value, isSound) => {
    expect(pathsOf(kind, { ...recordOf(kind), [field]: value })).toEqual(isSound ? [] : [field])
  })

  it.each(
    titled<[string, boolean]>([
      ['https://shop.example/', true],
      ['https://shop.example:8443/a?b=c', true],
      ['http://localhost:3000/', true],
      ['http://[::1]/', true],
      ['http://127.0.0.1/', true],
      ['http://shop.example/', false],
      ['http://localhost.example/', false],
      ['https://shop.example/#', false],
      ['https://shop.example/#a', false],
      ['https://*.example/', false],
      ['https://user@shop.example/', false],
      ['https://shop.example\\@evil.example/', false],
      ['https:shop.example', false],
      ['https:///shop.example', false],
      ['//shop.example/', false],
      ['shop.example', false],
      ['com.example.shop:/x', false],
      ['javascript:alert(1)', false],
      ['https://shop.example/ä', false],
      [' https://shop.example/', false],
      ['https://shop.example/\n', false],
      ['', false],
    ]),
  )('return_uris: %s', (_title, uri, isSound) => {
    expect(pathsOf(web, { ...recordOf(web), return_uris: [uri] })).toEqual(isSound ? [] : ['return_uris.0'])
  })

  it('return_uris: fifty, none twice', () => {
    const uris = Array.from({ length: 50 }, (_, index) => `https://shop.example/${index}`)
    const paths = (return_uris: unknown) => pathsOf(web, { ...recordOf(web), return_uris })
    expect(paths(uris)).toEqual([])
    expect(paths([...uris, 'https://shop.example/50'])).toEqual(['return_uris'])
    expect(paths([uris[0], uris[1], uris[0]])).toEqual(['return_uris.2'])
    expect(paths('https://shop.example/')).toEqual(['return_uris'])
    expect(paths([{}])).toEqual(['return_uris.0'])
  })

  it('a list holds a hundred clients', () => {
    const clients = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...recordOf(web), key: `k${index}` }))
    expect(readProviderConfig('google', { browser_clients: clients(100) }).faults).toEqual([])
    expect(readProviderConfig('google', { browser_clients: clients(101) }).faults).toHaveLength(1)
    for (const wrong of [{}, null, 'x', 1]) {
      expect(readProviderConfig('google', { native_clients: wrong }).faults).toHaveLength(1)
      expect(readProviderConfig('google', { native_clients: [wrong] }).faults.length).toBeGreaterThan(0)
    }
  })

  it('what is stored: the credential of a browser client is its key by default, and digits are lower case', () => {
    const { config } = readProviderConfig('google', {
      browser_clients: [recordOf(web), { ...recordOf(web), key: 'second', credential_ref: 'main' }],
      native_clients: [{ ...recordOf(android), signing_certificate_sha1: sha1.toUpperCase() }],
    })
    expect(config.browser_clients!.map(({ credential_ref, return_uris }) => [credential_ref, return_uris])).toEqual([
      ['main', []],
      ['main', []],
    ])
    expect(config.native_clients![0]!.signing_certificate_sha1).toBe(sha1)
  })

  it.each([
    [{ scopes: ['calendar.read', 'https://api.example/scope'] }, []],
    [{ scopes: ['a', 'a'] }, ['scopes.1']],
    [{ scopes: ['a b'] }, ['scopes.0']],
    [{ scopes: 'a' }, ['scopes']],
    [{ scopes: Array.from({ length: 21 }, (_, index) => `s${index}`) }, ['scopes']],
    [{ link_policy: 'never' }, []],
    [{ link_policy: 'always' }, ['link_policy']],
  ])('%j', (document, paths) => {
    expect(readProviderConfig('github', document).faults.map(({ path }) => path)).toEqual(paths)
  })
})

describe('both lists together', () => {
  const client = (fields: object) => ({ ...everywhere, ...fields }) as ProviderClient
  const browser = client({ platform: 'web', web_client_id: 'web-1' })
  const native = (fields: object) => client({ key: 'app', platform: 'android', server_client_id: 'web-1', ...fields })
  const pathsOf = (browser_clients: ProviderClient[], native_clients: ProviderClient[]) =>
    checkClients({ browser_clients, native_clients }).map(({ path }) => path)

  it('a key is unique', () => {
    expect(pathsOf([browser, { ...browser, key: 'second' }], [native({})])).toEqual([])
    expect(pathsOf([browser, browser], [])).toEqual(['browser_clients.1.key'])
    expect(pathsOf([browser], [native({ key: 'main' })])).toEqual(['native_clients.0.key'])
  })

  it('server_client_id is the web_client_id of a browser client', () => {
    expect(pathsOf([browser], [native({ server_client_id: 'web-2' })])).toEqual(['native_clients.0.server_client_id'])
    expect(pathsOf([], [native({})])).toEqual(['native_clients.0.server_client_id'])
    expect(pathsOf([{ ...browser, enabled: false }], [native({})])).toEqual([])
  })
})

it('synonyms are the four providers with clients', () => {
  const names = ['provider_a', 'provider_b', 'provider_c', 'provider_d', 'google', 'email']
  expect(names.map(providerNamed)).toEqual(['google', 'apple', 'microsoft', 'github', 'google', 'email'])
  for (const name of ['provider_e', 'Google', '', 'toString', '__proto__']) expect(providerNamed(name)).toBe(undefined)
})

describe('a credential', () => {
  const secret = { provider: 'google', kind: 'oauth_client_secret', client_secret: 'a secret of theirs' }
  const key = { provider: 'apple', kind: 'signing_key', team_id: 'TEAM123456', key_id: 'KEY1234567', private_key: 'x' }
  const sender = { provider: 'email', kind: 'sender_secret', secret: 'a password' }

  it.each(
    titled<['google' | 'apple' | 'microsoft' | 'email' | 'phone', unknown, string[]]>([
      ['google', secret, []],
      ['google', { ...secret, provider: 'provider_a' }, []],
      ['google', { ...secret, provider: 'github' }, ['provider']],
      ['microsoft', { ...secret, provider: 'microsoft' }, []],
      ['google', { ...secret, kind: 'signing_key' }, ['kind']],
      ['google', { ...secret, client_secret: '' }, ['client_secret']],
      ['google', { ...secret, client_secret: 7 }, ['client_secret']],
      ['google', { ...secret, client_secret: 'a\nb' }, ['client_secret']],
      ['google', { ...secret, client_secret: 'a\ud800' }, ['client_secret']],
      ['google', { ...secret, client_secret: 'x'.repeat(4_097) }, ['client_secret']],
      ['google', { ...secret, client_secret: 'x'.repeat(4_096) }, []],
      ['google', { ...secret, client_secret: 'a secret\u00a0' }, ['client_secret']],
      ['google', { ...secret, clientsecret: 'x' }, ['clientsecret']],
      ['google', {}, ['provider', 'kind', 'client_secret']],
      ['google', null, ['body', 'provider', 'kind', 'client_secret']],
      ['apple', key, []],
      ['apple', { ...key, team_id: 'a/b' }, ['team_id']],
      ['apple', { ...key, key_id: undefined }, ['key_id']],
      ['apple', { ...secret, provider: 'apple' }, ['kind', 'client_secret', 'team_id', 'key_id', 'private_key']],
      ['email', sender, []],
      ['phone', { ...sender, provider: 'phone' }, []],
      ['phone', sender, ['provider']],
    ]),
  )('%s', (_title, provider, document, paths) => {
    const { faults } = readCredential(provider, document)
    expect(faults.map(({ path }) => path)).toEqual(paths)
    expect(JSON.stringify(faults)).not.toContain('of theirs')
  })
})
