-- Mail and text messages: what is to be sent, and the one-time tokens that messages carry.
set local role auth_admin;

-- A message that is to be sent. Its row is written in the transaction that causes it. It holds no token and no code: these are
-- made at the moment of sending, so that a dump of the table opens no account.
create table auth.outbox (
  id text primary key check (id ~ '^msg_[0-9A-HJKMNP-TV-Z]{26}$'),
  template text not null,
  channel text not null default 'email' check (channel in ('email', 'sms')),
  recipient text not null check (length(recipient) <= 320),
  user_id text references auth.users on delete cascade,
  variables jsonb not null default '{}' check (jsonb_typeof(variables) = 'object'),
  status text not null default 'queued' check (status in ('queued', 'sent', 'dropped', 'dead')),
  attempts smallint not null default 0,
  last_error text check (length(last_error) <= 1000),
  next_attempt_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  sent_at timestamptz
);
create index outbox_due on auth.outbox (next_attempt_at) where status = 'queued';
create index outbox_user on auth.outbox (user_id, id desc) where user_id is not null;
create index outbox_created on auth.outbox (created_at);
alter table auth.outbox enable row level security;

-- A token and a code that prove the control over an address or a phone number. Both are digests under a key outside the database.
-- `target` is the address or the number. A token that was used, or whose code was tried 5 times, is worth nothing.
create table auth.one_time_tokens (
  token_digest text primary key,
  code_digest text not null,
  purpose text not null check (purpose ~ '^[a-z_]{1,40}$'),
  user_id text references auth.users on delete cascade,
  target text not null check (length(target) <= 320),
  attempts smallint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  code_expires_at timestamptz not null,
  consumed_at timestamptz
);
create index one_time_tokens_target on auth.one_time_tokens (purpose, target) where consumed_at is null;
create index one_time_tokens_user on auth.one_time_tokens (user_id);
create index one_time_tokens_expiry on auth.one_time_tokens (expires_at);
alter table auth.one_time_tokens enable row level security;

-- Templates that were changed. One without a row here is the built-in one.
create table auth.templates (
  key text primary key check (key ~ '^[a-z][a-z0-9_]{0,62}$'),
  subject text,
  body text not null,
  body_text text,
  revision bigint not null default 1,
  updated_at timestamptz not null default now(),
  updated_by text
);
alter table auth.templates enable row level security;

reset role;
