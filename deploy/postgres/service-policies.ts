/**
 * Lets `backend_service_role` see every row where its owner may not give it BYPASSRLS. On Postgres 16 or newer only a role that has
 * BYPASSRLS may give it. The owners of Neon, Supabase and Azure have it, those of Amazon RDS and Cloud SQL do not.
 */
import type pg from 'pg'
import type { MigrationFile } from '../../local/migrations/files.ts'

const statement = 'alter role backend_service_role bypassrls;'

/** The same statement, which leaves the role as it is where the owner may not give BYPASSRLS. */
const tolerant = `do $$ begin ${statement} exception when insufficient_privilege then null; end $$;`

/** @returns the text of a migration that an owner without BYPASSRLS may run. */
export function withoutBypass({ set, sql }: MigrationFile): string {
  return set === 'auth' ? sql.replace(statement, () => tolerant) : sql
}

const unguarded = `
  select format('%I.%I', nspname, relname) as name,
    exists (select from pg_policy where polrelid = pg_class.oid and polname = 'stack_service') as has_policy,
    array(select polname::text from pg_policy where polrelid = pg_class.oid and not polpermissive
      and (0::oid = any (polroles) or 'backend_service_role'::regrole::oid = any (polroles)) order by 1) as restrictive
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p') and relrowsecurity
    and (has_any_column_privilege('backend_service_role', pg_class.oid, 'SELECT, INSERT, UPDATE')
      or has_table_privilege('backend_service_role', pg_class.oid, 'DELETE'))
  order by 1`

/**
 * Gives each table that `backend_service_role` reaches a policy that shows it every row. It does nothing where the role has BYPASSRLS.
 * @throws Error for a restrictive policy that would bind the role, which BYPASSRLS alone gets round.
 */
export async function addServicePolicies(client: pg.Client): Promise<void> {
  const { rows: roles } = await client.query<{ rolbypassrls: boolean }>(
    `select rolbypassrls from pg_roles where rolname = 'backend_service_role'`,
  )
  if (roles[0]?.rolbypassrls) return
  const { rows } = await client.query<{ name: string; has_policy: boolean; restrictive: string[] }>(unguarded)
  const bound = rows.flatMap(({ name, restrictive }) => restrictive.map((policy) => `${policy} on ${name}`))
  if (bound.length > 0) {
    throw new Error(
      `the owner of this database may not give backend_service_role BYPASSRLS, and restrictive policies would bind it: ${bound.join(', ')}. Write \`to backend_authenticated\` in them. Nothing was migrated`,
    )
  }
  for (const { name, has_policy } of rows) {
    if (has_policy) continue
    await client.query(`create policy stack_service on ${name} to backend_service_role using (true) with check (true)`)
  }
}
