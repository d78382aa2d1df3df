-- Attested devices: what they are, which request a device has sent, and which attestation keys Google has revoked.

-- The worlds that devices of this database may come from. The table belongs to the owner of the database and has one row here: a stack
-- that serves real users holds no device of a debug key, because the foreign key of `auth.devices` refuses it. `stack start` adds the
-- other rows to the local database. Deleting a row deletes its devices.
create table auth.device_environments (
  environment text primary key check (environment in ('production', 'development', 'debug'))
);
insert into auth.device_environments values ('production');
revoke all on auth.device_environments from public;
grant select, references on auth.device_environments to auth_admin;

set local role auth_admin;

-- `key_id` is the SHA-256 of the point, and `public_key` the uncompressed point, both in base64url. `rp_id_hash` is null for a key that
-- signs requests itself, which App Attest's keys do not.
create table auth.devices (
  id text primary key check (id ~ '^dev_[0-9A-HJKMNP-TV-Z]{26}$'),
  user_id text not null references auth.users on delete cascade,
  platform text not null check (platform in ('ios', 'android')),
  application_key text not null check (length(application_key) <= 63),
  environment text not null references auth.device_environments on delete cascade,
  key_id text not null unique check (length(key_id) = 43),
  public_key text not null check (length(public_key) = 87),
  rp_id_hash text check (length(rp_id_hash) = 43),
  key_storage text not null check (key_storage in ('secure_enclave', 'strongbox', 'tee', 'software')),
  facts jsonb not null default '{}' check (jsonb_typeof(facts) = 'object'),
  receipt bytea check (length(receipt) <= 16384),
  chain_serials text[] not null default '{}',
  attested_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  revoked_at timestamptz,
  revoke_reason text check (revoke_reason in ('removed', 'revoked', 'too_many', 'credentials_revoked', 'chain_revoked')),
  check ((revoked_at is null) = (revoke_reason is null))
);
create index devices_user on auth.devices (user_id, id desc);
create index devices_chain on auth.devices using gin (chain_serials);
create index devices_environment on auth.devices (environment);
create index devices_revoked on auth.devices (revoked_at) where revoked_at is not null;
alter table auth.devices enable row level security;

-- Nonces of assertions that are good once (`auth: { device: 'once' }`).
create table auth.device_nonces (
  key_id text not null,
  nonce text not null check (length(nonce) = 22),
  expires_at timestamptz not null,
  primary key (key_id, nonce)
);
create index device_nonces_expiry on auth.device_nonces (expires_at);
alter table auth.device_nonces enable row level security;

-- Google's list of attestation keys that are revoked or suspended, as it was fetched last.
create table auth.attestation_status (
  singleton boolean primary key default true check (singleton),
  etag text check (length(etag) <= 300),
  -- the list was current then
  checked_at timestamptz,
  attempted_at timestamptz
);
insert into auth.attestation_status default values;
alter table auth.attestation_status enable row level security;

-- Serial numbers in lower-case hexadecimal digits without leading zeros, as the list has them.
create table auth.attestation_revocations (serial text primary key check (serial ~ '^[0-9a-f]{1,64}$'));
alter table auth.attestation_revocations enable row level security;

-- Tokens with which a pipeline may enrol debug keys in a stack that is not local. Only their digests are kept.
create table auth.debug_device_tokens (
  id text primary key,
  digest text not null unique,
  label text not null default '' check (length(label) <= 100),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null check (expires_at <= created_at + interval '30 days')
);
alter table auth.debug_device_tokens enable row level security;

-- The read of a request that carries an assertion: the grants, and the device whose key it is, if it is the caller's own.
create function auth.request_context(own_issuer text, device_key text)
returns table (roles text[], permissions text[], session_ended boolean, operator boolean, device jsonb)
language sql stable security definer set search_path = '' as $$
  select context.roles, context.permissions, context.session_ended, context.operator,
    (select pg_catalog.jsonb_build_object('id', own.id, 'platform', own.platform, 'application_key', own.application_key,
        'environment', own.environment, 'key_storage', own.key_storage, 'attested_at', own.attested_at, 'facts', own.facts,
        'rp_id_hash', own.rp_id_hash, 'is_revoked', own.revoked_at is not null,
        'is_unseen', own.last_seen_at < pg_catalog.now() - interval '1 day')
      from auth.devices own where own.key_id = device_key and own.user_id = auth.jwt() ->> 'sub')
  from auth.request_context(own_issuer) context
$$;

-- Uses up the nonce of an assertion, in the transaction of the handler: where that rolls back, the nonce is good again. A copy that
-- arrives while the first one runs does not wait for it, because it would hold a connection.
create function auth.claim_assertion(device_key text, nonce text, asserted_at bigint) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
begin
  update auth.devices set last_seen_at = pg_catalog.now()
    where key_id = device_key and user_id = auth.uid() and revoked_at is null and last_seen_at < pg_catalog.now() - interval '1 day';
  if not exists (select from auth.devices own where own.key_id = device_key and own.user_id = auth.uid() and own.revoked_at is null)
    or not pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('assertion ' || device_key || ' ' || nonce, 0))
  then
    return false;
  end if;
  -- an assertion is good for a minute before and after its time, and the clocks of worker and database may differ by half a minute
  insert into auth.device_nonces (key_id, nonce, expires_at)
    values (device_key, claim_assertion.nonce, pg_catalog.to_timestamp(asserted_at) + interval '5 minutes')
    on conflict do nothing;
  return found;
end $$;

-- A device that was not seen for a day is seen now. It decides which device goes when an account has too many.
create function auth.see_device(device_key text) returns void
language sql volatile security definer set search_path = '' as $$
  update auth.devices set last_seen_at = pg_catalog.now()
  where key_id = device_key and user_id = auth.uid() and last_seen_at < pg_catalog.now() - interval '1 day'
$$;

revoke execute on function auth.request_context(text, text), auth.claim_assertion(text, text, bigint), auth.see_device(text) from public;
grant execute on function auth.request_context(text, text), auth.claim_assertion(text, text, bigint), auth.see_device(text)
  to backend_authenticated, backend_service_role;

reset role;
