-- What SQL learns of the request it runs in. The claims are bound as settings of the transaction, which any SQL could
-- set again: their signature, under a key that only these functions read, is what makes them true (contract 5.3).
set local role auth_admin;

create function auth.jwt() returns jsonb
language plpgsql stable security definer parallel safe set search_path = '' as $$
declare
  claims text := pg_catalog.current_setting('request.jwt.claims', true);
  signature text := pg_catalog.current_setting('request.jwt.signature', true);
  key auth.claims_key;
begin
  if claims is null or claims = '' then
    return '{}';
  end if;
  select * into key from auth.claims_key;
  if not found or signature is distinct from pg_catalog.encode(
    pg_catalog.sha256(key.outer_pad || pg_catalog.sha256(key.inner_pad || pg_catalog.convert_to(claims, 'UTF8'))), 'hex')
  then
    raise exception 'the claims of this request are not signed by the backend' using errcode = '28000';
  end if;
  return claims::pg_catalog.jsonb;
end $$;

create function auth.uid() returns text
language sql stable security definer parallel safe set search_path = '' as $$
  select auth.jwt() ->> 'sub'
$$;

create function auth.has_permission(permission text) returns boolean
language sql stable security definer parallel safe set search_path = '' as $$
  select $1 ~ '^[a-z0-9_-]+[.][a-z0-9_-]+$' and exists (
    select from auth.user_roles held
    join auth.role_permissions granted on granted.role = held.role
    where held.user_id = (select auth.uid())
      and granted.permission in ($1, pg_catalog.split_part($1, '.', 1) || '.*')
  )
$$;

-- The one read of a request: roles, permissions, and whether the session of its token was ended. A session that is not
-- known here passes: tokens of other issuers have none.
create function auth.request_context() returns table (roles text[], permissions text[], session_ended boolean)
language plpgsql stable security definer set search_path = '' as $$
declare
  claims jsonb := auth.jwt();
begin
  return query select
    coalesce((select pg_catalog.array_agg(held.role order by held.role)
      from auth.user_roles held where held.user_id = claims ->> 'sub'), '{}'),
    coalesce((select pg_catalog.array_agg(distinct granted.permission order by granted.permission)
      from auth.user_roles held join auth.role_permissions granted on granted.role = held.role
      where held.user_id = claims ->> 'sub'), '{}'),
    exists (select from auth.sessions ended
      where ended.id = claims ->> 'session_id' and ended.ended_at is not null);
end $$;

revoke execute on all functions in schema auth from public;
grant execute on function auth.jwt(), auth.uid(), auth.has_permission(text), auth.request_context()
  to backend_authenticated, backend_service_role;

reset role;
