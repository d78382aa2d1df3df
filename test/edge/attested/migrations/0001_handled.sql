create table public.handled (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  text text not null
);
alter table public.handled enable row level security;
create policy own on public.handled to backend_authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, insert on public.handled to backend_authenticated;
