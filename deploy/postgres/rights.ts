/** The rights of a database's owner, and the protections that need a superuser. */
import type pg from 'pg'

/** The oldest version: `grant … with inherit false, set true` came with it, and the logins of contract 5.1 need it. */
const oldestVersion = 16

/** The database cannot hold a stack, or its owner may not make one there. */
class RightsMissing extends Error {
  override name = 'RightsMissing'
}

interface Rights {
  version: number
  shown: string
  owner: string
  is_superuser: boolean
  can_bypass: boolean
  can_create_roles: boolean
  owns_database: boolean
  can_create_in_public: boolean
  /** Roles of a stack that exist and that the owner may not change. */
  foreign_roles: string[]
  /** Other databases of this server that hold a stack. */
  other_stacks: string[]
}

const rightsQuery = `
  with stack_roles as (
    select oid, rolname from pg_roles where rolname in
      ('backend_authenticated', 'backend_service_role', 'auth_admin', 'stack_backend', 'stack_backend_service', 'stack_auth')
  )
  select current_setting('server_version_num')::int / 10000 as version, current_setting('server_version') as shown,
    current_user as owner, self.rolsuper as is_superuser, self.rolbypassrls or self.rolsuper as can_bypass,
    self.rolcreaterole or self.rolsuper as can_create_roles,
    pg_has_role(current_user, (select datdba from pg_database where datname = current_database()), 'USAGE') as owns_database,
    coalesce(has_schema_privilege(to_regnamespace('public')::oid, 'CREATE'), false) as can_create_in_public,
    array(select rolname::text from stack_roles where not self.rolsuper
      and not pg_has_role(current_user, oid, 'MEMBER WITH ADMIN OPTION') order by 1) as foreign_roles,
    array(select datname::text from pg_database where datname <> current_database() and exists (
      select from aclexplode(datacl) held join stack_roles on stack_roles.oid = held.grantee where rolname = 'auth_admin'
    ) order by 1) as other_stacks
  from pg_roles self where self.rolname = current_user`

/** @throws RightsMissing that names all that is missing, each with what to do. */
export async function requireRights(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Rights>(rightsQuery)
  const faults = rightsFaults(rows[0]!)
  if (faults.length > 0) {
    throw new RightsMissing(
      ['this database cannot hold the stack. Nothing was changed', ...faults.map((fault) => `- ${fault}`)].join('\n  '),
    )
  }
}

function rightsFaults(rights: Rights): string[] {
  const { owner, foreign_roles: foreign, other_stacks: others } = rights
  const faults: [boolean, string][] = [
    [rights.version < oldestVersion, `it is Postgres ${rights.shown}: version ${oldestVersion} or newer is needed`],
    [!rights.can_create_roles, `${owner} may not make roles: \`alter role ${owner} createrole\``],
    [!rights.owns_database, `${owner} does not own the database: \`alter database … owner to ${owner}\``],
    [
      !rights.can_create_in_public,
      `${owner} may not make tables in the schema public: \`grant create on schema public to ${owner}\``,
    ],
    [
      foreign.length > 0,
      `the roles ${foreign.join(', ')} exist and belong to another user of this server: \`grant … to ${owner} with admin option\`, or use a server of its own`,
    ],
    [
      others.length > 0,
      `the database ${others.join(', ')} of this server holds another stack, and logins belong to the whole server: use a server of its own`,
    ],
  ]
  return faults.flatMap(([isWrong, sentence]) => (isWrong ? [sentence] : []))
}

interface Coverage {
  has_bypass: boolean
  can_signal: boolean
  can_write_large_objects: boolean
  can_make_temporary: boolean
  has_transaction_timeout: boolean
}

const coverageQuery = `
  select (select rolbypassrls from pg_roles where rolname = 'backend_service_role') as has_bypass,
    has_function_privilege('backend_authenticated', 'pg_terminate_backend(integer, bigint)', 'execute') as can_signal,
    has_function_privilege('backend_authenticated', 'lo_create(oid)', 'execute') as can_write_large_objects,
    has_database_privilege('backend_authenticated', current_database(), 'TEMPORARY') as can_make_temporary,
    current_setting('server_version_num')::int >= 170000 as has_transaction_timeout`

/** @returns a sentence for each protection that this database lacks, after the migrations. Most need a superuser. */
export async function coverageGaps(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<Coverage>(coverageQuery)
  const covered = rows[0]!
  const gaps: [boolean, string][] = [
    [
      !covered.has_bypass,
      'backend_service_role has no BYPASSRLS, which only an owner with BYPASSRLS may give: a policy "stack_service" on each table takes its place',
    ],
    [
      covered.can_signal,
      'SQL in a handler may end, cancel and watch the sessions of other requests of its login: only a superuser may revoke pg_terminate_backend, pg_cancel_backend and pg_stat_get_activity from public',
    ],
    [
      covered.can_write_large_objects,
      'SQL in a handler may make large objects, which have no row-level security: only a superuser may revoke the lo_ functions from public',
    ],
    [
      covered.can_make_temporary,
      'SQL in a handler may make temporary tables: only the owner of the database may revoke that',
    ],
    [
      !covered.has_transaction_timeout,
      'Postgres ends no long transaction by itself before version 17: the workers alone cut it off after 30 s',
    ],
  ]
  return gaps.flatMap(([isOpen, sentence]) => (isOpen ? [sentence] : []))
}
