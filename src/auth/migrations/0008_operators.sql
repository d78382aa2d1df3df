-- Users who may administer the stack with their own access token (contract 9.7).
set local role auth_admin;

create table auth.operators (
  user_id text primary key references auth.users on delete cascade,
  created_at timestamptz not null default now()
);
alter table auth.operators enable row level security;

-- The read of a request also tells whether its caller is an operator. The token claims it and this list decides, so that an
-- operator who is removed is refused on the next call. Requests of other users do not look at the list.
drop function auth.request_context(text);
create function auth.request_context(own_issuer text)
returns table (roles text[], permissions text[], session_ended boolean, operator boolean)
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
    exists (select from auth.sessions known where known.id = session
        and (known.ended_at is not null or known.expires_at <= pg_catalog.now()))
      or exists (select from auth.ended_sessions gone where gone.id = session)
      or (claims ->> 'iss' = own_issuer and not exists (select from auth.sessions known where known.id = session)),
    claims -> 'management' = 'true'::jsonb
      and exists (select from auth.operators listed where listed.user_id = claims ->> 'sub');
end $$;

revoke execute on function auth.request_context(text) from public;
grant execute on function auth.request_context(text) to backend_authenticated, backend_service_role;

reset role;
