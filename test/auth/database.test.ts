/**
 * The database of the auth module without a worker: who may do what in it, and the functions that decide (contract 5.1, 5.3, 5.7, 9).
 * The migrations run in a real Postgres.
 */
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { signatureOf as sign, soon } from '../support/claims-signature.ts'
import { claimsKey, type Login, useMigratedPostgres } from '../support/migrated-postgres.ts'

const roleOf: Record<Login, string> = {
  stack_backend: 'backend_authenticated',
  stack_backend_service: 'backend_service_role',
  stack_auth: 'auth_admin',
}

const { sql, connect } = useMigratedPostgres()

const clients = new Map<Login, pg.Client>()

/** Runs work as a login that has become its role, in a transaction that is rolled back. */
async function as<T>(login: Login, work: (client: pg.Client) => Promise<T>, role = roleOf[login]): Promise<T> {
  const client = clients.get(login) ?? (await connect(login))
  clients.set(login, client)
  await client.query(`begin; set local role ${role}`)
  try {
    return await work(client)
  } finally {
    await client.query('rollback')
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'allowed',
    (error: { code?: string }) => error.code,
  )

describe('5.1 the roles of the database', () => {
  it('those that requests are bound to cannot log in; a login inherits nothing and becomes one of them', async () => {
    const roles = await sql(
      `select rolname, rolcanlogin, rolinherit, rolbypassrls, rolsuper, rolcreaterole, rolcreatedb from pg_roles
       where rolname ~ '^(backend_|stack_|auth_)' order by rolname`,
    )
    const plain = { rolinherit: false, rolsuper: false, rolcreaterole: false, rolcreatedb: false }
    const bound = { ...plain, rolcanlogin: false, rolbypassrls: false }
    const login = { ...plain, rolcanlogin: true, rolbypassrls: false }
    expect(roles).toEqual([
      { rolname: 'auth_admin', ...bound },
      { rolname: 'backend_authenticated', ...bound },
      { rolname: 'backend_service_role', ...bound, rolbypassrls: true },
      { rolname: 'stack_auth', ...login },
      { rolname: 'stack_backend', ...login },
      { rolname: 'stack_backend_service', ...login },
    ])
    const members = await sql(
      `select roleid::regrole::text as role, member::regrole::text as member, inherit_option, set_option, admin_option
       from pg_auth_members where roleid::regrole::text ~ '^(backend_|auth_)' and member::regrole::text <> 'postgres'
       order by role`,
    )
    const set = { inherit_option: false, set_option: true, admin_option: false }
    expect(members).toEqual([
      { role: 'auth_admin', member: 'stack_auth', ...set },
      { role: 'backend_authenticated', member: 'stack_backend', ...set },
      { role: 'backend_service_role', member: 'stack_backend_service', ...set },
    ])
  })

  it.each(Object.keys(roleOf) as Login[])('%s by itself reads no table of the module', async (login) => {
    const read = as(login, (client) => client.query('select from auth.users'), login)
    expect(await codeOf(read)).toBe('42501')
  })

  it('a caller makes nothing: no table, no schema, no temporary table, no large object', async () => {
    const attempts = ['create table public.a ()', 'create schema a', 'create temp table a ()', 'select lo_creat(-1)']
    for (const login of ['stack_backend', 'stack_backend_service'] as const)
      for (const attempt of attempts)
        expect([login, attempt, await codeOf(as(login, (client) => client.query(attempt)))]).toEqual([
          login,
          attempt,
          '42501',
        ])
  })

  it('a new table of the project is the service’s, and no caller’s', async () => {
    await sql('create table public.fresh (id int)')
    expect(await codeOf(as('stack_backend', (client) => client.query('select from public.fresh')))).toBe('42501')
    expect(await codeOf(as('stack_backend_service', (client) => client.query('select from public.fresh')))).toBe(
      'allowed',
    )
    await sql('create table public.guarded (id int)')
    await sql('insert into public.guarded values (1)')
    await sql('alter table public.guarded enable row level security')
    const { rows } = await as('stack_backend_service', (client) => client.query('select * from public.guarded'))
    expect(rows).toEqual([{ id: 1 }])
    await sql('drop table public.fresh, public.guarded')
  })
})

describe('5.1, 5.7 grants', () => {
  /** Every privilege that a role other than the owner of an object has, as `role: privilege, …`, by object. */
  const granted = (catalogue: string) =>
    sql<{ object: string; grants: string }>(`
      select object, string_agg(distinct coalesce(nullif(grantee, 0)::regrole::text, 'public') || ' ' || lower(privilege_type), ', '
          order by coalesce(nullif(grantee, 0)::regrole::text, 'public') || ' ' || lower(privilege_type)) as grants
      from (${catalogue}) as objects, aclexplode(acl) where grantee <> objects.owner group by object order by object`)

  it('of tables are these, and no others', async () => {
    expect(
      await granted(`select oid::regclass::text as object, relowner as owner, coalesce(relacl, acldefault('r', relowner)) as acl
        from pg_class where relkind in ('r', 'v', 'm', 'S') and relnamespace::regnamespace::text in ('auth', 'stack', 'webhooks')`),
    ).toEqual(
      [
        ['auth.role_permissions', 'delete, insert, select, update'],
        ['auth.roles', 'delete, insert, select, update'],
        ['auth.sessions', 'delete, select'],
        ['auth.settings', 'delete, insert, select, update'],
        ['auth.user_roles', 'delete, insert, select, update'],
        ['auth.users', 'delete, insert, select, update'],
        ['stack.audit', 'insert, select', 'auth_admin'],
        ['stack.device_environments', 'select', 'auth_admin'],
        ['stack.migrations', 'select', 'auth_admin'],
        ['webhooks.deliveries', 'delete, insert, select, update', 'backend_service_role', 'auth_admin select, '],
        ['webhooks.seen', 'delete, insert, select, update'],
      ].map(([object, privileges, role = 'backend_service_role', others = '']) => ({
        object,
        grants: `${others}${privileges!
          .split(', ')
          .map((privilege) => `${role} ${privilege}`)
          .join(', ')}`,
      })),
    )
    expect(
      await sql(`select attrelid::regclass::text as table, attname as column, attacl::text as acl from pg_attribute
        where attacl is not null and attrelid::regclass::text ~ '^(auth|stack|webhooks)[.]' order by 1, 2`),
    ).toEqual(
      ['end_reason', 'ended_at'].map((column) => ({
        table: 'auth.sessions',
        column,
        acl: '{backend_service_role=w/auth_admin}',
      })),
    )
  })

  it('of schemas are these, and no others', async () => {
    expect(
      await granted(`select nspname as object, nspowner as owner, coalesce(nspacl, acldefault('n', nspowner)) as acl
        from pg_namespace where nspname in ('auth', 'stack', 'webhooks', 'public')`),
    ).toEqual([
      { object: 'auth', grants: 'backend_authenticated usage, backend_service_role usage' },
      { object: 'public', grants: 'backend_authenticated usage, backend_service_role usage, public usage' },
      { object: 'stack', grants: 'auth_admin usage' },
      { object: 'webhooks', grants: 'auth_admin usage, backend_service_role usage' },
    ])
  })

  it('of functions are these, and no others', async () => {
    const both = 'backend_authenticated execute, backend_service_role execute'
    expect(
      await granted(`select oid::regprocedure::text as object, proowner as owner, coalesce(proacl, acldefault('f', proowner)) as acl
        from pg_proc where pronamespace::regnamespace::text in ('auth', 'stack', 'webhooks')`),
    ).toEqual([
      { object: 'auth.claim_assertion(text,text,bigint)', grants: both },
      { object: 'auth.has_permission(text)', grants: both },
      { object: 'auth.jwt()', grants: both },
      { object: 'auth.repair_logins()', grants: 'auth_admin execute' },
      { object: 'auth.request_context(text)', grants: both },
      { object: 'auth.request_context(text,text)', grants: both },
      { object: 'auth.see_device(text)', grants: both },
      { object: 'auth.uid()', grants: both },
      { object: 'stack.prune_audit(integer)', grants: 'auth_admin execute' },
    ])
  })

  it('of what Postgres opens to every role: sessions of others and large objects are closed', async () => {
    const open = await sql<{ name: string }>(
      `select distinct proname::text as name from pg_proc where pronamespace = 'pg_catalog'::regnamespace
         and (proname ~ '^lo(_|read$|write$)'
           or proname in ('pg_terminate_backend', 'pg_cancel_backend', 'pg_stat_get_activity', 'pg_stat_get_backend_activity'))
         and (has_function_privilege('backend_authenticated', oid, 'execute') or has_function_privilege('stack_backend', oid, 'execute'))`,
    )
    expect(open).toEqual([])
  })

  it('every table has row-level security, and the only policy is that of the trail', async () => {
    expect(
      await sql(`select oid::regclass::text as table from pg_class where relkind = 'r' and not relrowsecurity
        and relnamespace::regnamespace::text = 'auth'`),
    ).toEqual([])
    expect(
      await sql(
        `select polrelid::regclass::text as table, polroles::regrole[]::text as roles from pg_policy order by 1`,
      ),
    ).toEqual([{ table: 'stack.audit', roles: '{auth_admin}' }])
    expect(await sql(`select relrowsecurity as guarded from pg_class where oid = 'stack.audit'::regclass`)).toEqual([
      { guarded: true },
    ])
    expect(
      await sql(`select oid::regclass::text as view from pg_class where relkind = 'v'
        and relnamespace::regnamespace::text in ('auth', 'stack') and not coalesce(reloptions @> '{security_invoker=true}', false)`),
    ).toEqual([])
  })

  it('a function with the rights of its owner names every object with its schema', async () => {
    expect(
      await sql(`select oid::regprocedure::text as function from pg_proc where prosecdef
        and pronamespace::regnamespace::text in ('auth', 'stack', 'webhooks')
        and not coalesce(proconfig @> array['search_path=""'], false)`),
    ).toEqual([])
  })
})

const signatureOf = (claims: string, expiry: number, key = claimsKey) => sign(claims, key, expiry)

/** Binds claims as the runtime does. */
async function bound<T>(
  claims: object | string,
  work: (client: pg.Client) => Promise<T>,
  signature = (text: string): string | null => signatureOf(text, soon()),
): Promise<T> {
  return as('stack_backend', async (client) => {
    const text = typeof claims === 'string' ? claims : JSON.stringify(claims)
    const signed = signature(text)
    await client.query(`select set_config('request.jwt.claims', $1, true)`, [text])
    if (signed !== null) await client.query(`select set_config('request.jwt.signature', $1, true)`, [signed])
    return work(client)
  })
}

const uid = (client: pg.Client) => client.query('select auth.uid() as uid').then(({ rows }) => rows[0].uid)

describe('5.3 claims', () => {
  const mine = { sub: 'usr_1' }

  it('that the backend has signed are believed, and none are anonymous', async () => {
    expect(await bound(mine, uid)).toBe('usr_1')
    expect(await bound('', uid, () => null)).toBe(null)
    expect(await as('stack_backend', uid)).toBe(null)
  })

  const forged: Record<string, (text: string) => string | null> = {
    'no signature': () => null,
    'an empty signature': () => '',
    'a signature without an expiry': (text) => signatureOf(text, soon()).split('.')[1]!,
    'a signature by another key': (text) => signatureOf(text, soon(), 'another key'),
    'the signature of other claims': () => signatureOf('{"sub":"usr_2"}', soon()),
    'a signature that was made to last': (text) => `${soon() + 60}.${signatureOf(text, soon()).split('.')[1]}`,
    'a signature that has expired': (text) => signatureOf(text, Math.floor(Date.now() / 1000) - 1),
  }

  it.each(Object.keys(forged))('with %s are refused', async (kind) => {
    expect(await codeOf(bound(mine, uid, forged[kind]!))).toBe('28000')
  })

  it('without content need no signature, and are no one’s', async () => {
    expect(await bound('{}', uid, () => null)).toBe(null)
  })

  it('are believed under each key that is accepted, and refused once it has ended', async () => {
    const rotated = 'the key of a rotation'
    await sql('begin')
    try {
      const pad = (byte: number) => Buffer.alloc(64, rotated.padEnd(64, '\0')).map((one: number) => one ^ byte)
      await sql('set local role auth_admin')
      await sql(
        `insert into auth.claims_keys (id, inner_pad, outer_pad, sealed) values ('clk_' || repeat('0', 26), $1, $2, 'x')`,
        [pad(0x36), pad(0x5c)],
      )
      const believed = async (key: string) => {
        const text = JSON.stringify(mine)
        await sql(`select set_config('request.jwt.claims', $1, true), set_config('request.jwt.signature', $2, true)`, [
          text,
          signatureOf(text, soon(), key),
        ])
        await sql('savepoint tried')
        const code = await codeOf(sql('select auth.jwt()'))
        await sql('rollback to tried')
        return code
      }
      expect([await believed(rotated), await believed(claimsKey)]).toEqual(['allowed', 'allowed'])
      await sql(`update auth.claims_keys set accepted_until = now() where id = 'binding'`)
      expect([await believed(rotated), await believed(claimsKey)]).toEqual(['allowed', '28000'])
    } finally {
      await sql('rollback')
    }
  })

  it('are refused while the database has no key', async () => {
    await sql('begin')
    try {
      await sql('set local role auth_admin')
      await sql('delete from auth.claims_keys')
      await sql(`select set_config('request.jwt.claims', '{"sub":"usr_1"}', true)`)
      await sql(`select set_config('request.jwt.signature', '', true)`)
      expect(await codeOf(sql('select auth.jwt()'))).toBe('28000')
    } finally {
      await sql('rollback')
    }
  })
})

describe('3.5 the context of a request', () => {
  const own = 'https://stack.example/auth'
  const contextOf = (claims: object) =>
    bound(claims, (client) => client.query('select * from auth.request_context($1)', [own]).then(({ rows }) => rows[0]))

  beforeAll(async () => {
    await sql(`insert into auth.users (id, email) values ('usr_a', 'a@example.com'), ('usr_b', 'b@example.com')`)
    await sql(`insert into auth.roles (name) values ('staff'), ('reader')`)
    await sql(
      `insert into auth.role_permissions (role, permission) values ('staff', 'orders.*'), ('reader', 'orders.read')`,
    )
    await sql(`insert into auth.user_roles (user_id, role) values ('usr_a', 'staff'), ('usr_b', 'reader')`)
    await sql(`insert into auth.operators (user_id) values ('usr_a')`)
    await sql(`insert into auth.sessions (id, user_id, expires_at, ended_at, end_reason) values
      ('ses_live', 'usr_a', now() + interval '1 day', null, null),
      ('ses_over', 'usr_a', now() - interval '1 second', null, null),
      ('ses_ended', 'usr_a', now() + interval '1 day', now(), 'signed_out'),
      ('ses_gone', 'usr_a', now() + interval '1 day', null, null)`)
    await sql(`delete from auth.sessions where id = 'ses_gone'`)
  })

  it('has the roles, the permissions and the rank of this user alone', async () => {
    expect(await contextOf({ sub: 'usr_a', iss: own, session_id: 'ses_live', management: true })).toEqual({
      roles: ['staff'],
      permissions: ['orders.*'],
      session_ended: false,
      operator: true,
    })
    expect(await contextOf({ sub: 'usr_b', iss: 'https://other.example', management: true })).toEqual({
      roles: ['reader'],
      permissions: ['orders.read'],
      session_ended: false,
      operator: false,
    })
    expect(await contextOf({ sub: 'usr_c' })).toMatchObject({ roles: [], permissions: [] })
  })

  it.each([[undefined], [false], ['true'], [1]])(
    'an operator whose token has management %j is none',
    async (management) => {
      expect((await contextOf({ sub: 'usr_a', management }))?.operator ?? false).toBe(false)
    },
  )

  it.each([
    ['ses_live', own, false],
    ['ses_over', own, true],
    ['ses_ended', own, true],
    ['ses_gone', own, true],
    ['ses_gone', 'https://other.example', true],
    ['ses_unknown', own, true],
    [undefined, own, true],
    ['ses_unknown', 'https://other.example', false],
    [undefined, 'https://other.example', false],
  ])('the session %s of a token of %s has ended: %j', async (session_id, iss, isEnded) => {
    expect((await contextOf({ sub: 'usr_a', iss, session_id })).session_ended).toBe(isEnded)
  })

  it('the id of a session that is gone is kept until its tokens have expired', async () => {
    const [kept] = await sql(
      `select until > now() + interval '15 minutes' as is_kept, until < now() + interval '1 hour' as ends
       from auth.ended_sessions where id = 'ses_gone'`,
    )
    expect(kept).toEqual({ is_kept: true, ends: true })
    await sql(`insert into auth.ended_sessions (id, until) values ('ses_long_ago', now() - interval '1 second')`)
    await sql(`insert into auth.sessions (id, user_id, expires_at) values ('ses_next', 'usr_a', now())`)
    await sql(`delete from auth.sessions where id = 'ses_next'`)
    expect(await sql(`select from auth.ended_sessions where id = 'ses_long_ago'`)).toEqual([])
  })

  const holds = (sub: string, permission: string) =>
    bound({ sub }, (client) => client.query('select auth.has_permission($1) as held', [permission]))

  it.each([
    ['usr_a', 'orders.refund', true],
    ['usr_b', 'orders.read', true],
    ['usr_b', 'orders.refund', false],
    ['usr_a', 'orders.*', false],
    ['usr_a', 'read.orders', false],
    ['usr_a', 'users.orders', false],
    ['usr_c', 'orders.read', false],
    ['usr_a', 'orders', false],
  ])('4.4 %s has %s: %j', async (sub, permission, isHeld) => {
    expect((await holds(sub, permission)).rows).toEqual([{ held: isHeld }])
  })
})

describe('what the tables refuse', () => {
  const user = (name: string) => `insert into auth.users (id, email) values ('usr_${name}', '${name}@example.com')`
  beforeAll(async () => {
    await sql(user('t'))
    await sql(user('u'))
    await sql(`insert into auth.roles (name, is_default) values ('first', true)`)
    await sql(`insert into auth.user_roles (user_id, role) values ('usr_t', 'first')`)
    await sql(`update auth.users set phone = '+4915100000001' where id = 'usr_t'`)
    await sql(
      `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret) values ('fac_t', 'usr_t', 'totp', 'verified', 'x')`,
    )
    await sql(passkey('fac_p', 'usr_t', 'credential'))
    await sql(`insert into auth.identities (provider, subject, user_id) values ('google', 's', 'usr_t')`)
    await sql(`insert into auth.used_id_tokens (digest, expires_at) values ('d', now())`)
  })
  const passkey = (id: string, userId: string, credential: string, status = 'verified') =>
    `insert into auth.mfa_factors (id, user_id, type, status, verified_at, credential_id, public_key, sign_count, rp_id, transports,
       aaguid, is_backup_eligible, is_backed_up, is_user_verifying)
     values ('${id}', '${userId}', 'webauthn', '${status}', now(), '${credential}', 'k', 0, 'example.com', '{}', '', false, false, true)`
  const session = (columns: string, values: string) =>
    `insert into auth.sessions (id, user_id, expires_at, ${columns}) values ('ses_x', 'usr_t', now(), ${values})`
  const template = (values: string) =>
    `insert into auth.project_templates (key, channel, subject, body, variables) values (${values}, 'x', '[]')`
  const hash = (phc: string) => `insert into auth.password_credentials (user_id, phc) values ('usr_t', '${phc}')`
  const handoff = (person: string, userId = 'null') =>
    `insert into auth.handoff_codes (code_digest, provider, client_key, app_challenge, expires_at, person, link_user_id)
     values ('d', 'google', 'web', 'c', now(), ${person}, ${userId})`

  const check = '23514'
  const unique = '23505'
  const refused: Record<string, [string, string]> = {
    'an address in capital letters': [`insert into auth.users (id, email) values ('usr_x', 'A@example.com')`, check],
    'an address that is too long': [
      `insert into auth.users (id, email) values ('usr_x', repeat('a', 243) || '@example.com')`,
      check,
    ],
    'an address twice': [`insert into auth.users (id, email) values ('usr_x', 't@example.com')`, unique],
    'a number twice': [`update auth.users set phone = '+4915100000001' where id = 'usr_u'`, unique],
    'a number as people write it': [`update auth.users set phone = '0151 000' where id = 'usr_u'`, check],
    'a password in the clear': [hash('secret'), check],
    'an imported hash without its mark': [hash('$2b$10$abc'), check],
    'an imported hash of another kind': [hash('imported:$md5$abc'), check],
    'a session with an end and no reason': [session('ended_at', 'now()'), check],
    'a session with a reason and no end': [session('end_reason', `'revoked'`), check],
    'a second default role': [`insert into auth.roles (name, is_default) values ('second', true)`, unique],
    'the end of a role that users hold': [`delete from auth.roles where name = 'first'`, '23001'],
    'a role named ..': [`insert into auth.roles (name) values ('..')`, check],
    'a permission that is too long': [
      `insert into auth.role_permissions (role, permission) values ('first', 'a.' || repeat('b', 254))`,
      check,
    ],
    'a short claims key': [`update auth.claims_keys set inner_pad = 'a'`, check],
    'a second bound claims key': [
      `insert into auth.claims_keys (id, inner_pad, outer_pad) select 'binding', inner_pad, outer_pad from auth.claims_keys`,
      unique,
    ],
    'a rotated claims key that no worker can read': [
      `insert into auth.claims_keys (id, inner_pad, outer_pad)
         select 'clk_' || repeat('0', 26), inner_pad, outer_pad from auth.claims_keys`,
      check,
    ],
    'a service-role key in place of its digest': [
      `insert into auth.service_role_keys (digest, id, source) values ('srk_secret', repeat('0', 16), 'rotation')`,
      check,
    ],
    'an ended service-role key that is kept': [
      `insert into auth.service_role_keys (digest, id, source, sealed, accepted_until)
         values (repeat('0', 64), repeat('0', 16), 'rotation', 'x', now())`,
      check,
    ],
    'a second document of settings': [`insert into auth.settings (singleton, document) values (false, '{}')`, check],
    'a verifier of the owner': [
      `insert into stack.login_verifiers values ('postgres', 'SCRAM-SHA-256$4096:a$b:c')`,
      check,
    ],
    'a password in place of a verifier': [`update stack.login_verifiers set verifier = 'secret'`, check],
    'a second authenticator app': [
      `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret) values ('fac_x', 'usr_t', 'totp', 'verified', 'x')`,
      unique,
    ],
    'one passkey of two accounts': [passkey('fac_x', 'usr_u', 'credential'), unique],
    'a passkey that is not verified': [passkey('fac_x', 'usr_u', 'another', 'pending'), check],
    'a step-up of no session': [
      `insert into auth.webauthn_challenges (id, purpose, challenge) values ('wac_x', 'step_up', 'c')`,
      check,
    ],
    'a sign-in with a passkey of a named account': [
      `insert into auth.webauthn_challenges (id, purpose, challenge, user_id) values ('wac_x', 'sign_in', 'c', 'usr_t')`,
      check,
    ],
    'an identity of two accounts': [
      `insert into auth.identities (provider, subject, user_id) values ('google', 's', 'usr_u')`,
      unique,
    ],
    'an ID token twice': [`insert into auth.used_id_tokens (digest, expires_at) values ('d', now())`, unique],
    'a consent that another party has given': [
      `insert into auth.consents (user_id, document, version, source) values ('usr_t', 'terms', '1', 'operator')`,
      check,
    ],
    'a hand-off code of no person': [handoff(`'[]'`), check],
    'a secret whose name no code can read': [
      `insert into auth.vault_entries (name, sealed) values ('a-b', 'x')`,
      check,
    ],
    'a message with an unknown status': [
      `insert into auth.outbox (id, template, recipient, status) values ('msg_${'0'.repeat(26)}', 'a', 'a@example.com', 'lost')`,
      check,
    ],
    'a template of a mail without a subject': [template(`'a', 'email', null`), check],
    'a template of a text message with a subject': [template(`'a', 'sms', 'x'`), check],
    'a template of another channel': [template(`'a', 'fax', null`), check],
    'a template with the name of a member of every object': [template(`'__proto__', 'sms', null`), check],
  }

  it.each(Object.keys(refused))('%s', async (what) => {
    const [text, code] = refused[what]!
    expect(await codeOf(sql(text))).toBe(code)
  })

  it('and accept: both forms of hashes, an account with both kinds of factors', async () => {
    await sql(hash('$argon2id$v=19$x'))
    await sql(`update auth.password_credentials set phc = 'imported:$2b$10$abc'`)
    expect(await sql(`select count(*)::int as factors from auth.mfa_factors where user_id = 'usr_t'`)).toEqual([
      { factors: 2 },
    ])
  })

  it('everything of a user goes with the user', async () => {
    await sql(user('v'))
    await sql(`insert into auth.sessions (id, user_id, expires_at) values ('ses_v', 'usr_v', now())`)
    await sql(
      `insert into auth.outbox (id, template, recipient, user_id) values ('msg_${'1'.repeat(26)}', 'a', 'v@example.com', 'usr_v')`,
    )
    await sql(`insert into auth.one_time_tokens (token_digest, code_digest, purpose, user_id, target, expires_at, code_expires_at)
      values ('v', 'v', 'reset_password', 'usr_v', 'v@example.com', now(), now())`)
    await sql(handoff(`'{}'`, `'usr_v'`))
    await sql(`delete from auth.users where id = 'usr_v'`)
    expect([
      await sql(`select from auth.sessions where id = 'ses_v'`),
      await sql(`select from auth.outbox where recipient = 'v@example.com'`),
      await sql(`select from auth.one_time_tokens where target = 'v@example.com'`),
      await sql('select from auth.handoff_codes'),
    ]).toEqual([[], [], [], []])
  })

  it('revisions of templates never repeat', async () => {
    const revisions = await sql<{ revision: string }>(
      `select nextval('auth.template_revisions') as revision from generate_series(1, 100)`,
    )
    expect(new Set(revisions.map(({ revision }) => revision)).size).toBe(100)
  })

  it('waiting sign-ins and challenges last for minutes', async () => {
    await sql(`insert into auth.mfa_challenges (id, user_id, amr) values ('chl_t', 'usr_t', '[]')`)
    await sql(`insert into auth.webauthn_challenges (id, purpose, challenge) values ('wac_t', 'sign_in', 'c')`)
    expect(
      await sql(`select round(extract(epoch from expires_at - now()) / 60)::int as minutes from auth.mfa_challenges
        union all select round(extract(epoch from expires_at - now()) / 60)::int from auth.webauthn_challenges`),
    ).toEqual([{ minutes: 10 }, { minutes: 5 }])
  })

  it('address and password sign in at first, and no other provider', async () => {
    expect(await sql('select name from auth.providers where enabled')).toEqual([{ name: 'email' }])
  })
})

describe('5.7 a login that was spoilt', () => {
  const spoil = [
    `alter role stack_backend password 'another'`,
    `alter role stack_backend set search_path = 'nowhere'`,
    `alter role stack_backend in database postgres set statement_timeout = '1ms'`,
  ]

  it('opens again, with none of what it has set for itself', async () => {
    for (const text of spoil) await sql(text)
    await as('stack_auth', async (client) => {
      await client.query('select auth.repair_logins()')
      await client.query('commit')
    })
    const client = await connect('stack_backend')
    const { rows } = await client.query(
      `select current_setting('search_path') as path, current_setting('statement_timeout') as time`,
    )
    await client.end()
    expect(rows).toEqual([{ path: '"$user", public', time: '0' }])
  })
})

describe('limits of attempts', () => {
  const take = async (bucket: string, attempts: number, seconds: number) => {
    const [row] = await sql<{ wait: number }>('select auth.take_attempt($1, $2, $3) as wait', [
      bucket,
      attempts,
      seconds,
    ])
    return row!.wait
  }

  it('admit so many, tell the wait, and a refused one takes nothing', async () => {
    expect([await take('a', 2, 3_600), await take('a', 2, 3_600)]).toEqual([0, 0])
    const waits = [await take('a', 2, 3_600), await take('a', 2, 3_600), await take('a', 2, 3_600)]
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(1_700)
      expect(wait).toBeLessThanOrEqual(1_800)
    }
  })

  it('refill at a steady rate, and a clock that is set back locks nobody out', async () => {
    await take('b', 1, 3_600)
    await sql(`update auth.rate_limits set updated_at = now() - interval '30 minutes' where bucket = 'b'`)
    const half = await take('b', 1, 3_600)
    expect(half).toBeGreaterThan(1_700)
    expect(half).toBeLessThan(1_900)
    await sql(`update auth.rate_limits set updated_at = now() - interval '61 minutes' where bucket = 'b'`)
    expect(await take('b', 1, 3_600)).toBe(0)
    await sql(`update auth.rate_limits set updated_at = now() + interval '1 day', level = 0 where bucket = 'b'`)
    expect(await take('b', 1, 3_600)).toBe(0)
  })

  it('are taken one after the other until one refuses; the settings come before the defaults', async () => {
    await sql(`update auth.settings set document = '{"rate_limits":{"two":{"attempts":1,"seconds":3600}}}'`)
    const defaults = JSON.stringify({
      one: { attempts: 5, seconds: 60 },
      two: { attempts: 5, seconds: 60 },
      three: { attempts: 5, seconds: 60 },
    })
    const all = () =>
      sql<{ refused: string | null; wait: number }>(
        `select refused, wait from auth.take_attempts('{one,two,three}', '{one x,two x,three x}', $1)`,
        [defaults],
      )
    expect(await all()).toEqual([{ refused: null, wait: 0 }])
    expect(await all()).toMatchObject([{ refused: 'two', wait: expect.any(Number) }])
    expect(await sql(`select bucket, level from auth.rate_limits where bucket = 'three x'`)).toEqual([
      { bucket: 'three x', level: 1 },
    ])
    await sql(`update auth.settings set document = '{}'`)
  })
})

describe('9.16 the trail', () => {
  const entry = (id: string, age: string) =>
    `insert into stack.audit (id, occurred_at, event_type, outcome, actor_type)
     values ('aud_${id.padStart(26, '0')}', now() - interval '${age}', 'a.b', 'success', 'system')`
  const left = () => sql(`select right(id, 1) as id from stack.audit order by id`)
  const prune = (days: number | null) => sql('select stack.prune_audit($1)', [days])

  it('keeps seven days at least, and 90 where no number is given', async () => {
    for (const [id, age] of [
      ['1', '100 days'],
      ['2', '80 days'],
      ['3', '8 days'],
      ['4', '6 days'],
    ] as const)
      await sql(entry(id, age))
    await prune(null)
    expect(await left()).toEqual([{ id: '2' }, { id: '3' }, { id: '4' }])
    await prune(0)
    expect(await left()).toEqual([{ id: '4' }])
  })
})
