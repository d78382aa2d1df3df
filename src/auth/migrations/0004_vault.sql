-- The environment's secrets, sealed outside of the database. Nobody but the module reads them: not the service role either.
set local role auth_admin;

create table auth.vault_entries (
  name text primary key check (name ~ '^[A-Za-z_][A-Za-z0-9_]{0,127}$'),
  sealed text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table auth.vault_entries enable row level security;

reset role;
