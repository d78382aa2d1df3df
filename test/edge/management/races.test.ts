/** Fifty rounds of calls at the same time for each kind of record: one order of them explains the outcome, and the audit trail says it. */
import { afterAll, describe, expect, it } from 'vitest'
import { longestVault } from '../../../src/wire/secrets.ts'
import { administer } from '../../support/management.ts'
import { type Answer, useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)

/** Rounds of each race: an interleaving that is rare shows in some of them. */
const rounds = 50

const atOnce = (...calls: (() => Promise<Answer>)[]) => Promise.all(calls.map((call) => call()))
const many = (count: number, call: (index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)))
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort()

/** One winner with 200, and 412 with the winner's tag for every other call. @returns the winner. */
function expectOneWinner(answers: Answer[]): Answer {
  const winners = answers.filter(({ status }) => status === 200)
  const losers = answers.filter(({ status }) => status !== 200)
  expect([winners.length, new Set(losers.map(({ status }) => status))]).toEqual([1, new Set([412])])
  const [winner] = winners
  for (const { json } of losers) expect(json.etag).toBe(winner!.headers.get('etag'))
  return winner!
}

/** A change of the trail: whether it turned something on, and when. */
interface Turn {
  isOn: boolean
  at: number
}

async function turnsOf(target: string, on: string, off: string): Promise<Turn[]> {
  const entries = (await admin.entries(target)).filter(({ event_type }) => event_type === on || event_type === off)
  return entries.map((entry) => ({ isOn: entry.event_type === on, at: (entry['occurred_at'] as Date).getTime() }))
}

/**
 * What is on is turned off before it is turned on again: no change is recorded that did not happen. Entries of one millisecond have
 * no order among themselves.
 */
function expectTurns(turns: Turn[], isOn: boolean): void {
  let state = 0
  for (const [at, together] of Map.groupBy(turns, (turn) => turn.at)) {
    state += together.reduce((sum, turn) => sum + (turn.isOn ? 1 : -1), 0)
    expect([at, [0, 1]]).toEqual([at, expect.arrayContaining([state])])
  }
  expect(state).toBe(isOn ? 1 : 0)
}

const browser = (key: string) => ({
  key,
  enabled: true,
  application_key: 'shop',
  platform: 'web',
  variant: 'release',
  web_client_id: `${key}.apps.example`,
  return_uris: ['https://shop.example/signed-in'],
})
const secret = (text: string) => ({ provider: 'google', kind: 'oauth_client_secret', client_secret: text })

afterAll(async () => {
  await admin.call('PUT', '/settings', {})
})

describe('a provider', () => {
  const google = '/providers/google'
  const tag = async () => (await admin.call('GET', google)).json.etag as string

  it('of four different writes with one entity tag has one, fifty times', async () => {
    for (let round = 0; round < rounds; round++) {
      const headers = { 'if-match': await tag() }
      const isOpen = (await admin.call('GET', google)).json.enabled
      const answers = await atOnce(
        () => admin.call('PUT', `${google}/config`, { browser_clients: [browser(`round-${round}`)] }, { headers }),
        () => admin.call('PUT', `${google}/config`, { scopes: [`scope-${round}`] }, { headers }),
        () => admin.call('PUT', `${google}/credentials/web`, secret(`secret ${round}`), { headers }),
        () => admin.call('POST', google, { enabled: !isOpen }, { headers }),
      )
      const winner = expectOneWinner(answers)
      expect(winner.headers.get('etag')).toBe(await tag())
    }
  })

  it('whose credential is removed while a client names it keeps it, or the client comes too late to name it', async () => {
    for (let round = 0; round < rounds; round++) {
      await admin.call('PUT', `${google}/config`, { browser_clients: [] })
      await admin.call('PUT', `${google}/credentials/web`, secret('a secret'))
      const [named, removed] = await atOnce(
        () => admin.call('PUT', `${google}/config`, { browser_clients: [browser('web')] }),
        () => admin.call('DELETE', `${google}/credentials/web`),
      )
      const { credentials, problems } = (await admin.call('GET', google)).json
      expect([named!.status, removed!.status === 204 || removed!.json.error === 'credential_in_use']).toEqual([
        200,
        true,
      ])
      expect(credentials.length).toBe(removed!.status === 204 ? 0 : 1)
      expect(problems.includes('credential_missing:web')).toBe(removed!.status === 204)
    }
  })

  it('of phone has one of fifty settings with one entity tag', async () => {
    const settings = '/providers/phone/settings'
    const etag = (await admin.call('GET', settings)).headers.get('etag')!
    const answers = await many(50, (n) =>
      admin.call('PUT', settings, { driver: 'console', otp_ttl_seconds: 100 + n }, { headers: { 'if-match': etag } }),
    )
    const winner = expectOneWinner(answers)
    expect((await admin.call('GET', settings)).json).toEqual(winner.json)
  })
})

