/** Keys of a local stack over several starts: rotated ones, and the change of its sealing key (contract 9.15). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { locateProject } from '../../cli/shared/project.ts'
import { type Keys, keysAt } from '../../local/keys.ts'
import { findPort } from '../../local/ports.ts'
import { type LocalStack, startStack } from '../../local/start.ts'
import { openWith, sealingKeyId, sealWith } from '../../src/wire/sealing.ts'
import { packageRoot } from '../support/command.ts'
import { copyProject, temporaryFolder } from '../support/project.ts'
import { type CallOptions, call } from '../support/stack.ts'
import { codeOf } from '../support/totp.ts'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-keys-'))
const file = path.join(root, '.stack/keys.json')
const management = '/v1/management/auth'
const password = 'correct horse battery'
const email = 'keys@example.com'

let stack: LocalStack

async function start(): Promise<void> {
  stack = await startStack(
    {
      ...locateProject(root),
      variables: {},
      port: await findPort(),
      fresh: false,
      say: () => {},
      onLog: () => {},
    },
    new AbortController().signal,
  )
}

/** Ends the stack, changes its keys, and starts it again. */
async function restart(change: (keys: Keys) => void = () => {}): Promise<void> {
  await stack.stop()
  const keys = keysAt(file)
  change(keys)
  fs.writeFileSync(file, JSON.stringify(keys))
  await start()
}

const ask = (address: string, options?: CallOptions) => call(`${stack.record.base_url}${address}`, options)

const manage = (method: string, address: string, json?: unknown) =>
  ask(address, {
    method,
    ...(json === undefined ? {} : { json }),
    headers: { apikey: stack.record.service_role_key },
  })

const sealAnew = () => manage('POST', `${management}/keys/sealing/rotate`)

async function sql<T>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client(stack.record.database_url)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Signs in with the second factor: this opens the signing key and the secret of the factor. */
async function signIn(): Promise<number[]> {
  const first = await ask('/auth/sign-in/password', { json: { email, password } })
  await sql('update auth.mfa_factors set last_step = 0 where user_id <> $1', ['nobody'])
  const second = await ask('/auth/mfa/challenge', {
    json: { challenge_id: first.json.challenge_id, code: codeOf(totp) },
  })
  const own = await ask('/auth/user', { token: second.json.access_token })
  await sql('delete from auth.rate_limits')
  return [first.status, second.status, own.status]
}

/** Whether everything that is sealed opens: the vault, a factor, the signing key, the rotated keys. */
async function requireReadable(): Promise<void> {
  expect(await signIn()).toEqual([202, 200, 200])
  expect((await manage('GET', `${management}/settings`)).status).toBe(200)
  const { sealed } = (await sql<{ sealed: string }>(`select sealed from auth.vault_entries where name = 'KEPT'`))[0]!
  const { sealing_key, sealing_key_previous } = keysAt(file)
  const secrets = [sealing_key, ...(sealing_key_previous === undefined ? [] : [sealing_key_previous])]
  expect(await openWith(secrets, sealed, 'vault backend KEPT')).toBe('kept value')
}

let totp: string
const first: { sealing: string } = { sealing: '' }

beforeAll(async () => {
  copyProject(path.join(packageRoot, 'examples/orders'), root)
  await start()
  first.sealing = keysAt(file).sealing_key
  const { json } = await ask('/auth/sign-up', { json: { email, password } })
  const enrolled = await ask('/auth/mfa/totp/enrol', { json: {}, token: json.access_token })
  totp = enrolled.json.secret
  const { factor_id } = enrolled.json
  const verified = await ask('/auth/mfa/totp/verify', {
    json: { factor_id, code: codeOf(totp) },
    token: json.access_token,
  })
  expect(verified.status).toBe(200)
  expect((await manage('PUT', '/admin/vault/backend/KEPT', { value: 'kept value' })).status).toBe(204)
}, 120_000)

afterAll(async () => {
  await stack?.stop()
  fs.rmSync(root, { recursive: true, force: true })
})

describe('a restart', () => {
  it('goes on with rotated keys whose previous ones have ended', async () => {
    const before = keysAt(file).service_role_key
    expect((await manage('POST', `${management}/keys/claims/rotate`, { overlap_seconds: 0 })).status).toBe(200)
    const { json } = await manage('POST', `${management}/keys/service-role/rotate`, { overlap_seconds: 0 })
    // The file of the keys is that of before, as if the stack had been killed at this moment.
    await restart((keys) => {
      keys.service_role_key = before
    })
    expect([stack.record.service_role_key, keysAt(file).service_role_key]).toEqual([json.key, json.key])
    expect((await ask(`${management}/settings`, { headers: { apikey: before } })).status).toBe(401)
    await requireReadable()
  })
})

