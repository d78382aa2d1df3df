import { Database, Injectable } from '@stack/backend'
import type { DeclaredRole } from '../../wire/project.ts'

export interface HeldRole {
  name: string
  granted_at: string
}

/** A user who holds a role. */
export interface Holder {
  user_id: string
  email: string | null
  granted_at: Date
}

@Injectable()
export class Roles {
  list(): Promise<DeclaredRole[]> {
    return Database.$asService().sql<DeclaredRole>`
      select name, is_default as "default",
        coalesce(array_agg(permission order by permission) filter (where permission is not null), '{}') as permissions
      from auth.roles left join auth.role_permissions on role = name group by name order by name`
  }

  async byName(name: string): Promise<DeclaredRole | undefined> {
    const [role] = await Database.$asService().sql<DeclaredRole>`
      select name, is_default as "default",
        array(select permission from auth.role_permissions where role = name order by permission) as permissions
      from auth.roles where name = ${name}`
    return role
  }

  /**
   * Declares the role, or changes it to what is declared. At most one role is the default. Declarations follow each other.
   * @returns the role before, and the role that was the default where another one takes its place.
   */
  async declare({ name, default: isDefault, permissions }: DeclaredRole): Promise<{
    before: DeclaredRole | undefined
    replaced: string | undefined
  }> {
    const { sql } = Database.$asService()
    await sql`select pg_advisory_xact_lock(hashtext('auth.roles'))`
    const before = await this.byName(name)
    const [replaced] = isDefault
      ? await sql<{ name: string }>`
          update auth.roles set is_default = false where is_default and name <> ${name} returning name`
      : []
    await sql`insert into auth.roles (name, is_default) values (${name}, ${isDefault})
      on conflict (name) do update set is_default = ${isDefault}`
    await sql`delete from auth.role_permissions where role = ${name} and permission <> all (${permissions}::text[])`
    await sql`insert into auth.role_permissions (role, permission) select ${name}, unnest(${permissions}::text[])
      on conflict do nothing`
    return { before, replaced: replaced?.name }
  }

  /** Waits for assignments of the role that are under way. @returns `held` where users hold it, and then it stays. */
  async remove(name: string): Promise<'removed' | 'held' | 'unknown'> {
    const { sql } = Database.$asService()
    await sql`select pg_advisory_xact_lock(hashtext('auth.roles'))`
    const [role] = await sql`select from auth.roles where name = ${name} for update`
    if (!role) return 'unknown'
    const [holder] = await sql`select from auth.user_roles where role = ${name} limit 1`
    if (holder) return 'held'
    await sql`delete from auth.roles where name = ${name}`
    return 'removed'
  }

  /** Whether the role is declared. It is not deleted before this transaction ends. */
  async hold(name: string): Promise<boolean> {
    const rows = await Database.$asService().sql`select from auth.roles where name = ${name} for key share`
    return rows.length > 0
  }

  heldBy(userId: string): Promise<HeldRole[]> {
    return Database.$asService().sql`
      select role as name, to_char(granted_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as granted_at
      from auth.user_roles where user_id = ${userId} order by role`
  }

  /**
   * In the order of the ids. The page is read before its addresses: a join of all holders may read the users from the first one on.
   * @param after the id of the last user of the page before.
   */
  holdersOf(role: string, limit: number, after: string | undefined): Promise<Holder[]> {
    return Database.$asService().sql<Holder>`
      select user_id, email, granted_at from (
        select user_id, granted_at from auth.user_roles
        where role = ${role} and user_id > ${after ?? ''} order by user_id limit ${limit}) page
      join auth.users on id = user_id order by user_id`
  }

  /** Assigning twice leaves one row. @returns whether this call assigned it. */
  async assign(userId: string, role: string): Promise<boolean> {
    const assigned = await Database.$asService().sql`
      insert into auth.user_roles (user_id, role) values (${userId}, ${role}) on conflict do nothing returning role`
    return assigned.length > 0
  }

  /** @returns whether the user held it. */
  async revoke(userId: string, role: string): Promise<boolean> {
    const revoked = await Database.$asService().sql`
      delete from auth.user_roles where user_id = ${userId} and role = ${role} returning role`
    return revoked.length > 0
  }
}
