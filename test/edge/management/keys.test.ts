/** Rotation of the keys of a stack under load, their overlap, their end, and that no answer, log or table shows one (contract 9.15). */
import { createHmac, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { keysAt } from '../../../local/keys.ts'
import { openWith } from '../../../src/wire/sealing.ts'
import { startLoad } from '../../support/load.ts'
import { administer } from '../../support/management.ts'
import { type Person, useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'secret' })
const admin = administer(probe)
const keysFile = () => path.join(probe.root, '.stack/keys.json')
const recordFile = () => path.join(probe.root, '.stack/local.json')

/** The key that the commands on this machine use, as the stack has written it down. */
const key = () => probe.stack.record.service_role_key

const rotate = (kind: string, body: object | undefined = {}, apikey = key()) =>
  admin.call('POST', `/keys/${kind}/rotate`, body, { headers: { apikey } })

const ask = async (apikey: string) => (await admin.call('GET', '/settings', undefined, { headers: { apikey } })).status

/** Rotates the service-role key, and waits until the local stack has written the new one down. */
async function rotateServiceRole(body: object = {}): Promise<{ key: string; id: string; previous_id: string }> {
  const { status, json, text } = await rotate('service-role', body)
  if (status !== 200) throw new Error(`the rotation answered ${status}: ${text}`)
  await vi.waitUntil(() => key() === json.key, { timeout: 10_000 })
  return json
}

let insider: Person
let other: Person

beforeAll(async () => {
  insider = await probe.signUp()
  other = await probe.signUp()
  await probe.role('PUT', insider.id, 'insider')
})

afterEach(() => probe.sql('delete from auth.rate_limits'))

/** Signed-in reads with row-level security, gated writes, calls of the backend for roles, and calls of the management surface. */
function mixture() {
  const read = {
    text: 'select auth.uid() as uid, (select count(*) from notes where owner <> auth.uid()) as foreign_rows',
  }
  return {
    read: { status: 200, send: () => probe.call('/sql/caller', { token: insider.token, json: [read] }) },
    write: {
      status: 200,
      send: () => probe.call(`/guarded/note/${randomUUID()}`, { method: 'POST', token: insider.token }),
    },
    roles: { status: 200, send: () => probe.call(`/request/roles/${other.id}/insider`, { method: 'PUT' }) },
    own: { status: 200, send: () => probe.call('/auth/user', { token: other.token }) },
    management: { status: 200, send: () => admin.call('GET', `/users/${other.id}/roles`) },
  }
}

/** Runs the load through `work`, and until each kind was answered again afterwards. */
async function underLoad(work: (load: ReturnType<typeof startLoad>) => Promise<void>, kinds = mixture()) {
  const load = startLoad(kinds, 200)
  try {
    await load.more(20)
    await work(load)
    await load.more(40)
  } finally {
    await load.stop()
  }
  expect([...new Set(load.failures)].join('\n')).toBe('')
}

/** Moves the end of all overlaps into the past. */
const endOverlaps = (table: string) =>
  probe.sql(`update auth.${table} set accepted_until = now() where accepted_until > now()`)

describe('no request fails', () => {
  it('while the key of the claims is rotated, and when the overlap has ended', async () => {
    await underLoad(async (load) => {
      const { status, json } = await rotate('claims')
      expect([status, json]).toEqual([
        200,
        {
          id: expect.stringMatching(/^clk_[0-9A-HJKMNP-TV-Z]{26}$/),
          previous_id: 'binding',
          previous_valid_until: expect.stringMatching(/Z$/),
        },
      ])
      // An isolate asks for new keys once in 5 s: afterwards the previous key may end.
      await vi.waitUntil(() => probe.sql('select 1').then(() => true))
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      await load.more(20)
      await endOverlaps('claims_keys')
    })
  })

  it('while the service-role key is rotated, and when the overlap has ended', async () => {
    const before = key()
    await underLoad(async (load) => {
      await rotateServiceRole()
      await load.more(40)
      expect([await ask(before), await ask(key())]).toEqual([200, 200])
      await endOverlaps('service_role_keys')
      expect([await ask(before), await ask(key())]).toEqual([401, 200])
    })
  })

  it('of the backend, where the previous service-role key ends at once', async () => {
    const { roles, read, write } = mixture()
    await underLoad(
      async (load) => {
        for (let n = 0; n < 3; n++) {
          const before = key()
          await rotateServiceRole({ overlap_seconds: 0 })
          expect(await ask(before)).toBe(401)
          await load.more(10)
        }
      },
      { roles, read, write } as ReturnType<typeof mixture>,
    )
  })

  it('while the signing key is rotated', async () => {
    await underLoad(async () => {
      expect((await rotate('signing', undefined)).status).toBe(200)
    })
  })

  it('while every value is sealed anew', async () => {
    await underLoad(async () => {
      await probe.sql(`update auth.vault_entries set sealed = sealed`)
      const { status, json } = await rotate('sealing', undefined)
      expect([status, json.remaining, json.unreadable]).toEqual([200, 0, []])
    })
  })
})

