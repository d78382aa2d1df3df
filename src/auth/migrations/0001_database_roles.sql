-- The database roles of contract 5.1. A role that requests are bound to cannot log in; a login inherits nothing and may
-- become exactly one of them, so RESET ROLE or SET ROLE in a handler's SQL gains nothing. Roles belong to the cluster,
-- not to the database, hence the tests for existence.
do $$
declare
  bound text;
  login text;
begin
  foreach bound in array array['backend_authenticated', 'backend_service_role', 'auth_admin'] loop
    if not exists (select from pg_roles where rolname = bound) then
      execute format('create role %I nologin noinherit', bound);
    end if;
  end loop;
  -- without a password nobody can log in: whoever deploys sets one
  foreach login in array array['stack_backend', 'stack_backend_service', 'stack_auth'] loop
    if not exists (select from pg_roles where rolname = login) then
      execute format('create role %I login noinherit', login);
    end if;
  end loop;
  execute format('grant create, connect on database %I to auth_admin', current_database());
  execute format('revoke temporary on database %I from public', current_database());
end $$;

alter role backend_service_role bypassrls;
grant backend_authenticated to stack_backend with inherit false, set true;
grant backend_service_role to stack_backend_service with inherit false, set true;
grant auth_admin to stack_auth with inherit false, set true;
grant auth_admin to current_user with inherit true, set true;

revoke create on schema public from public;
grant usage on schema public to backend_authenticated, backend_service_role;
alter default privileges in schema public grant all on tables to backend_service_role;
alter default privileges in schema public grant all on sequences to backend_service_role;
alter default privileges in schema public grant execute on functions to backend_service_role;

-- Large objects know no row-level security, and every caller has the same role: nobody reaches them. Where the owner is no
-- superuser, the platform decides.
do $$
declare
  routine regprocedure;
begin
  for routine in select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^lo(_|read$|write$)' loop
    execute format('revoke execute on function %s from public', routine);
  end loop;
exception when insufficient_privilege then
  raise notice 'large objects stay open to every role of this database';
end $$;
