/**
 * 5.1 what each database role may do with the schemas of the stack: a walk over the catalog, and the same roles over their own logins.
 * The lists are closed: a table, a column or a function that a migration adds is open to no role until it stands here.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseUrls } from '../../../local/database.ts'
import { stackFiles } from '../../../local/files.ts'
import { keysAt } from '../../../local/keys.ts'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const bound = ['backend_authenticated', 'backend_service_role', 'auth_admin'] as const
const logins = ['stack_backend', 'stack_backend_service', 'stack_auth'] as const
const schemas = ['auth', 'webhooks', 'stack']

/** What a request learns of itself (contract 5.2, 5.3). */
const ofRequest = [
  'auth.claim_assertion(text,text,bigint)',
  'auth.has_permission(text)',
  'auth.jwt()',
  'auth.request_context(text)',
  'auth.request_context(text,text)',
  'auth.see_device(text)',
  'auth.uid()',
]

interface Allowed {
  /** Privileges of each schema. */
  schemas: Record<string, string>
  /** Privileges of each table, view and sequence. */
  relations: Record<string, string>
  /** Privileges of columns, where the relation as a whole does not give them. */
  columns: Record<string, string>
  functions: string[]
}

const nothing: Allowed = { schemas: {}, relations: {}, columns: {}, functions: [] }

const allowed: Record<string, Allowed> = {
  public: nothing,
  stack_backend: nothing,
  stack_backend_service: nothing,
  stack_auth: nothing,
  backend_authenticated: { ...nothing, schemas: { auth: 'usage' }, functions: ofRequest },
  backend_service_role: {
    schemas: { auth: 'usage', webhooks: 'usage' },
    relations: {
      'auth.role_permissions': 'delete insert select update',
      'auth.roles': 'delete insert select update',
      'auth.sessions': 'delete select',
      'auth.settings': 'delete insert select update',
      'auth.user_roles': 'delete insert select update',
      'auth.users': 'delete insert select update',
      'webhooks.deliveries': 'delete insert select update',
      'webhooks.seen': 'delete insert select update',
    },
    // a session that is moved to another user would be that user's
    columns: { 'auth.sessions.end_reason': 'update', 'auth.sessions.ended_at': 'update' },
    functions: ofRequest,
  },
  // beside its own schema, of which it owns everything but `repair_logins`
  auth_admin: {
    schemas: { auth: 'create usage', stack: 'usage', webhooks: 'usage' },
    relations: {
      'stack.audit': 'insert select',
      'stack.device_environments': 'select',
      'stack.migrations': 'select',
      'webhooks.deliveries': 'select',
    },
    columns: {},
    functions: ['auth.repair_logins()', 'stack.prune_audit(integer)'],
  },
}

/** Names and privileges that a query tells of, in one object. */
async function walk(text: string, role: string): Promise<Record<string, string>> {
  const rows = await shop.sql<{ name: string; held: string }>(text, [role, schemas])
  return Object.fromEntries(rows.map(({ name, held }) => [name, held]))
}