describe('the sealing key', () => {
  /** The key that seals from the next start on. */
  const second = 'a sealing key that is another one'

  it('is changed by a start: values of both keys open, and a cursor of before stays valid', async () => {
    await manage('PUT', '/admin/vault/backend/OTHER', { value: 'x' })
    const { next_cursor: cursor } = (await manage('GET', `${management}/audit?limit=1`)).json
    await restart((keys) => {
      keys.sealing_key_previous = keys.sealing_key
      keys.sealing_key = second
    })
    await requireReadable()
    expect((await manage('GET', `${management}/audit?limit=1&cursor=${cursor}`)).status).toBe(200)
  })

  it('seals everything anew in bounded calls: thirty at the same time seal each value once', async () => {
    // 6,000 values are more than one call seals.
    const { user_id } = (await sql<{ user_id: string }>('select user_id from auth.mfa_factors limit 1'))[0]!
    const ids = Array.from({ length: 6_000 }, (_, n) => `fac_planted${n}`)
    const sealed = await Promise.all(ids.map((id) => sealWith(first.sealing, 'secret', `second factor ${id}`)))
    await sql(
      `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret)
      select id, $1, 'totp', 'pending', sealed from unnest($2::text[], $3::text[]) as planted (id, sealed)`,
      [user_id, ids, sealed],
    )
    const [before] = await sql<{ count: number }>(
      `select (select count(*) from auth.vault_entries) + (select count(*) from auth.signing_keys) + (select count(*) from auth.mfa_factors)
        + (select count(*) from auth.claims_keys where sealed is not null)
        + (select count(*) from auth.service_role_keys where sealed is not null) as count`,
    )
    const one = await sealAnew()
    expect(one.json).toEqual({ sealed: 5_000, remaining: Number(before!.count) - 5_000, unreadable: [] })
    await requireReadable()
    const answers = await Promise.all(Array.from({ length: 30 }, sealAnew))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const total = answers.reduce((sum, { json }) => sum + json.sealed, one.json.sealed)
    expect(total).toBe(Number(before!.count))
    expect((await sealAnew()).json).toEqual({ sealed: 0, remaining: 0, unreadable: [] })
    const id = await sealingKeyId(second)
    const entries = await sql<{ details: { kind: string; sealed: number } }>(
      'select details from stack.audit where target_id = $1',
      [id],
    )
    expect(entries.reduce((sum, { details }) => sum + details.sealed, 0)).toBe(total)
    await requireReadable()
  })

  it('names what no bound key opens, and leaves it as it is', async () => {
    const sealed = await sealWith('a key that is lost', 'x', 'vault backend LOST')
    await sql(`insert into auth.vault_entries (name, sealed) values ('LOST', $1)`, [sealed])
    const { status, json } = await sealAnew()
    expect([status, json]).toEqual([200, { sealed: 0, remaining: 1, unreadable: [{ kind: 'secret', id: 'LOST' }] }])
    expect(await sql(`select sealed from auth.vault_entries where name = 'LOST'`)).toEqual([{ sealed }])
  })

  it('before it can be removed then: what does not open without it is 409 with its name', async () => {
    const { next_cursor: cursor } = (await manage('GET', `${management}/audit?limit=1`)).json
    await restart((keys) => {
      delete keys.sealing_key_previous
    })
    await requireReadable()
    const { status, json } = await sealAnew()
    expect([status, json.error, json.error_description, json.remaining]).toEqual([
      409,
      'sealing_key_missing',
      'the secret "LOST" and perhaps others do not open: bind the key that sealed them as SEALING_KEY_PREVIOUS',
      1,
    ])
    await sql(`delete from auth.vault_entries where name = 'LOST'`)
    expect((await sealAnew()).json).toEqual({ sealed: 0, remaining: 0, unreadable: [] })
    expect((await manage('GET', `${management}/audit?limit=1&cursor=${cursor}`)).status).toBe(200)
  })

  it('of the list of columns has each sealed column of the database', async () => {
    const columns = await sql<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'auth' and column_name like 'sealed%' order by 1`,
    )
    const source = fs.readFileSync(path.join(packageRoot, 'src/auth/sealing/columns.ts'), 'utf8')
    const listed = [...source.matchAll(/table: '(\w+)',\s*column: '(\w+)'/g)].map(
      ([, table, column]) => `${table}.${column}`,
    )
    expect(listed.sort()).toEqual(columns.map(({ name }) => name))
  })

  it('that is lost keeps the stack from starting, with a sentence that names the file', async () => {
    await stack.stop()
    const keys = keysAt(file)
    fs.writeFileSync(file, JSON.stringify({ ...keys, sealing_key: 'lost' }))
    await expect(start()).rejects.toThrow(
      /the service-role key [0-9a-f]{16} does not open: restore the sealing key of /,
    )
    fs.writeFileSync(file, JSON.stringify(keys))
    await start()
    await requireReadable()
  })

  it('of a file without a pepper of its own does not change the pepper: it was derived, and is written down', async () => {
    const older = path.join(temporaryFolder(), 'keys.json')
    const { password_pepper: _pepper, refresh_key: _key, ...keys } = keysAt(file)
    fs.writeFileSync(older, JSON.stringify(keys))
    const derived = keysAt(older).password_pepper
    fs.writeFileSync(older, JSON.stringify({ ...keysAt(older), sealing_key: 'another' }))
    expect(keysAt(older).password_pepper).toBe(derived)
  })
})
