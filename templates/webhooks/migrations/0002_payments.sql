-- The webhook writes these rows as the service. No user reaches them: there is neither a grant nor a policy.
create table public.payments (
  reference text primary key,
  amount_cents integer not null check (amount_cents > 0),
  received_at timestamptz not null default now()
);
alter table public.payments enable row level security;
