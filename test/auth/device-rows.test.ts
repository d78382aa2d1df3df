/** 3.7 What the database itself decides about devices: whose a key is, which nonce is new, and which rows can exist. */
import type pg from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf, soon } from '../support/claims-signature.ts'
import { claimsKey, useMigratedPostgres } from '../support/migrated-postgres.ts'

const { sql, connect } = useMigratedPostgres()
let client: pg.Client

const idOf = (digit: string) => `dev_${digit.repeat(26)}`
const keyOf = (digit: string) => digit.repeat(43)
const nonceOf = (digit: string) => digit.repeat(22)

/** Columns of a device that can exist. */
const sound = {
  id: idOf('9'),
  user_id: 'usr_a',
  platform: 'ios',
  application_key: 'shop',
  environment: 'production',
  key_id: keyOf('9'),
  public_key: 'p'.repeat(87),
  key_storage: 'secure_enclave',
} as const

/** Adds a device, with some of its columns changed. */
async function add(changed: Record<string, unknown> = {}): Promise<void> {
  const row = { ...sound, ...changed }
  const names = Object.keys(row)
  const places = names.map((_, index) => `$${index + 1}`)
  await sql(`insert into auth.devices (${names}) values (${places})`, Object.values(row))
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'allowed',
    (error: { code?: string }) => error.code,
  )

/** Binds a connection to a caller, as the runtime does. The transaction stays open. */
async function begin(on: pg.Client, sub: string | undefined): Promise<void> {
  const claims = JSON.stringify(sub === undefined ? {} : { sub })
  await on.query('begin; set local role backend_authenticated')
  await on.query(`select set_config('request.jwt.claims', $1, true), set_config('request.jwt.signature', $2, true)`, [
    claims,
    signatureOf(claims, claimsKey, soon()),
  ])
}

/** Runs one query as a caller. */
async function as<T>(sub: string | undefined, text: string, values: unknown[], end = 'rollback'): Promise<T> {
  await begin(client, sub)
  try {
    return (await client.query(text, values)).rows[0]
  } finally {
    await client.query(end)
  }
}

const now = () => Math.floor(Date.now() / 1000)
const contextOf = (sub: string, key: string) =>
  as<{ roles: string[]; device: Record<string, unknown> | null }>(sub, 'select * from auth.request_context($1, $2)', [
    'https://stack.example/auth',
    key,
  ])
const claimText = 'select auth.claim_assertion($1, $2, $3) as is_new'
const claim = async (sub: string | undefined, key: string, nonce: string, end?: string) =>
  (await as<{ is_new: boolean }>(sub, claimText, [key, nonce, now()], end)).is_new
const hoursUnseen = async (digit: string) => {
  const rows = await sql<{ hours: number }>(
    `select floor(extract(epoch from now() - last_seen_at) / 3600)::int as hours from auth.devices where id = $1`,
    [idOf(digit)],
  )
  return rows[0]!.hours
}
const unseenFor = (hours: number) =>
  sql(`update auth.devices set last_seen_at = now() - make_interval(mins => $1)`, [hours * 60])

beforeAll(async () => {
  client = await connect('stack_backend')
  await sql(`insert into auth.users (id, email) values ('usr_a', 'a@example.com'), ('usr_b', 'b@example.com')`)
  await add({ id: idOf('1'), key_id: keyOf('1'), facts: '{"os_version":"16.0.0"}', rp_id_hash: 'h'.repeat(43) })
  await add({ id: idOf('2'), key_id: keyOf('2'), user_id: 'usr_b', platform: 'android', key_storage: 'tee' })
  await add({ id: idOf('3'), key_id: keyOf('3'), revoked_at: new Date(), revoke_reason: 'revoked' })
})
afterEach(async () => {
  await sql('delete from auth.device_nonces')
  await sql('update auth.devices set last_seen_at = now()')
})