const ownedOf = async (role: string) => {
  const rows = await shop.sql<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($2) and pg_get_userbyid(c.relowner) = $1
     union all select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any($2) and pg_get_userbyid(p.proowner) = $1`,
    [role, schemas],
  )
  return new Set(rows.map(({ name }) => name))
}

async function heldBy(role: string): Promise<Allowed> {
  const relations = await walk(
    `select n.nspname || '.' || c.relname as name, string_agg(p, ' ' order by p) as held
     from pg_class c join pg_namespace n on n.oid = c.relnamespace,
       unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']) p
     where n.nspname = any($2) and c.relkind in ('r', 'v', 'm', 'p', 'f') and has_table_privilege($1, c.oid, p) group by 1
     union all
     select s.sequencename, string_agg(p, ' ' order by p)
     from (select schemaname || '.' || sequencename as sequencename from pg_sequences where schemaname = any($2)) s,
       unnest(array['usage', 'select', 'update']) p
     where has_sequence_privilege($1, s.sequencename, p) group by 1`,
    role,
  )
  const columns = await walk(
    `select n.nspname || '.' || c.relname || '.' || a.attname as name, string_agg(p, ' ' order by p) as held
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped,
       unnest(array['select', 'insert', 'update', 'references']) p
     where n.nspname = any($2) and c.relkind in ('r', 'v', 'm', 'p', 'f')
       and has_column_privilege($1, c.oid, a.attnum, p) and not has_table_privilege($1, c.oid, p) group by 1`,
    role,
  )
  const functions = await walk(
    `select p.oid::regprocedure::text as name, 'execute' as held
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any($2) and has_function_privilege($1, p.oid, 'execute')`,
    role,
  )
  const inSchemas = await walk(
    `select n.nspname as name, string_agg(p, ' ' order by p) as held from pg_namespace n, unnest(array['usage', 'create']) p
     where n.nspname = any($2) and has_schema_privilege($1, n.oid, p) group by 1`,
    role,
  )
  const owned = await ownedOf(role)
  const foreign = (held: Record<string, string>) =>
    Object.fromEntries(Object.entries(held).filter(([name]) => !owned.has(name)))
  return {
    schemas: inSchemas,
    relations: foreign(relations),
    columns,
    functions: Object.keys(foreign(functions)).sort(),
  }
}

describe('the catalog', () => {
  it.each(Object.keys(allowed))('gives %s what stands here, and nothing else', async (role) => {
    expect(await heldBy(role)).toEqual(allowed[role])
  })

  it('has everything of the auth module in the hands of auth_admin, but what it must not be able to change', async () => {
    const foreign = await shop.sql<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c where c.relnamespace = 'auth'::regnamespace
         and pg_get_userbyid(c.relowner) <> 'auth_admin'
       union all select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'auth'::regnamespace
         and pg_get_userbyid(p.proowner) <> 'auth_admin'`,
    )
    const names = foreign.map(({ name }) => name).sort()
    expect(names).toEqual(['auth.repair_logins()'])
    const owned = await shop.sql<{ name: string }>(
      `select oid::regclass::text as name from pg_class where pg_get_userbyid(relowner) = 'auth_admin'
         and relnamespace <> 'auth'::regnamespace and relnamespace::regnamespace::text not like 'pg_%'`,
    )
    expect(owned).toEqual([])
  })

  it('has row-level security on every table, so that a grant by mistake opens no row', async () => {
    const open = await shop.sql<{ name: string }>(
      `select oid::regclass::text as name from pg_class where relkind in ('r', 'p') and not relrowsecurity
       and relnamespace::regnamespace::text = any($1) order by 1`,
      [schemas],
    )
    // no role but the owner changes these, or the role bypasses row-level security
    const closed = [
      'stack.device_environments',
      'stack.login_verifiers',
      'stack.migrations',
      'webhooks.deliveries',
      'webhooks.seen',
    ]
    expect(open.map(({ name }) => name)).toEqual(closed)
  })

  it('lets no definer function be led to another schema', async () => {
    const led = await shop.sql<{ name: string }>(
      `select p.oid::regprocedure::text as name from pg_proc p where p.prosecdef and p.pronamespace::regnamespace::text = any($1)
       and not coalesce('search_path=""' = any(p.proconfig), false)`,
      [schemas],
    )
    expect(led).toEqual([])
  })

  it('has logins that may become one role each, inherit nothing, and have no attribute of their own', async () => {
    const members = await shop.sql(
      `select pg_get_userbyid(member) as member, pg_get_userbyid(roleid) as role, inherit_option, set_option, admin_option
       from pg_auth_members where pg_get_userbyid(member) = any($1) or (pg_get_userbyid(roleid) = any($1)
         and pg_get_userbyid(member) <> current_user) order by 1`,
      [[...bound, ...logins]],
    )
    const becomes = (member: string, role: string) => ({
      member,
      role,
      inherit_option: false,
      set_option: true,
      admin_option: false,
    })
    expect(members).toEqual([
      becomes('stack_auth', 'auth_admin'),
      becomes('stack_backend', 'backend_authenticated'),
      becomes('stack_backend_service', 'backend_service_role'),
    ])
    const attributes = await shop.sql(
      `select rolname as name, rolsuper or rolinherit or rolcreaterole or rolcreatedb or rolreplication as any, rolbypassrls as bypasses,
       rolcanlogin as logs_in from pg_roles where rolname = any($1) order by 1`,
      [[...bound, ...logins]],
    )
    const of = (name: string, logs_in: boolean, bypasses = false) => ({ name, any: false, bypasses, logs_in })
    expect(attributes).toEqual([
      of('auth_admin', false),
      of('backend_authenticated', false),
      of('backend_service_role', false, true),
      of('stack_auth', true),
      of('stack_backend', true),
      of('stack_backend_service', true),
    ])
  })
})

