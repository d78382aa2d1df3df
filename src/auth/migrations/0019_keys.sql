-- Keys that are rotated: those that sign the claims of a request, and the service-role keys (contract 9.15).
set local role auth_admin;

-- Each key of the claims whose signatures `auth.jwt()` accepts. The row `binding` is the key that the deployment binds and installs. Every
-- other one was made by a rotation. The one with the highest `position` signs. `sealed` is that key for the workers.
alter table auth.claims_key rename to claims_keys;
alter table auth.claims_keys
  drop column singleton,
  add column id text not null default 'binding' check (id = 'binding' or id ~ '^clk_[0-9A-HJKMNP-TV-Z]{26}$'),
  add column position bigint generated always as identity,
  add column sealed text,
  add column created_at timestamptz not null default clock_timestamp(),
  add column accepted_until timestamptz,
  add primary key (id),
  add check ((id = 'binding') = (sealed is null));
alter table auth.claims_keys alter column id drop default;

-- Claims without content need no signature: SQL that sets them only loses the identity that it had. So an anonymous request depends on no
-- key, and a worker can read a key before it has one.
create or replace function auth.jwt() returns jsonb
language plpgsql stable security definer parallel safe set search_path = '' as $$
declare
  claims text := pg_catalog.current_setting('request.jwt.claims', true);
  signature text := coalesce(pg_catalog.current_setting('request.jwt.signature', true), '');
  expiry text := pg_catalog.split_part(signature, '.', 1);
begin
  if claims is null or claims in ('', '{}') then
    return '{}';
  end if;
  if not exists (select from auth.claims_keys key
    where (key.accepted_until is null or key.accepted_until > pg_catalog.statement_timestamp())
      and signature = expiry || '.' || pg_catalog.encode(pg_catalog.sha256(key.outer_pad ||
        pg_catalog.sha256(key.inner_pad || pg_catalog.convert_to(expiry || '.' || claims, 'UTF8'))), 'hex'))
  then
    raise exception 'the claims of this request are not signed by the backend' using errcode = '28000';
  end if;
  if pg_catalog.to_timestamp(expiry::double precision) < pg_catalog.statement_timestamp() then
    raise exception 'the signature of these claims has expired: it is good for one request' using errcode = '28000';
  end if;
  return claims::pg_catalog.jsonb;
end $$;

-- Service-role keys, by their digest under a key outside the database. A key without a row is accepted where it is the binding's value. A
-- row is never deleted, because the value of a binding that a rotation has ended must stay refused. `sealed` is the newest key, for the
-- backend worker: an ended key is not kept.
create table auth.service_role_keys (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  id text not null unique check (id ~ '^[0-9a-f]{16}$'),
  position bigint generated always as identity,
  source text not null check (source in ('binding', 'rotation')),
  sealed text,
  created_at timestamptz not null default clock_timestamp(),
  accepted_until timestamptz,
  check (sealed is null or accepted_until is null)
);
create index service_role_keys_position on auth.service_role_keys (position);
alter table auth.service_role_keys enable row level security;

reset role;