describe('the context of a request', () => {
  it('has the caller’s own device with the key, and nothing that a request needs not', async () => {
    expect((await contextOf('usr_a', keyOf('1'))).device).toEqual({
      id: idOf('1'),
      platform: 'ios',
      application_key: 'shop',
      environment: 'production',
      key_storage: 'secure_enclave',
      attested_at: expect.any(String),
      facts: { os_version: '16.0.0' },
      rp_id_hash: 'h'.repeat(43),
      is_revoked: false,
      is_unseen: false,
    })
    expect((await contextOf('usr_b', keyOf('2'))).device).toMatchObject({ id: idOf('2'), rp_id_hash: null })
  })

  it('has no device for a key of another user, or of none', async () => {
    for (const [sub, key] of [
      ['usr_b', keyOf('1')],
      ['usr_a', keyOf('2')],
      ['usr_a', keyOf('x')],
      ['usr_a', ''],
    ] as const) {
      expect([sub, key, (await contextOf(sub, key)).device]).toEqual([sub, key, null])
    }
  })

  it('tells of a device that was revoked, and of one that was not seen for a day', async () => {
    expect((await contextOf('usr_a', keyOf('3'))).device).toMatchObject({ is_revoked: true })
    await unseenFor(23)
    expect((await contextOf('usr_a', keyOf('1'))).device).toMatchObject({ is_unseen: false })
    await unseenFor(25)
    expect((await contextOf('usr_a', keyOf('1'))).device).toMatchObject({ is_unseen: true })
  })

  it('has the grants of a request without a device', async () => {
    await sql(`insert into auth.roles (name) values ('tester') on conflict do nothing`)
    await sql(`insert into auth.user_roles (user_id, role) values ('usr_a', 'tester') on conflict do nothing`)
    expect((await contextOf('usr_a', keyOf('1'))).roles).toEqual(['tester'])
    expect((await contextOf('usr_b', keyOf('1'))).roles).toEqual([])
  })
})

describe('a nonce', () => {
  it('is new once for a device, and again where the transaction rolled back', async () => {
    expect(await claim('usr_a', keyOf('1'), nonceOf('n'))).toBe(true)
    expect(await claim('usr_a', keyOf('1'), nonceOf('n'), 'commit')).toBe(true)
    expect(await claim('usr_a', keyOf('1'), nonceOf('n'), 'commit')).toBe(false)
    expect(await claim('usr_a', keyOf('1'), nonceOf('m'), 'commit')).toBe(true)
    expect(await claim('usr_b', keyOf('2'), nonceOf('n'), 'commit')).toBe(true)
  })

  it('is not claimed by another user, an anonymous caller, a revoked device or an unknown key', async () => {
    for (const [sub, key] of [
      ['usr_b', keyOf('1')],
      [undefined, keyOf('1')],
      ['usr_a', keyOf('3')],
      ['usr_a', keyOf('x')],
    ] as const) {
      expect([sub, key, await claim(sub, key, nonceOf('n'), 'commit')]).toEqual([sub, key, false])
    }
    expect(await sql('select from auth.device_nonces')).toEqual([])
  })

  it('that another transaction claims at the moment is not new, and no transaction waits', async () => {
    const other = await connect('stack_backend')
    await begin(other, 'usr_a')
    const values = [keyOf('1'), nonceOf('n'), now()]
    expect((await other.query(claimText, values)).rows).toEqual([{ is_new: true }])
    await client.query(`set lock_timeout = '10s'`)
    expect(await claim('usr_a', keyOf('1'), nonceOf('n'))).toBe(false)
    expect(await claim('usr_a', keyOf('1'), nonceOf('m'))).toBe(true)
    await other.query('rollback')
    expect(await claim('usr_a', keyOf('1'), nonceOf('n'))).toBe(true)
  })

  it('is kept for longer than its assertion is good', async () => {
    await claim('usr_a', keyOf('1'), nonceOf('n'), 'commit')
    const [kept] = await sql(
      `select expires_at > now() + interval '4 minutes' as is_long, expires_at < now() + interval '6 minutes' as ends,
         key_id, nonce from auth.device_nonces`,
    )
    expect(kept).toEqual({ is_long: true, ends: true, key_id: keyOf('1'), nonce: nonceOf('n') })
  })
})

describe('a device is seen', () => {
  const see = (sub: string | undefined, digit: string) =>
    as(sub, 'select auth.see_device($1)', [keyOf(digit)], 'commit')

  it.each([
    ['a nonce', (sub: string | undefined, digit: string) => claim(sub, keyOf(digit), nonceOf('n'), 'commit')],
    ['a note', see],
  ])('once a day by %s of its own user', async (_how, seen) => {
    await unseenFor(25)
    await seen('usr_b', '1')
    await seen(undefined, '1')
    expect(await hoursUnseen('1')).toBe(25)
    await seen('usr_a', '1')
    expect([await hoursUnseen('1'), await hoursUnseen('2')]).toEqual([0, 25])
    await unseenFor(23)
    await seen('usr_a', '1')
    expect(await hoursUnseen('1')).toBe(23)
  })

  it('not by a nonce after it was revoked', async () => {
    await unseenFor(25)
    await claim('usr_a', keyOf('3'), nonceOf('n'), 'commit')
    expect(await hoursUnseen('3')).toBe(25)
  })
})