describe('the key of the claims', () => {
  const current = async () =>
    (await admin.call('GET', '/keys')).json.data.find(
      (one: { kind: string; state: string }) => one.kind === 'claims' && one.state === 'current',
    ).id

  it('is rotated once by fifty calls at the same time, and each of them answers this rotation', async () => {
    await probe.sql(`update auth.claims_keys set created_at = created_at - interval '1 hour'`)
    const answers = await Promise.all(Array.from({ length: 50 }, () => rotate('claims')))
    const ids = new Set(answers.map(({ status, json }) => `${status} ${json.id} ${json.previous_valid_until}`))
    expect(ids.size).toBe(1)
    expect([...ids][0]).toContain(`200 ${await current()} `)
    const entries = await admin.entries(await current())
    expect(entries).toMatchObject([{ event_type: 'key.rotated', details: { kind: 'claims' } }])
  })

  it('ends at once with an overlap of 0: a worker that signs with it is refused, takes the newer one and goes on', async () => {
    const before = await current()
    expect((await rotate('claims', { overlap_seconds: 0 })).json.previous_id).toBe(before)
    for (const { status, send } of Object.values(mixture())) expect((await send()).status).toBe(status)
    expect(
      await probe.sql('select 1 from auth.claims_keys where accepted_until is null or accepted_until > now()'),
    ).toHaveLength(1)
  })

  it('before the rotation is accepted while the overlap lasts, and refused afterwards', async () => {
    const { sealing_key } = keysAt(keysFile())
    await probe.sql(`update auth.claims_keys set created_at = created_at - interval '1 hour'`)
    await rotate('claims')
    const [{ id, sealed }] = (await probe.sql<{ id: string; sealed: string }>(
      'select id, sealed from auth.claims_keys order by position desc limit 1',
    )) as [{ id: string; sealed: string }]
    const secret = await openWith([sealing_key], sealed, `claims key ${id}`)
    const uid = async () => {
      const [expiry, claims] = [Math.floor(Date.now() / 1000) + 60, JSON.stringify({ sub: insider.id })]
      const mac = createHmac('sha256', secret).update(`${expiry}.${claims}`).digest('hex')
      await probe.sql(
        `select set_config('request.jwt.claims', $1, false), set_config('request.jwt.signature', $2, false)`,
        [claims, `${expiry}.${mac}`],
      )
      return (await probe.sql('select auth.uid() as uid'))[0]
    }
    expect(await uid()).toEqual({ uid: insider.id })
    await probe.sql(`update auth.claims_keys set created_at = created_at - interval '1 hour'`)
    await rotate('claims', { overlap_seconds: 60 })
    expect(await uid()).toEqual({ uid: insider.id })
    await endOverlaps('claims_keys')
    await expect(uid()).rejects.toMatchObject({ code: '28000' })
    await probe.sql('reset all')
  })

  it('that no worker can have is 503 for a signed-in request, and an anonymous one needs none', async () => {
    const signedIn = () => mixture().read.send()
    const anonymous = () => probe.call('/columns', { json: { text: 'select auth.uid() as uid' } })
    const before = await probe.sql('select id, accepted_until from auth.claims_keys')
    await probe.sql('update auth.claims_keys set accepted_until = now()')
    expect((await signedIn()).json).toMatchObject({ status: 503, error: 'unavailable' })
    expect((await probe.call('/auth/user', { token: other.token })).status).toBe(503)
    expect((await anonymous()).status).toBe(200)
    // The management surface needs no claims: it mends this.
    expect((await rotate('claims', { overlap_seconds: 0 })).status).toBe(200)
    expect((await signedIn()).status).toBe(200)
    expect(before.length).toBeGreaterThan(0)
  })

  it('that a rotation has ended stays ended when the deployment installs it once more, and another one is accepted', async () => {
    const { installKeys } = await import('../../../local/logins.ts')
    const { claims_key } = keysAt(keysFile())
    const accepted = async () =>
      (
        await probe.sql<{ ok: boolean }>(
          `select accepted_until is null as ok from auth.claims_keys where id = 'binding'`,
        )
      )[0]!.ok
    await installKeys(probe.stack.record.database_url, { claimsKey: claims_key, passwords: {} })
    expect(await accepted()).toBe(false)
    await installKeys(probe.stack.record.database_url, { claimsKey: 'another', passwords: {} })
    expect(await accepted()).toBe(true)
  })
})

