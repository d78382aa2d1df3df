/** Finds relations that would show every user every row. */
import type pg from 'pg'

/**
 * Refuses a relation that `backend_authenticated` reaches and that no policy guards. A relation of an extension counts only
 * where the project grants it.
 *
 * @throws Error that names all of them.
 */
export async function refuseOpenRelations(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; kind: string; is_view: boolean }>(openRelations)
  if (rows.length === 0) return
  const lines = rows.map(({ name, kind, is_view }) => {
    const lack = is_view
      ? `is granted to users and reads its tables as its owner${kind === 'view' ? `: \`alter view ${name} set (security_invoker = true)\`` : ''}`
      : `is granted to users and has no row-level security: \`alter table ${name} enable row level security\``
    return `the ${kind} ${name} ${lack}`
  })
  throw new Error(
    [
      'every user would see every row. Nothing was migrated',
      ...lines,
      "What is meant for everybody says so: `comment on … is '@stack public'`. Otherwise guard it, or revoke the grant",
    ].join('\n  '),
  )
}

const openRelations = `
  select format('%I.%I', nspname, relname) as name, relkind in ('v', 'm') as is_view,
    case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end as kind
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p', 'f', 'v', 'm')
    and nspname not in ('pg_catalog', 'information_schema') and nspname !~ '^pg_(toast|temp)'
    and case relkind
      when 'm' then true
      when 'v' then not coalesce((
        select split_part(option, '=', 2)::boolean from unnest(reloptions) as option where option like 'security_invoker=%'
      ), false)
      else not relrowsecurity
    end
    and (
      has_any_column_privilege('backend_authenticated', pg_class.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
      or has_table_privilege('backend_authenticated', pg_class.oid, 'DELETE, TRUNCATE, TRIGGER')
    )
    and coalesce(obj_description(pg_class.oid, 'pg_class'), '') !~ '@stack\\s+public\\M'
    and not (
      exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
      and not exists (
        select from aclexplode(relacl) as held where held.grantee = 'backend_authenticated'::regrole
      )
    )
  order by 1`
