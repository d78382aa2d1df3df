/**
 * A password that was forgotten, hashes that come from another system, and roles that are taken back (contract 9, "Accounts"). Classes
 * of the auth module run in Node against a real Postgres.
 */
import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))
// WebAssembly is compiled by the worker's bundler. The stand-in has the same inputs.
vi.mock('../../src/auth/passwords/argon2.ts', () => ({
  argon2id: async (password: Uint8Array, salt: Uint8Array) =>
    new Uint8Array(createHash('sha256').update(password).update(salt).digest()),
}))

import type { Purpose } from '../../src/auth/mail/tokens.ts'
import { ForgottenPasswords } from '../../src/auth/passwords/forgotten.ts'
import { importFault, isImportedPassword } from '../../src/auth/passwords/imported.ts'
import { Roles } from '../../src/auth/roles/rows.ts'
import { accountParts, addAccount, browser } from '../support/account-parts.ts'
import { useAuthModule } from '../support/auth-module.ts'

const auth = useAuthModule()
const { request, codeOf, sql } = auth

const told: string[] = []
const notices = { toUser: async (_user: unknown, template: string) => void told.push(template) } as never
const parts = accountParts()
const { admission, audit, challenges, delivery, limits, passwords } = parts
const { pending, reclaim, sessions, settings, tokens, users } = parts
const forgotten = new ForgottenPasswords(
  admission,
  audit,
  { refuse: async () => {} } as never,
  challenges,
  delivery,
  limits,
  notices,
  passwords,
  pending,
  { requireEnabled: async () => {} } as never,
  reclaim,
  sessions,
  settings,
  tokens,
  users,
)

let id: string
let email: string

beforeEach(async () => {
  told.length = 0
  ;({ id, email } = await addAccount(auth))
})

const issue = async (purpose: Purpose = 'reset_password', target = email) =>
  (await request(() => tokens.issue({ purpose, userId: id, target }, 3_600, { seconds: 600, digits: 6 }))).token
const prepared = (token: string) => request(() => forgotten.prepare({ token }, 'a new password 1'))
const hasPassword = async () => (await sql('select from auth.password_credentials where user_id = $1', [id])).length > 0

describe('a password that was forgotten', () => {
  it('is replaced once, ends all sessions, and its owner is told', async () => {
    await sql(`insert into auth.sessions (id, user_id, expires_at) values ($1, $2, now() + interval '1 day')`, [
      `ses_${id}`,
      id,
    ])
    const replacement = await prepared(await issue())
    expect(await codeOf(() => forgotten.replace(replacement, browser))).toBe('done')
    expect(await codeOf(() => forgotten.replace(replacement, browser))).toBe('invalid_token')
    expect([await hasPassword(), told]).toEqual([true, ['password_changed']])
    expect(await sql('select end_reason from auth.sessions where user_id = $1', [id])).toEqual([
      { end_reason: 'password_changed' },
    ])
  })

  it.each([
    ['disabled', 'disabled_at = now()'],
    ['at another address by now', `email = 'moved-' || email`],
  ])('is not replaced where the account is %s', async (_what, change) => {
    const replacement = await prepared(await issue())
    await sql(`update auth.users set ${change} where id = $1`, [id])
    expect(await codeOf(() => forgotten.replace(replacement, browser))).toBe('invalid_token')
    expect([await hasPassword(), told]).toEqual([false, []])
  })

  it('ends the sign-ins of the account that wait for their second step, and no others', async () => {
    const { id: other } = await addAccount(auth)
    const [own, stranger] = [
      await request(() => challenges.begin(id, ['pwd'])),
      await request(() => challenges.begin(other, ['pwd'])),
    ]
    await request(async () => forgotten.replace(await prepared(await issue()), browser))
    expect(await request(() => challenges.read(own))).toBeUndefined()
    expect(await request(() => challenges.read(stranger))).toEqual({ user_id: other, amr: ['pwd'] })
  })

  it('voids a change of the address that waits, which an intruder may have asked for', async () => {
    const token = await issue('email_change', 'intruder@example.org')
    await request(async () => forgotten.replace(await prepared(await issue()), browser))
    expect(await request(() => tokens.find('email_change', { token }))).toBeUndefined()
  })
})

