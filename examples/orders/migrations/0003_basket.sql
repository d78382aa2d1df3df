-- What a guest or a customer wants to order. A guest who signs up keeps their id, and so the basket.
create table public.basket_items (
  owner text not null default auth.uid(),
  sku text not null references public.products,
  quantity integer not null check (quantity between 1 and 99),
  primary key (owner, sku)
);
alter table public.basket_items enable row level security;
create policy own on public.basket_items to backend_authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select, delete on public.basket_items to backend_authenticated;
grant insert (sku, quantity), update (quantity) on public.basket_items to backend_authenticated;