describe('a role', () => {
  const named = () => `role-${crypto.randomUUID().slice(0, 8)}`

  it('is held or not after assignments and revocations at once, as the trail says', async () => {
    const { id } = await shop.signUp()
    for (let round = 0; round < rounds; round++) {
      const answers = await many(4, (n) => shop.role(n % 2 === 0 ? 'PUT' : 'DELETE', id, 'staff'))
      expect(statusesOf(answers)).toEqual([204, 204, 204, 204])
    }
    const held = await shop.sql(`select from auth.user_roles where user_id = $1 and role = 'staff'`, [id])
    expectTurns(await turnsOf(id, 'role.assigned', 'role.revoked'), held.length === 1)
  })

  it('is assigned to a user who is deleted meanwhile, or to nobody', async () => {
    for (let round = 0; round < rounds; round++) {
      const { json } = await admin.call('POST', '/users', { email: `${crypto.randomUUID()}@example.com` })
      const [assigned, removed] = await atOnce(
        () => shop.role('PUT', json.id, 'staff'),
        () => admin.call('DELETE', `/users/${json.id}`),
      )
      expect([[204, 404].includes(assigned!.status), removed!.status]).toEqual([true, 204])
      expect(await shop.sql('select from auth.user_roles where user_id = $1', [json.id])).toEqual([])
    }
  })

  it('is the one default after each of fifty rounds of two', async () => {
    const names = [named(), named()]
    for (let round = 0; round < rounds; round++) {
      const answers = await many(2, (n) => admin.call('POST', '/roles', { name: names[n], default: true }))
      expect(statusesOf(answers)).toEqual([200, 200])
      const defaults = await shop.sql<{ name: string }>('select name from auth.roles where is_default')
      expect([defaults.length, names.includes(defaults[0]!.name)]).toEqual([1, true])
    }
    await admin.call('POST', '/roles', { name: 'customer', default: true })
    for (const name of names) {
      const turns = (await admin.entries(name)).flatMap((entry) =>
        (entry['changes'] as { path: string; to: unknown }[])
          .filter(({ path }) => path === 'default')
          .map(({ to }) => ({ isOn: to === true, at: (entry['occurred_at'] as Date).getTime() })),
      )
      expectTurns(turns, false)
    }
  })

  it('that is declared in two ways at once is one of them, never a mixture', async () => {
    const name = named()
    const sets = [
      ['a.read', 'a.write'],
      ['b.read', 'b.write', 'c.*'],
    ]
    for (let round = 0; round < rounds; round++) {
      await many(4, (n) => admin.call('POST', '/roles', { name, permissions: sets[n % 2] }))
      const { data } = (await admin.call('GET', '/roles')).json
      expect(sets).toContainEqual(data.find((one: { name: string }) => one.name === name).permissions)
    }
  })
})

describe('a template', () => {
  const texts = (n: number) => ({ subject: `Subject ${n}`, body: `<p>Body ${n}</p>`, body_text: `Text ${n}` })
  const template = '/templates/password_changed'

  it('of ten writes with one entity tag has one, fifty times', async () => {
    for (let round = 0; round < rounds; round++) {
      const { etag } = (await admin.call('GET', template)).json
      const answers = await many(10, (n) =>
        n === 9 && round % 2 === 1
          ? admin.call('DELETE', template, undefined, { headers: { 'if-match': etag } })
          : admin.call('PUT', template, texts(round * 10 + n), { headers: { 'if-match': etag } }),
      )
      const winner = expectOneWinner(answers)
      expect((await admin.call('GET', template)).json).toEqual(winner.json)
    }
  })

  it('that is written and restored at once has whole texts, under a tag that was never used', async () => {
    const seen = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const answers = await atOnce(
        () => admin.call('PUT', template, texts(round)),
        () => admin.call('DELETE', template),
        () => admin.call('PUT', template, texts(round + 1_000)),
      )
      expect(statusesOf(answers)).toEqual([200, 200, 200])
      const { subject, body, body_text, customised, etag } = (await admin.call('GET', template)).json
      const number = /\d+/.exec(subject)?.[0]
      if (customised) expect([subject, body, body_text]).toEqual(Object.values(texts(Number(number))))
      if (customised) expect(seen.has(etag)).toBe(false)
      seen.add(etag)
    }
    await admin.call('DELETE', template)
  })

  it('of the project that is declared, withdrawn and changed at once is there whole, or not at all', async () => {
    const declared = { channel: 'email', subject: 'Hello', body: '<p>{{order}}</p>', variables: [{ name: 'order' }] }
    for (let round = 0; round < rounds; round++) {
      const answers = await atOnce(
        () => admin.call('PUT', '/templates/raced/default', declared),
        () => admin.call('DELETE', '/templates/raced/default'),
        () => admin.call('PUT', '/templates/raced', texts(round)),
      )
      expect(answers.filter(({ status }) => ![200, 204, 404].includes(status))).toEqual([])
      const read = await admin.call('GET', '/templates/raced')
      const [left] = await shop.sql<{ changed: number }>(
        `select count(*)::int as changed from auth.templates where key = 'raced'`,
      )
      // texts never outlive the template that they were put for
      if (read.status === 404) expect(left!.changed).toBe(0)
      else expect(read.json.customised).toBe(left!.changed === 1)
    }
    await admin.call('DELETE', '/templates/raced/default')
  })
})