describe('the service-role key', () => {
  it('is answered once, to a caller with the key alone: an operator rotates it and does not get it', async () => {
    const operator = await admin.operator()
    const { status, json, headers } = await admin.call(
      'POST',
      '/keys/service-role/rotate',
      {},
      {
        token: operator.token,
        headers: { apikey: '' },
      },
    )
    expect([status, json.key, headers.get('cache-control')]).toEqual([200, null, 'no-store'])
    await vi.waitUntil(async () => (await ask(key())) === 200 && keysAt(keysFile()).service_role_key === key())
    const mine = await rotateServiceRole()
    expect(mine.key).toMatch(/^srk_[A-Za-z0-9_-]{59}$/)
    expect(mine.previous_id).toBe(json.id)
    const [entry] = await admin.entries(json.id)
    expect(entry).toMatchObject({ event_type: 'key.rotated', actor_type: 'operator', actor_id: operator.id })
  })

  it('of fifty rotations at the same time is a chain: each answered key is accepted, nine beside the newest', async () => {
    await rotateServiceRole({ overlap_seconds: 0 })
    const apikey = key()
    const answers = await Promise.all(Array.from({ length: 50 }, () => rotate('service-role', {}, apikey)))
    const made = answers.filter(({ status }) => status === 200).map(({ json }) => json)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(made).toHaveLength(9)
    expect(new Set(refused.map(({ status, json }) => `${status} ${json.error}`))).toEqual(
      new Set(['409 too_many_keys']),
    )
    expect(new Set(await Promise.all(made.map((one) => ask(one.key))))).toEqual(new Set([200]))
    expect(new Set(made.map((one) => one.previous_id)).size).toBe(9)
    const newest = made.find(({ id }) => made.every((one) => one.previous_id !== id))
    await vi.waitUntil(() => key() === newest.key, { timeout: 10_000 })
    await rotateServiceRole({ overlap_seconds: 0 })
    expect(new Set(await Promise.all(made.map((one) => ask(one.key))))).toEqual(new Set([401]))
  })

  it('goes on after a restart of the local stack, whose files have the newest one', async () => {
    const { key: newest } = await rotateServiceRole()
    expect(keysAt(keysFile()).service_role_key).toBe(newest)
    expect(JSON.parse(fs.readFileSync(recordFile(), 'utf8')).service_role_key).toBe(newest)
    // A start that has not followed the rotation reads the key from the database.
    const { adoptServiceRoleKey } = await import('../../../local/rotated.ts')
    const stale = { ...keysAt(keysFile()), service_role_key: 'srk_of_before' }
    expect(await adoptServiceRoleKey(probe.stack.record.database_url, stale, keysFile())).toBe(true)
    expect([stale.service_role_key, keysAt(keysFile()).service_role_key]).toEqual([newest, newest])
  })

  it.each(titled([['srk_'], ['srk_forged'], [`srk_${'A'.repeat(59)}`], ['-'], ['x'.repeat(80)]]))(
    'that no stack has made is 401: %s',
    async (_title, apikey) => {
      expect(await ask(apikey)).toBe(401)
      const { key: real } = await rotateServiceRole({ overlap_seconds: 0 })
      const changed = `${real.slice(0, -1)}${real.endsWith('A') ? 'B' : 'A'}`
      expect([await ask(changed), await ask(real)]).toEqual([401, 200])
    },
  )
})

