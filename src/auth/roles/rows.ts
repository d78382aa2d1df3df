import { Database, Injectable } from '@stack/backend'
import type { DeclaredRole } from '../../wire/project.ts'

export interface HeldRole {
  name: string
  granted_at: string
}

@Injectable()
export class Roles {
  list(): Promise<DeclaredRole[]> {
    return Database.$asService().sql<DeclaredRole>`
      select name, is_default as "default",
        coalesce(array_agg(permission order by permission) filter (where permission is not null), '{}') as permissions
      from auth.roles left join auth.role_permissions on role = name group by name order by name`
  }

  /** Declares the role, or changes it to what is declared. At most one role is the default. */
  async declare({ name, default: isDefault, permissions }: DeclaredRole): Promise<void> {
    const { sql } = Database.$asService()
    await sql`select pg_advisory_xact_lock(hashtext('auth.roles'))`
    if (isDefault) await sql`update auth.roles set is_default = false where is_default and name <> ${name}`
    await sql`insert into auth.roles (name, is_default) values (${name}, ${isDefault})
      on conflict (name) do update set is_default = ${isDefault}`
    await sql`delete from auth.role_permissions where role = ${name} and permission <> all (${permissions}::text[])`
    await sql`insert into auth.role_permissions (role, permission) select ${name}, unnest(${permissions}::text[])
      on conflict do nothing`
  }

  async isDeclared(name: string): Promise<boolean> {
    const rows = await Database.$asService().sql`select from auth.roles where name = ${name}`
    return rows.length > 0
  }

  heldBy(userId: string): Promise<HeldRole[]> {
    return Database.$asService().sql`
      select role as name, to_char(granted_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as granted_at
      from auth.user_roles where user_id = ${userId} order by role`
  }

  /** Assigning twice leaves one row. */
  async assign(userId: string, role: string): Promise<void> {
    await Database.$asService().sql`
      insert into auth.user_roles (user_id, role) values (${userId}, ${role}) on conflict do nothing`
  }

  async revoke(userId: string, role: string): Promise<void> {
    await Database.$asService().sql`delete from auth.user_roles where user_id = ${userId} and role = ${role}`
  }
}
