-- What the runtime keeps of webhooks that ask for it (contract 7.7, 7.8).
create schema webhooks;
revoke all on schema webhooks from public;
grant usage on schema webhooks to backend_service_role;

-- An id stands here if, and only if, the effects of its delivery are committed.
create table webhooks.seen (
  webhook text not null,
  id text not null,
  seen_at timestamptz not null default now(),
  primary key (webhook, id)
);
create index seen_by_age on webhooks.seen (seen_at);

create table webhooks.deliveries (
  id text primary key,
  webhook text not null,
  request_id text not null,
  received_at timestamptz not null,
  search text not null,
  -- without the values of signatures
  headers jsonb not null,
  -- absent where a delivery was refused before its body was read
  body bytea,
  event text,
  outcome text not null check (outcome in ('handled', 'unhandled', 'duplicate', 'handshake', 'failed', 'refused')),
  reason text,
  status integer not null,
  duration_ms integer not null
);
create index deliveries_by_time on webhooks.deliveries (webhook, received_at);

-- update: to lock what is swept
grant select, insert, update, delete on webhooks.seen, webhooks.deliveries to backend_service_role;
