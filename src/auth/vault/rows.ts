import { Database, Injectable } from '@stack/backend'

export interface VaultEntry {
  name: string
  created_at: Date
  updated_at: Date
}

@Injectable()
export class VaultRows {
  list(): Promise<VaultEntry[]> {
    return Database.$asService().sql<VaultEntry>`
      select name, created_at, updated_at from auth.vault_entries order by name collate "C"`
  }

  /** One writer at a time: each counts what the others have written. @returns characters of all that is sealed, with this one. */
  async put(name: string, sealed: string): Promise<number> {
    await Database.$asService().sql`lock table auth.vault_entries in share row exclusive mode`
    await Database.$asService().sql`
      insert into auth.vault_entries (name, sealed) values (${name}, ${sealed})
      on conflict (name) do update set sealed = excluded.sealed, updated_at = now()`
    const [row] = await Database.$asService().sql<{ total: number }>`
      select sum(length(sealed))::int as total from auth.vault_entries`
    return row!.total
  }

  /** @returns whether there was one. */
  async remove(name: string): Promise<boolean> {
    const removed = await Database.$asService().sql`delete from auth.vault_entries where name = ${name} returning name`
    return removed.length > 0
  }

  /** Another one for every write and every rotation of a key that is mirrored, for no value is sealed twice alike. */
  async revision(): Promise<string> {
    const [row] = await Database.$asService().sql<{ revision: string }>`
      select md5(concat_ws(' ', string_agg(name || ' ' || sealed, ',' order by name),
        (select coalesce(sealed, id) from auth.claims_keys order by position desc limit 1),
        (select sealed from auth.service_role_keys where sealed is not null order by position desc limit 1))) as revision
      from auth.vault_entries`
    return row!.revision
  }

  sealed(): Promise<{ name: string; sealed: string }[]> {
    return Database.$asService().sql<{ name: string; sealed: string }>`select name, sealed from auth.vault_entries`
  }
}
