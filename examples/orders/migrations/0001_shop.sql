-- Every table that users reach has row-level security. Its policies decide what a signed-in user may see or do, even if the
-- SQL of a handler asks for more. Functions are in sub-selects, so that they run once for each query, not once for each row.

create table public.products (
  sku text primary key,
  name text not null,
  price_cents integer not null check (price_cents > 0)
);
alter table public.products enable row level security;
create policy anyone_reads on public.products for select to backend_authenticated using (true);
grant select on public.products to backend_authenticated;

insert into public.products (sku, name, price_cents) values
  ('tea-sencha', 'Sencha, 100 g', 1250),
  ('tea-assam', 'Assam, 250 g', 1490),
  ('pot-iron', 'Cast-iron teapot', 6900);

create table public.orders (
  id bigint generated always as identity primary key,
  owner text not null default auth.uid(),
  sku text not null references public.products,
  quantity integer not null check (quantity between 1 and 99),
  total_cents integer not null check (total_cents > 0),
  status text not null default 'open' check (status in ('open', 'paid', 'refunded')),
  created_at timestamptz not null default now()
);
create index orders_owner on public.orders (owner, id);
alter table public.orders enable row level security;

create policy owner_reads on public.orders for select to backend_authenticated using (owner = (select auth.uid()));
create policy owner_orders on public.orders for insert to backend_authenticated
  with check (owner = (select auth.uid()) and status = 'open');
create policy staff_reads on public.orders for select to backend_authenticated
  using ((select auth.has_permission('orders.read')));
create policy manager_refunds on public.orders for update to backend_authenticated
  using ((select auth.has_permission('orders.refund'))) with check (status = 'refunded');

grant select on public.orders to backend_authenticated;
grant insert (sku, quantity, total_cents) on public.orders to backend_authenticated;
grant update (status) on public.orders to backend_authenticated;

-- The codehost webhook writes these rows, and the catalogue shows them.
create table public.releases (
  tag text primary key,
  published_at timestamptz not null default now()
);
alter table public.releases enable row level security;
create policy anyone_reads on public.releases for select to backend_authenticated using (true);
grant select on public.releases to backend_authenticated;