describe('before a look at the database', () => {
  it('a key that no stack has made is refused: neither a connection nor a row is needed for it', async () => {
    await probe.sql('alter table auth.service_role_keys rename to elsewhere')
    expect([await ask('srk_forged'), await ask(`srk_${'A'.repeat(59)}`), await ask(key())]).toEqual([401, 401, 500])
    await probe.sql('alter table auth.elsewhere rename to service_role_keys')
    expect(await ask(key())).toBe(200)
  })
})

describe('a rotation refuses', () => {
  it.each([
    ['claims', { overlap_seconds: -1 }],
    ['claims', { overlap_seconds: 1.5 }],
    ['service-role', { overlap_seconds: 2_592_001 }],
    ['service-role', { overlap_seconds: '5' }],
    ['service-role', { overlap: 5 }],
  ])('%s with %j', async (kind, body) => {
    const { status, json } = await rotate(kind, body)
    expect([status, json.error]).toEqual([400, 'invalid_request'])
  })

  it.each(['signing', 'claims', 'service-role', 'sealing'])('%s to every other caller', async (kind) => {
    const body = kind === 'signing' || kind === 'sealing' ? undefined : {}
    const call = (options: object) => admin.call('POST', `/keys/${kind}/rotate`, body, options)
    const before = await probe.sql('select count(*) from stack.audit')
    expect((await call({ headers: { apikey: '' } })).status).toBe(401)
    expect((await call({ headers: { apikey: probe.stack.record.publishable_key } })).status).toBe(401)
    expect((await call({ headers: { apikey: '' }, token: insider.token })).status).toBe(403)
    expect(await probe.sql('select count(*) from stack.audit')).toEqual(before)
  })
})

describe('the list of keys', () => {
  it('has each key by its kind, with state and end, and no key', async () => {
    const { status, json, text } = await admin.call('GET', '/keys')
    expect([status, json.has_more, json.next_cursor]).toEqual([200, false, null])
    const kinds = (kind: string) => json.data.filter((one: { kind: string }) => one.kind === kind)
    for (const kind of ['signing', 'claims', 'service_role', 'sealing']) {
      expect([kind, kinds(kind).filter(({ state }: { state: string }) => state === 'current').length]).toEqual([
        kind,
        1,
      ])
    }
    expect(kinds('signing').map(({ state }: { state: string }) => state)).toContain('next')
    expect(kinds('sealing')[0]).toEqual({
      kind: 'sealing',
      id: expect.stringMatching(/^[A-Za-z0-9+/]{12}$/),
      state: 'current',
      source: 'binding',
      created_at: null,
      valid_until: null,
    })
    for (const secret of Object.values(keysAt(keysFile()))) {
      if (typeof secret === 'string') expect(text).not.toContain(secret)
    }
  })
})

describe('nothing shows a key', () => {
  it('neither the log nor the audit trail', async () => {
    const { key: newest } = await rotateServiceRole()
    const everything = JSON.stringify(await probe.sql('select * from stack.audit')) + JSON.stringify(probe.log)
    expect(everything).not.toContain(newest)
    expect(everything).not.toContain(newest.slice(4, 47))
  })

  it.each(['backend_authenticated', 'backend_service_role'])('5.1 nor a table, as %s', async (role) => {
    for (const table of ['claims_keys', 'service_role_keys', 'signing_keys']) {
      await probe.sql('begin')
      await probe.sql(`set local role ${role}`)
      await expect(probe.sql(`select * from auth.${table}`)).rejects.toMatchObject({ code: '42501' })
      await probe.sql('rollback')
    }
  })

  it('and the database has no service-role key in the clear', async () => {
    const text = JSON.stringify(await probe.sql('select * from auth.service_role_keys'))
    expect(text).not.toContain(key())
    expect(text).not.toContain(key().slice(4, 47))
  })
})