describe('the vault', () => {
  const entry = (name: string) => `/admin/vault/backend/${name}`
  const apikey = () => ({ apikey: shop.stack.record.service_role_key })
  const put = (name: string, value: string) =>
    shop.call(entry(name), { method: 'PUT', json: { value }, headers: apikey() })
  const remove = (name: string) => shop.call(entry(name), { method: 'DELETE', headers: apikey() })

  it('has a secret or not after writes and removals at once, as the trail says', async () => {
    for (let round = 0; round < rounds; round++) {
      const answers = await atOnce(
        () => put('RACED', `one ${round}`),
        () => remove('RACED'),
        () => put('RACED', `other ${round}`),
        () => remove('RACED'),
      )
      expect(statusesOf(answers)).toEqual([204, 204, 204, 204])
    }
    const turns = await turnsOf('RACED', 'secret.set', 'secret.removed')
    const last = (isOn: boolean) => Math.max(0, ...turns.filter((turn) => turn.isOn === isOn).map(({ at }) => at))
    const isThere = (await shop.sql(`select from auth.vault_entries where name = 'RACED'`)).length === 1
    expect(last(isThere)).toBeGreaterThanOrEqual(last(!isThere))
    expect(turns.filter(({ isOn }) => isOn)).toHaveLength(2 * rounds)
  })

  it('takes of fifty writes at once as many as there is room for', async () => {
    const value = 'x'.repeat(60_000)
    await shop.sql(`insert into auth.vault_entries (name, sealed) values ('FILLER', repeat('x', $1))`, [
      longestVault - 10 * 80_200,
    ])
    const answers = await many(50, (n) => put(`ROOM_${n}`, value))
    expect(new Set(statusesOf(answers))).toEqual(new Set([204, 409]))
    const [row] = await shop.sql<{ size: number; count: number }>(
      'select sum(length(sealed))::int as size, count(*)::int as count from auth.vault_entries',
    )
    const taken = answers.filter(({ status }) => status === 204).length
    expect([taken, row!.size <= longestVault]).toEqual([10, true])
    await shop.sql(`delete from auth.vault_entries where name = 'FILLER' or name like 'ROOM_%'`)
  })
})

describe('an operator', () => {
  it('is listed or not after additions and removals at once, as the trail says', async () => {
    const { id } = await shop.signUp()
    for (let round = 0; round < rounds; round++) {
      const answers = await many(4, (n) => admin.call(n % 2 === 0 ? 'PUT' : 'DELETE', `/operators/${id}`))
      expect(statusesOf(answers)).toEqual([204, 204, 204, 204])
    }
    const listed = await shop.sql('select from auth.operators where user_id = $1', [id])
    expectTurns(await turnsOf(id, 'operator.added', 'operator.removed'), listed.length === 1)
  })

  it('who is removed is refused by every call that begins afterwards, fifty times', async () => {
    const { id, token } = await admin.operator()
    const act = () => shop.call('/v1/management/auth/roles', { token })
    for (let round = 0; round < rounds; round++) {
      const [removed, ...acts] = await atOnce(() => admin.call('DELETE', `/operators/${id}`), act, act, act)
      expect([removed!.status, acts.filter(({ status }) => ![200, 403].includes(status))]).toEqual([204, []])
      expect((await act()).status).toBe(403)
      await admin.call('PUT', `/operators/${id}`)
      expect((await act()).status).toBe(200)
    }
    await admin.call('DELETE', `/operators/${id}`)
  })
})

describe('the settings', () => {
  it('of a hundred writers with one entity tag have one', async () => {
    const etag = (await admin.call('GET', '/settings')).headers.get('etag')!
    const answers = await many(100, (n) =>
      admin.call('PUT', '/settings', { password_min_length: 1 + (n % 60) }, { headers: { 'if-match': etag } }),
    )
    const winner = expectOneWinner(answers)
    const { ignored_fields: _, ...document } = winner.json
    expect((await admin.call('GET', '/settings')).json).toEqual(document)
  })

  it('of two documents at once are one of them whole, fifty times', async () => {
    for (let round = 0; round < rounds; round++) {
      const documents = [
        { password_min_length: 8 + (round % 20), site_name: `one ${round}` },
        { password_max_length: 40 + (round % 20), support_email: `other-${round}@example.com` },
      ]
      const answers = await many(2, (n) => admin.call('PUT', '/settings', documents[n]))
      expect(statusesOf(answers)).toEqual([200, 200])
      const tags = answers.map(({ headers }) => headers.get('etag'))
      const read = await admin.call('GET', '/settings')
      expect(new Set(tags).size).toBe(2)
      expect(documents).toContainEqual(read.json)
      expect(tags).toContain(read.headers.get('etag'))
    }
  })
})