describe('over its own login', () => {
  const clients: Record<string, pg.Client> = {}
  const becomes = { stack_backend: bound[0], stack_backend_service: bound[1], stack_auth: bound[2] }

  beforeAll(async () => {
    const { port } = new URL(shop.stack.record.database_url)
    const urls = databaseUrls(Number(port), keysAt(stackFiles(shop.root).keys))
    const own = { stack_backend: urls.backend, stack_backend_service: urls.backendService, stack_auth: urls.auth }
    for (const [login, url] of Object.entries(own)) {
      clients[login] = new pg.Client(url)
      await clients[login].connect()
    }
  })

  afterAll(() => Promise.all(Object.values(clients).map((client) => client.end())))

  /** @returns the statements that Postgres does not refuse for want of a privilege. */
  async function open(login: string, role: string | undefined, statements: string[]): Promise<string[]> {
    const client = clients[login]!
    const found: string[] = []
    for (const statement of statements) {
      await client.query('begin')
      if (role !== undefined) await client.query(`set local role ${role}`)
      const outcome = await client.query(statement).then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
      await client.query('rollback')
      if (outcome !== '42501') found.push(`${statement}: ${outcome}`)
    }
    return found
  }

  async function reads(): Promise<string[]> {
    const columns = await shop.sql<{ text: string }>(
      `select format('select %I from %I.%I limit 0', a.attname, n.nspname, c.relname) as text
       from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1) and c.relkind in ('r', 'v', 'm', 'p', 'f') and a.attnum > 0 and not a.attisdropped
       order by 1`,
      [schemas],
    )
    expect(columns.length).toBeGreaterThan(150)
    return columns.map(({ text }) => text)
  }

  it.each(logins)('%s itself reads no column', async (login) => {
    expect(await open(login, undefined, await reads())).toEqual([])
  })

  it.each(logins.map((login) => [becomes[login], login] as const))(
    '%s reads the columns of its list',
    async (role, login) => {
      const { relations } = allowed[role]!
      const isOpen = (text: string) => {
        const name = text.replace(/.* from (\S+) limit 0/, '$1').replaceAll('"', '')
        // the view has the rights of its caller
        return relations[name]?.includes('select') || (role === 'auth_admin' && name.startsWith('auth.'))
      }
      const expected = (await reads()).filter(isOpen).map((text) => `${text}: done`)
      expect(await open(login, role, await reads())).toEqual(expected)
    },
  )

  it.each(logins)('%s becomes no other role', async (login) => {
    const others = [...bound, ...logins, 'postgres'].filter((role) => role !== becomes[login] && role !== login)
    const statements = others.flatMap((role) => [`set role ${role}`, `set session authorization ${role}`])
    expect(await open(login, undefined, statements)).toEqual([])
    expect(await open(login, becomes[login], statements)).toEqual([])
  })

  it.each(logins.map((login) => [becomes[login], login] as const))(
    '%s changes no entry of the audit trail',
    async (role, login) => {
      const { id } = await shop.signUp()
      const before = await shop.sql('select * from stack.audit where target_id = $1', [id])
      expect(before.length).toBeGreaterThan(0)
      const [entry] = before as { id: string }[]
      const statements = ['stack.audit', 'auth.audit'].flatMap((name) => [
        `update ${name} set reason = 'x'`,
        `update ${name} set reason = 'x' where id = '${entry!.id}'`,
        `delete from ${name}`,
        `select from ${name} for update`,
        `select from ${name} for key share`,
        `insert into ${name} (id, event_type, outcome, actor_type) values ('${entry!.id}', 'a.b', 'success', 'system')
        on conflict (id) do update set reason = 'x'`,
        `merge into ${name} a using (values (1)) v on true when matched then delete`,
      ])
      const more = [
        'truncate stack.audit',
        'drop table stack.audit cascade',
        'alter table stack.audit disable row level security',
        'alter table stack.audit no force row level security',
        'alter table stack.audit rename to other',
        'create policy mine on stack.audit using (true)',
        'create rule mine as on insert to stack.audit do instead nothing',
        `create trigger mine before insert on stack.audit execute function pg_catalog.suppress_redundant_updates_trigger()`,
        'create index mine on stack.audit (reason)',
        'lock table stack.audit in access exclusive mode',
        'grant delete on stack.audit to auth_admin; delete from stack.audit',
        'drop function stack.prune_audit(integer)',
        'create table stack.mine ()',
        'drop schema stack cascade',
      ]
      expect(await open(login, role, [...statements, ...more])).toEqual([])
      expect(await open(login, undefined, [...statements, ...more])).toEqual([])
      expect(await shop.sql('select * from stack.audit where target_id = $1', [id])).toEqual(before)
    },
  )

  const worlds = () => shop.sql<{ environment: string }>('select environment from stack.device_environments order by 1')

  // 3.7 the rows decide whether debug devices count
  it.each(logins.map((login) => [becomes[login], login] as const))(
    '%s changes nothing of the worlds of devices',
    async (role, login) => {
      const before = await worlds()
      const table = 'stack.device_environments'
      const statements = [
        `insert into ${table} values ('debug')`,
        `insert into ${table} values ('debug') on conflict do nothing`,
        `update ${table} set environment = 'debug'`,
        `delete from ${table}`,
        `select from ${table} for update`,
        `merge into ${table} w using (values (1)) v on true when matched then delete`,
        `truncate ${table} cascade`,
        `drop table ${table} cascade`,
        `alter table ${table} set schema auth`,
        `alter table ${table} rename to other`,
        `alter table ${table} owner to ${role}`,
        `alter table ${table} drop constraint device_environments_environment_check`,
        `alter table ${table} enable row level security`,
        `drop index stack.device_environments_pkey cascade`,
        `create rule mine as on insert to ${table} do instead nothing`,
        `create trigger mine before insert on ${table} execute function pg_catalog.suppress_redundant_updates_trigger()`,
        `lock table ${table} in access exclusive mode`,
        `create table stack.device_environments (environment text)`,
        // a reference would keep the owner from deleting a row
        `create table auth.mine (environment text references ${table})`,
        `grant insert on ${table} to ${role}; insert into ${table} values ('debug')`,
      ]
      expect(await open(login, role, statements)).toEqual([])
      expect(await open(login, undefined, statements)).toEqual([])
      expect(await worlds()).toEqual(before)
    },
  )

  it('the owner adds and deletes a world of devices', async () => {
    const before = await worlds()
    await shop.sql(`delete from stack.device_environments where environment = 'debug'`)
    expect((await worlds()).map(({ environment }) => environment)).not.toContain('debug')
    await shop.sql(`insert into stack.device_environments values ('debug')`)
    expect(await worlds()).toEqual(before)
  })
})
