-- The session behind a token, and for how long the signature of a request's claims is good (contract 3.5, 5.3).
set local role auth_admin;

-- Ids of sessions whose rows are gone, because their user was deleted: a token that names one is good for no request.
-- An id stays until every token that may name it has expired; an access token lives for fifteen minutes.
create table auth.ended_sessions (
  id text primary key,
  until timestamptz not null
);
alter table auth.ended_sessions enable row level security;
create index ended_sessions_until on auth.ended_sessions (until);

create function auth.keep_ended_session() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into auth.ended_sessions (id, until)
    values (old.id, pg_catalog.clock_timestamp() + interval '20 minutes') on conflict do nothing;
  -- each deletion removes a few expired ids, so that they never pile up
  delete from auth.ended_sessions where ctid in (
    select ctid from auth.ended_sessions where until < pg_catalog.clock_timestamp() limit 20 for update skip locked);
  return old;
end $$;
create trigger keep_ended_session after delete on auth.sessions
  for each row execute function auth.keep_ended_session();

-- The signature is `<expiry>.<HMAC>`; the HMAC covers `<expiry>.<claims>`. A signature that leaked is worth nothing after
-- its expiry, which lies half a minute behind the longest transaction.
create or replace function auth.jwt() returns jsonb
language plpgsql stable security definer parallel safe set search_path = '' as $$
declare
  claims text := pg_catalog.current_setting('request.jwt.claims', true);
  signature text := coalesce(pg_catalog.current_setting('request.jwt.signature', true), '');
  expiry text := pg_catalog.split_part(signature, '.', 1);
  key auth.claims_key;
begin
  if claims is null or claims = '' then
    return '{}';
  end if;
  select * into key from auth.claims_key;
  if not found or signature <> expiry || '.' || pg_catalog.encode(pg_catalog.sha256(key.outer_pad ||
    pg_catalog.sha256(key.inner_pad || pg_catalog.convert_to(expiry || '.' || claims, 'UTF8'))), 'hex')
  then
    raise exception 'the claims of this request are not signed by the backend' using errcode = '28000';
  end if;
  if pg_catalog.to_timestamp(expiry::double precision) < pg_catalog.statement_timestamp() then
    raise exception 'the signature of these claims has expired: it is good for one request' using errcode = '28000';
  end if;
  return claims::pg_catalog.jsonb;
end $$;

-- The one read of a request: roles, permissions, and whether the session of its token has ended. A session that this
-- database does not know has ended where the token is the stack's own; another issuer's sessions are not known here.
drop function auth.request_context();
create function auth.request_context(own_issuer text)
returns table (roles text[], permissions text[], session_ended boolean)
language plpgsql stable security definer set search_path = '' as $$
declare
  claims jsonb := auth.jwt();
  session text := claims ->> 'session_id';
begin
  return query select
    coalesce((select pg_catalog.array_agg(held.role order by held.role)
      from auth.user_roles held where held.user_id = claims ->> 'sub'), '{}'),
    coalesce((select pg_catalog.array_agg(distinct granted.permission order by granted.permission)
      from auth.user_roles held join auth.role_permissions granted on granted.role = held.role
      where held.user_id = claims ->> 'sub'), '{}'),
    exists (select from auth.sessions known where known.id = session and known.ended_at is not null)
      or exists (select from auth.ended_sessions gone where gone.id = session)
      or (claims ->> 'iss' = own_issuer and not exists (select from auth.sessions known where known.id = session));
end $$;

revoke execute on function auth.request_context(text), auth.keep_ended_session() from public;
grant execute on function auth.request_context(text) to backend_authenticated, backend_service_role;

reset role;