describe('a hash of another system', () => {
  const bcrypt = (cost: string) => `$2b$${cost}$${'a'.repeat(53)}`
  const salt = Buffer.alloc(16, 1).toString('base64').replaceAll('=', '')
  const hash = Buffer.alloc(32, 2).toString('base64').replaceAll('=', '')
  const argon = (m: number, t: number, p: number) => `$argon2id$v=19$m=${m},t=${t},p=${p}$${salt}$${hash}`
  const scrypt = (ln: number, r: number, p: number) => `$scrypt$ln=${ln},r=${r},p=${p}$${salt}$${hash}`

  it.each([
    ['bcrypt at its least cost', bcrypt('04')],
    ['bcrypt at its most', bcrypt('12')],
    ['argon2id', argon(19_456, 2, 1)],
    ['argon2id with all lanes', argon(19_456, 1, 16)],
    ['scrypt', scrypt(14, 8, 1)],
    ['scrypt at its most', scrypt(17, 8, 1)],
  ])('%s is taken', (_what, text) => expect(importFault(text)).toBeUndefined())

  it.each([
    ['bcrypt below its least cost', bcrypt('03')],
    ['bcrypt that takes a second', bcrypt('13')],
    ['bcrypt that takes years', bcrypt('31')],
    ['argon2id with too many passes', argon(19_456, 999, 1)],
    ['argon2id with too many lanes', argon(19_456, 2, 17)],
    ['argon2id with too much memory', argon(9_999_999, 2, 1)],
    ['argon2id with too little memory for its lanes', argon(15, 2, 2)],
    ['argon2id without a pass', argon(19_456, 0, 1)],
    ['scrypt that takes too much', scrypt(18, 8, 1)],
    ['scrypt of no cost', scrypt(0, 1, 1)],
    ['a salt of seven bytes', scrypt(14, 8, 1).replace(salt, 'AAAAAAAAAA')],
    ['a hash of eight bytes', scrypt(14, 8, 1).replace(hash, 'AAAAAAAAAAA')],
    ['md5', '$1$abcdefgh$0123456789012345678901'],
    ['no hash', 'password'],
  ])('%s is refused, and no part of it is repeated', (_what, text) => {
    const fault = importFault(text)
    expect(fault).toEqual(expect.any(String))
    expect(fault).not.toContain(salt)
  })

  it('is right for its password alone', async () => {
    const { hashSync } = await import('bcryptjs')
    const text = hashSync('right', 4)
    expect([await isImportedPassword('right', text), await isImportedPassword('wrong', text)]).toEqual([true, false])
    await expect(isImportedPassword('right', bcrypt('31'))).rejects.toThrow('cost')
  })
})

it('a role that is taken back is that role of that user alone', async () => {
  const roles = new Roles(...([] as unknown as ConstructorParameters<typeof Roles>))
  const other = `${id}_other`
  await sql('insert into auth.users (id) values ($1)', [other])
  await sql(`insert into auth.roles (name) values ('staff'), ('reader') on conflict do nothing`)
  await sql(`insert into auth.user_roles (user_id, role) values ($1, 'staff'), ($1, 'reader'), ($2, 'staff')`, [
    id,
    other,
  ])
  expect(await request(() => roles.revoke(id, 'staff'))).toBe(true)
  expect(await request(() => roles.revoke(id, 'staff'))).toBe(false)
  expect(
    await sql('select user_id, role from auth.user_roles where user_id in ($1, $2) order by role', [id, other]),
  ).toEqual([
    { user_id: id, role: 'reader' },
    { user_id: other, role: 'staff' },
  ])
})
