create table public.notes (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  text text not null unique
);
alter table public.notes enable row level security;
create policy own on public.notes to backend_authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, insert, update, delete on public.notes to backend_authenticated;

create table public.received (event text not null, payload jsonb, bytes integer);
alter table public.received enable row level security;

-- A violation is refused only at COMMIT.
create table public.late (id integer primary key, parent integer references public.late deferrable initially deferred);
alter table public.late enable row level security;
create policy anyone on public.late to backend_authenticated using (true) with check (true);
grant select, insert on public.late to backend_authenticated;

-- Counts attempts. Every role may write here, so that only the transaction can prevent it.
create table public.tries (id text not null);
alter table public.tries enable row level security;
create policy anyone on public.tries to backend_authenticated using (true) with check (true);
grant select, insert on public.tries to backend_authenticated;
