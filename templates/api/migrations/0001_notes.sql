-- The policy decides which rows a signed-in user reaches, even if the SQL of a handler asks for more.
create table public.notes (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  text text not null,
  created_at timestamptz not null default now()
);
create index notes_owner on public.notes (owner, id);
alter table public.notes enable row level security;
create policy own on public.notes to backend_authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, insert (text) on public.notes to backend_authenticated;
