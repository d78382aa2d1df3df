/** A Postgres with both schemas, and one user who may read and write notes. */
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { keysAt } from '../../local/keys.ts'
import { installKeys } from '../../local/logins.ts'
import { migrate, setsOf } from '../../local/migrate.ts'
import { startPostgres } from '../../local/postgres.ts'
import { userId } from './issuer.ts'

export interface Database {
  port: number
  claimsKey: string
  /** The URL of the login for requests. @param port the port of Postgres, or of a proxy before it. */
  url(port: number): string
  stop(): Promise<void>
}

const notes = `create table public.notes (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  text text not null
);
create index notes_owner on public.notes (owner, id);
alter table public.notes enable row level security;
create policy owner_reads on public.notes for select to backend_authenticated using (owner = (select auth.uid()));
create policy owner_writes on public.notes for insert to backend_authenticated
  with check (owner = (select auth.uid()));
grant select on public.notes to backend_authenticated;
grant insert (text) on public.notes to backend_authenticated;
`

const person = `insert into auth.users (id, email) values ('${userId}', 'someone@example.com');
insert into auth.roles (name) values ('writer');
insert into auth.role_permissions (role, permission) values ('writer', 'notes.read'), ('writer', 'notes.write');
insert into auth.user_roles (user_id, role) values ('${userId}', 'writer');
insert into public.notes (owner, text) select '${userId}', 'note ' || number from generate_series(1, 20) as number;
`

/** The ten oldest notes of that user, in the order of their ids. */
export const oldestNotes = Array.from({ length: 10 }, (_, index) => ({ id: `${index + 1}`, text: `note ${index + 1}` }))

/** @param folder the folder of the cluster and the keys. */
export async function startDatabase(folder: string): Promise<Database> {
  const keys = keysAt(path.join(folder, 'keys.json'))
  const { postgres: password, ...passwords } = keys.passwords
  const postgres = await startPostgres({ directory: path.join(folder, 'db'), password })
  // Postgres is in a process group of its own, which Ctrl-C in a terminal does not reach.
  const interrupted = () => void postgres.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted)
  try {
    const owner = `postgresql://postgres:${password}@127.0.0.1:${postgres.port}/postgres`
    const own = path.join(folder, 'migrations')
    fs.mkdirSync(own)
    fs.writeFileSync(path.join(own, '0001_notes.sql'), notes)
    await migrate(owner, setsOf(folder))
    await installKeys(owner, { claimsKey: keys.claims_key, passwords })
    const client = new pg.Client(owner)
    await client.connect()
    await client.query(person).finally(() => client.end())
  } catch (error) {
    await postgres.stop()
    throw error
  }
  return {
    port: postgres.port,
    claimsKey: keys.claims_key,
    url: (port) => `postgresql://stack_backend:${passwords.stack_backend}@127.0.0.1:${port}/postgres`,
    async stop() {
      process.off('SIGINT', interrupted)
      await postgres.stop()
    },
  }
}
