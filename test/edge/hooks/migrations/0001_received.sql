create table public.received (webhook text not null, request_id text not null, event text not null, payload jsonb);
alter table public.received enable row level security;
