-- Accounts: what a user row and a session tell, counters of attempts, consents, and the audit trail.
set local role auth_admin;

-- A user has an address, a phone number, both, or neither: an anonymous session belongs to a user without either.
alter table auth.users
  add column is_anonymous boolean not null default false,
  add column phone text check (phone ~ '^\+[1-9][0-9]{6,14}$'),
  add column phone_confirmed_at timestamptz,
  add column disabled_at timestamptz;
create unique index users_phone_key on auth.users (phone);
create index users_created on auth.users (created_at desc, id desc);

-- Which methods the user proved (RFC 8176 names them), from where, and on which device the session began.
alter table auth.sessions
  add column aal text not null default 'aal1' check (aal in ('aal1', 'aal2')),
  add column amr jsonb not null default '["pwd"]' check (jsonb_typeof(amr) = 'array'),
  add column ip inet,
  add column country text check (length(country) <= 2),
  add column user_agent text check (length(user_agent) <= 512);
alter table auth.sessions drop constraint sessions_end_reason_check;
alter table auth.sessions add constraint sessions_end_reason_check check (end_reason in ('signed_out', 'revoked',
  'revoked_all', 'reuse_detected', 'expired', 'password_changed', 'user_disabled', 'credential_revoked', 'mfa_reset'));
create index sessions_created on auth.sessions (created_at desc, id desc);

-- Attempts, by the digest of what they are counted under. A row is a bucket that empties at a steady rate: `level` is how full it was
-- at `updated_at`. `is_admitted` tells whether the last attempt found room.
create table auth.rate_limits (
  bucket text primary key check (length(bucket) <= 200),
  level double precision not null,
  is_admitted boolean not null,
  updated_at timestamptz not null,
  empty_at timestamptz not null
);
create index rate_limits_empty on auth.rate_limits (empty_at);
alter table auth.rate_limits enable row level security;

-- Takes one attempt from a bucket of `capacity` attempts that refills in `seconds`. Returns 0 where there was room, else the seconds to
-- wait. A refused attempt takes nothing. It is one statement, so that attempts in parallel are counted each.
create function auth.take_attempt(name text, capacity double precision, seconds double precision) returns double precision
language sql security invoker set search_path = '' as $$
  insert into auth.rate_limits as known (bucket, level, is_admitted, updated_at, empty_at)
    values (name, 1, true, pg_catalog.clock_timestamp(),
      pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => seconds / capacity))
  on conflict (bucket) do update set (level, is_admitted, updated_at, empty_at) = (
    select filled + case when filled + 1 <= capacity then 1 else 0 end, filled + 1 <= capacity, moment,
      moment + pg_catalog.make_interval(secs => (filled + 1) * seconds / capacity)
    from (select greatest(0, known.level - greatest(0, extract(epoch from moment - known.updated_at)) * capacity / seconds) as filled,
        moment from (select pg_catalog.clock_timestamp() as moment) clock) now)
  returning case when is_admitted then 0 else (level + 1 - capacity) * seconds / capacity end;
$$;
revoke execute on function auth.take_attempt(text, double precision, double precision) from public;

-- Consents of users, by document and version. A withdrawn consent stays, with the moment of its withdrawal.
create table auth.consents (
  user_id text not null references auth.users on delete cascade,
  document text not null check (document ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  version text not null check (length(version) between 1 and 64),
  granted_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  ip inet,
  primary key (user_id, document, version)
);
alter table auth.consents enable row level security;

reset role;

-- The audit trail belongs to the owner of the database: the auth module adds entries and reads them, and no role that a worker can
-- become changes or deletes one (contract 9.16). It lies in the owner's schema `stack`, because auth_admin owns the schema `auth` and
-- may drop any table in it. Ids are ULIDs, so that their order is the order of the entries.
grant usage on schema stack to auth_admin;
create table stack.audit (
  id text primary key check (id ~ '^aud_[0-9A-HJKMNP-TV-Z]{26}$'),
  occurred_at timestamptz not null default now(),
  event_type text not null check (event_type ~ '^[a-z_]+(\.[a-z_]+)+$'),
  outcome text not null check (outcome in ('success', 'failure')),
  reason text,
  actor_type text not null check (actor_type in ('user', 'operator', 'service', 'system', 'anonymous')),
  actor_id text,
  target_type text,
  target_id text,
  session_id text,
  request_id text,
  ip inet,
  user_agent text check (length(user_agent) <= 512),
  changes jsonb,
  details jsonb not null default '{}'
);
create index audit_type on stack.audit (event_type, id desc);
create index audit_target on stack.audit (target_id, id desc) where target_id is not null;
create index audit_actor on stack.audit (actor_id, id desc) where actor_id is not null;
alter table stack.audit enable row level security;
create policy audit_of_the_module on stack.audit to auth_admin using (true) with check (true);
revoke all on stack.audit from public;
grant select, insert on stack.audit to auth_admin;

-- Deletes at most 10,000 entries that are older than `days`, of which 7 are the least: a module that was taken over cannot wipe its
-- traces. It reads no object of the schema `auth`, where auth_admin could put code that would run with the owner's rights.
create function stack.prune_audit(days integer) returns integer
language plpgsql security definer set search_path = '' as $$
declare
  removed integer;
begin
  delete from stack.audit where id in (select id from stack.audit
    where occurred_at < pg_catalog.now() - pg_catalog.make_interval(days => greatest(7, coalesce(days, 90)))
    order by id limit 10000);
  get diagnostics removed = row_count;
  return removed;
end $$;
revoke execute on function stack.prune_audit(integer) from public;
grant execute on function stack.prune_audit(integer) to auth_admin;

set local role auth_admin;

-- The names under which contract 9.16 has both. They run with the rights of their caller.
create view auth.audit with (security_invoker) as select * from stack.audit;
create function auth.prune_audit() returns integer
language sql security invoker set search_path = '' as $$
  select stack.prune_audit((select (document ->> 'audit_retention_days')::integer from auth.settings));
$$;
revoke execute on function auth.prune_audit() from public;

-- A session moved to another user would be that user's: the service role may end sessions, and neither makes nor moves one.
revoke insert, update on auth.sessions from backend_service_role;
grant update (ended_at, end_reason) on auth.sessions to backend_service_role;

reset role;

-- A signing key signs from `activate_at` until its successor does. A key without that moment is published and waits. So a rotation
-- is one write, and no process has to be there when a key takes over.
set local role auth_admin;
alter table auth.signing_keys add column activate_at timestamptz;
update auth.signing_keys set activate_at = created_at;
drop index auth.signing_keys_one_active;
alter table auth.signing_keys drop column state;
create unique index signing_keys_one_next on auth.signing_keys ((activate_at is null)) where activate_at is null;
create index signing_keys_activate on auth.signing_keys (activate_at desc);
reset role;