describe('the tables', () => {
  const check = '23514'
  const refused: [string, Record<string, unknown>, string][] = [
    ['an id of another form', { id: 'dev_x' }, check],
    ['an id of lower-case letters', { id: `dev_${'a'.repeat(26)}` }, check],
    ['no user', { user_id: 'usr_none' }, '23503'],
    ['another platform', { platform: 'web' }, check],
    ['a long application key', { application_key: 'a'.repeat(64) }, check],
    ['an environment without a row', { environment: 'debug' }, '23503'],
    ['the key of another device', { key_id: keyOf('1') }, '23505'],
    ['a short key id', { key_id: 'k'.repeat(42) }, check],
    ['a long public key', { public_key: 'p'.repeat(88) }, check],
    ['a short hash of the app id', { rp_id_hash: 'h'.repeat(42) }, check],
    ['another key storage', { key_storage: 'cloud' }, check],
    ['facts in a list', { facts: '[]' }, check],
    ['a receipt above 16 KiB', { receipt: Buffer.alloc(16_385) }, check],
    ['a revocation without a reason', { revoked_at: new Date() }, check],
    ['a reason without a revocation', { revoke_reason: 'removed' }, check],
    ['another reason', { revoked_at: new Date(), revoke_reason: 'lost' }, check],
  ]
  it.each(refused)('refuse a device with %s', async (_what, changed, code) => {
    await sql('begin')
    try {
      expect(await codeOf(add(changed))).toBe(code)
    } finally {
      await sql('rollback')
    }
  })

  it('take a device with each platform, storage and reason', async () => {
    await sql('begin')
    try {
      await add({ receipt: Buffer.alloc(16_384), application_key: 'a'.repeat(63), rp_id_hash: 'h'.repeat(43) })
      const reasons = ['removed', 'revoked', 'too_many', 'credentials_revoked', 'chain_revoked']
      const storages = ['secure_enclave', 'strongbox', 'tee', 'software']
      for (const [index, revoke_reason] of reasons.entries()) {
        const digit = String(index + 4)
        const key_storage = storages[index % 4]
        const own = {
          id: idOf(digit),
          key_id: keyOf(`k${digit}`).slice(0, 43),
          platform: index % 2 ? 'ios' : 'android',
        }
        await add({ ...own, key_storage, revoke_reason, revoked_at: new Date() })
      }
    } finally {
      await sql('rollback')
    }
  })

  it.each([
    ['a nonce of another length', `insert into auth.device_nonces values ('k', 'short', now())`, check],
    ['a second state of the list', `insert into auth.attestation_status (singleton) values (false)`, check],
    ['a second row of the state', `insert into auth.attestation_status default values`, '23505'],
    ['a long tag', `update auth.attestation_status set etag = repeat('a', 301)`, check],
    ['a serial in capitals', `insert into auth.attestation_revocations values ('ABC')`, check],
    ['an empty serial', `insert into auth.attestation_revocations values ('')`, check],
    ['a serial of 65 digits', `insert into auth.attestation_revocations values (repeat('a', 65))`, check],
    [
      'a debug token of 31 days',
      `insert into auth.debug_device_tokens (id, digest, expires_at) values ('i', 'd', now() + interval '31 days')`,
      check,
    ],
    ['another environment', `insert into stack.device_environments values ('staging')`, check],
  ])('refuse %s', async (_what, text, code) => {
    expect(await codeOf(sql(text))).toBe(code)
  })

  it('hold production alone, and delete the devices of an environment that goes', async () => {
    expect(await sql('select * from stack.device_environments')).toEqual([{ environment: 'production' }])
    await sql('begin')
    try {
      await sql(`insert into stack.device_environments values ('debug'), ('development')`)
      await add({ environment: 'debug' })
      await sql(`delete from stack.device_environments where environment = 'debug'`)
      expect(await sql('select from auth.devices where id = $1', [sound.id])).toEqual([])
      expect(await sql('select from auth.devices where id = $1', [idOf('1')])).toHaveLength(1)
      await sql(`delete from auth.users where id = 'usr_b'`)
      expect(await sql('select id from auth.devices order by id')).toEqual([{ id: idOf('1') }, { id: idOf('3') }])
    } finally {
      await sql('rollback')
    }
  })
})
