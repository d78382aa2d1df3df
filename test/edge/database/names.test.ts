/** Names of roles and permissions have one form in files, in the management surface and in the database (contract 4.4). */
import { describe, expect, it } from 'vitest'
import { grantedPermission, permission, roleName } from '../../../src/wire/permissions.ts'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'x' })

/** Every blank and control character of JavaScript, and the code points beside them. */
const characters = [
  ...Array.from({ length: 0xa1 }, (_, code) => code + 1),
  ...[0x1680, 0x180e, 0x1fff, 0x2000, 0x200a, 0x200b, 0x2027, 0x2028, 0x2029, 0x202a, 0x202f, 0x205f, 0x2060],
  ...[0x3000, 0x3001, 0xfefe, 0xfeff, 0xff00, 0x1f600],
].map((code) => String.fromCodePoint(code))

const roles = [
  ...[
    'Admin',
    'admin',
    'shop manager',
    'a/b',
    'a\\b',
    'a"b',
    "a'b",
    'a,b',
    '',
    '.',
    '..',
    '...',
    'a.b',
    'Größe',
    '管理者',
    '100%',
  ],
  ...['a'.repeat(63), 'a'.repeat(64), '😀'.repeat(63), '😀'.repeat(64)],
  ...characters.map((character) => `a${character}b`),
]

const permissions = [
  ...['orders.read', 'orders.readAll', 'Orders.Read', 'orders.*', 'a.b.c', 'a.', '.b', '.', 'a', '', 'a b.c', 'a,b.c'],
  ...[
    'a.*.b',
    'orders:read.all',
    'Bestellung.löschen',
    `${'a'.repeat(127)}.${'b'.repeat(127)}`,
    `${'a'.repeat(127)}.${'b'.repeat(128)}`,
  ],
  ...characters.flatMap((character) => [`a${character}b.c`, `a.b${character}c`]),
]

/** @returns the candidates that the check constraints of a table admit. */
async function admitted(candidates: string[], table: string, column: string): Promise<string[]> {
  await probe.sql('drop table if exists scratch')
  await probe.sql(`create temp table scratch (like ${table} including constraints including defaults)`)
  const accepted: string[] = []
  for (const candidate of candidates) {
    const insert = `insert into scratch (${column}${column === 'name' ? '' : ', role'}) values ($1${column === 'name' ? '' : ", 'r'"})`
    await probe.sql(insert, [candidate]).then(
      () => accepted.push(candidate),
      (error: { code: string }) => expect([candidate, error.code]).toEqual([candidate, '23514']),
    )
  }
  return accepted
}

describe('the form of a name', () => {
  it('is the same in the database and in the code', async () => {
    expect(await admitted(roles, 'auth.roles', 'name')).toEqual(roles.filter((name) => roleName.test(name)))
    expect(await admitted(permissions, 'auth.role_permissions', 'permission')).toEqual(
      permissions.filter((name) => grantedPermission.test(name)),
    )
  })

  it.each(['orders.readAll', 'Orders.READ', 'orders:all.read', 'löschen.🙂'])('%s is a permission', (name) => {
    expect([permission.test(name), grantedPermission.test(name)]).toEqual([true, true])
  })

  it.each(['a.b.c', 'a.', '.b', 'a b.c', 'a,b.c', 'a.*.b', 'a', '', 'a.\u0007', '\ud800.b'])(
    '%j is no permission',
    (name) => {
      expect([permission.test(name), grantedPermission.test(name)]).toEqual([false, false])
    },
  )

  it('resource.* is held and never asked for', () => {
    expect([permission.test('orders.*'), grantedPermission.test('orders.*')]).toEqual([false, true])
  })

  it.each(['Admin', 'a.b', '管理者', '100%', 'a'.repeat(63)])('%s is a role', (name) => {
    expect(roleName.test(name)).toBe(true)
  })

  it.each(['a/b', 'a\\b', 'a"b', "a'b", 'a b', 'a,b', '', '.', '..', '\ud800', 'a'.repeat(64)])(
    '%j is none',
    (name) => {
      expect(roleName.test(name)).toBe(false)
    },
  )
})

describe('a role with a name of its own', () => {
  const apikey = () => ({ apikey: probe.stack.record.service_role_key })
  const declare = (role: object) => probe.call('/v1/management/auth/roles', { json: role, headers: apikey() })

  it.each(['Admin', 'Größe+管理者', '100%'])(
    '%s is declared, assigned by its address, and gives what it holds',
    async (name) => {
      expect((await declare({ name, permissions: ['orders.readAll', 'Shop.*'] })).status).toBe(200)
      const { id, token } = await probe.signUp()
      expect((await probe.role('PUT', id, encodeURIComponent(name))).status).toBe(204)
      const held = await probe.call(`/v1/management/auth/users/${id}/roles`, { headers: apikey() })
      expect(held.json.data).toMatchObject([{ name }])
      const asked = [
        'orders.readAll',
        'orders.readall',
        'Shop.openAll',
        'shop.open',
        'Shop.*',
        'Shop.',
        'Shop.a.b',
        'Shop.a b',
        'Shop',
      ]
      const { json } = await probe.call('/sql/caller', {
        token,
        json: asked.map((one) => ({ text: 'select auth.has_permission($1) as it', values: [one] })),
      })
      expect(asked.filter((_, index) => json[index][0].it)).toEqual(['orders.readAll', 'Shop.openAll'])
      expect((await probe.role('DELETE', id, encodeURIComponent(name))).status).toBe(204)
    },
  )

  it('case counts, and a name of another form is refused', async () => {
    const { id } = await probe.signUp()
    await declare({ name: 'Editor' })
    expect((await probe.role('PUT', id, 'editor')).json).toMatchObject({ error: 'role_not_defined', role: 'editor' })
    for (const name of ['a/b', 'a"b', '', 'a'.repeat(64)]) expect((await declare({ name })).status).toBe(400)
    expect((await declare({ name: 'x', permissions: ['a.b.c'] })).status).toBe(400)
  })

  it('has_permission is called by those who were granted it, and by nobody else', async () => {
    const rows = await probe.sql<{ role: string }>(
      `select grantee::regrole::text as role from pg_proc, aclexplode(proacl)
       where oid = 'auth.has_permission(text)'::regprocedure and privilege_type = 'EXECUTE' order by 1`,
    )
    expect(rows.map(({ role }) => role)).toEqual(['auth_admin', 'backend_authenticated', 'backend_service_role'])
  })
})
