/** Changes of the settings and of the vault in the audit trail: what was changed, and never a secret (contract 9.8, 9.9, 9.16). */
import { afterEach, describe, expect, it } from 'vitest'
import { batched } from '../../support/batched.ts'
import { administer, naughtyStrings } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)
const put = (json: unknown, headers: Record<string, string> = {}) => admin.call('PUT', '/settings', json, { headers })
const changes = async () =>
  (await admin.entries('settings')).map(
    ({ event_type, changes }) => [event_type, changes as { path: string; from: unknown; to: unknown }[]] as const,
  )
const vault = (method: string, name: string, json?: object) =>
  shop.call(`/admin/vault/backend/${name}`, {
    method,
    ...(json ? { json } : {}),
    headers: { apikey: shop.stack.record.service_role_key },
  })

afterEach(async () => {
  await put({})
  await shop.sql(`delete from stack.audit where target_id = 'settings'`)
})

describe('the settings', () => {
  it('have an entry with every value that was changed, by its path', async () => {
    await put({ site_name: 'Shop', password_min_length: 10, mail: { transport: 'console', from: 'shop@example.com' } })
    await put({
      site_name: 'Shop',
      password_min_length: 12,
      mail: { transport: 'console', from: 'new@example.com' },
      ignored: 1,
    })
    expect((await changes()).map(([, one]) => one)).toEqual([
      [
        { path: 'mail', from: null, to: { transport: 'console', from: 'shop@example.com' } },
        { path: 'password_min_length', from: null, to: 10 },
        { path: 'site_name', from: null, to: 'Shop' },
      ],
      [
        { path: 'mail.from', from: 'shop@example.com', to: 'new@example.com' },
        { path: 'password_min_length', from: 10, to: 12 },
      ],
    ])
  })

  it('that are written as they are have no entry; nor has a write that is refused', async () => {
    const document = { site_name: 'Shop', rate_limits: { sign_up_per_address: { attempts: 5, seconds: 60 } } }
    const { headers } = await put(document)
    await put({ rate_limits: { sign_up_per_address: { seconds: 60, attempts: 5 } }, site_name: 'Shop' })
    expect((await put({ site_name: 'Other' }, { 'if-match': headers.get('etag')! })).status).toBe(412)
    expect((await put({ site_name: 7 })).json.error).toBe('invalid_settings')
    expect(await changes()).toHaveLength(1)
  })

  it('show no password that an address carries', async () => {
    await put({
      mail: { transport: 'http', from: 'shop@example.com', url: 'https://user:planted-password@mail.example/send' },
      breach_check_url: 'https://planted-user:planted-secret@breach.example/range',
    })
    await put({})
    const text = JSON.stringify(await changes())
    expect(['planted-password', 'planted-user', 'planted-secret'].filter((secret) => text.includes(secret))).toEqual([])
    expect(text).toContain('https://***@mail.example/send')
  })

  it('that fifty writers change one after another have one chain of entries', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => put({ password_min_length: 1 + n })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const values = (await changes()).map(([, [one]]) => one!)
    expect(values).toHaveLength(50)
    // each value was written once and replaced once, but the last one
    const froms = values.map(({ from }) => from)
    const tos = values.map(({ to }) => to)
    expect(new Set(froms).size).toBe(50)
    expect(tos.filter((to) => !froms.includes(to))).toEqual([
      (await admin.call('GET', '/settings')).json.password_min_length,
    ])
  })
})

describe('the vault', () => {
  it('has an entry for each value that is set and each name that is removed, and none of them holds a value', async () => {
    const value = 'planted-value-of-the-vault'
    for (let n = 0; n < 2; n++) expect((await vault('PUT', 'PLANTED', { value: `${value}${n}` })).status).toBe(204)
    for (let n = 0; n < 2; n++) expect((await vault('DELETE', 'PLANTED')).status).toBe(204)
    expect((await vault('PUT', 'AUTH_URL', { value })).status).toBe(400)
    const entries = await admin.entries('PLANTED')
    expect(entries.map(({ event_type, target_type }) => [event_type, target_type])).toEqual([
      ['secret.set', 'secret'],
      ['secret.set', 'secret'],
      ['secret.removed', 'secret'],
    ])
    expect(JSON.stringify(await shop.sql('select * from stack.audit'))).not.toContain(value)
  })
})

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  const places: Record<string, (text: string) => [string, string, unknown?]> = {
    'a name of a setting': (text) => ['PUT', '/settings', { [text]: text }],
    'a value of a setting': (text) => ['PUT', '/settings', { site_name: text }],
    'the whole document': (text) => ['PUT', '/settings', text],
  }
  it.each(Object.keys(places))('as %s answer no 5xx', async (place) => {
    const failed = await batched(
      naughtyStrings.map((text, index) => [`#${index}`, text] as const),
      async (text) => {
        const { status } = await admin.call(...places[place]!(text))
        return status >= 500 ? `answered ${status}` : undefined
      },
    )
    expect(failed).toEqual([])
  })
})
