-- What one login could do to another one's sessions, or to itself (contract 5.7).

-- SQL of a handler may become its login again (RESET ROLE), and all requests share that login: without these revokes it
-- could end, cancel or watch the sessions of other requests. Only a superuser owns these functions: where the owner of the
-- database is none, the platform decides, and a notice names what stays open.
do $$
declare
  routine regprocedure;
  stays text[] := '{}';
begin
  for routine in select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname in
    ('pg_terminate_backend', 'pg_cancel_backend', 'pg_stat_get_activity', 'pg_stat_get_backend_activity') loop
    execute format('revoke execute on function %s from public', routine);
    if has_function_privilege('backend_authenticated', routine, 'execute') then
      stays := stays || routine::text;
    else
      execute format('grant execute on function %s to pg_read_all_stats, pg_signal_backend', routine);
    end if;
  end loop;
  if stays <> '{}' then
    raise notice 'every role of this database may still execute %: only a superuser may revoke that',
      array_to_string(stays, ', ');
  end if;
end $$;

-- A login may change its own password and its own defaults, and then none of its connections opens. The verifiers that
-- were set at installation are kept here. Only the owner reads them; auth_admin may have them restored. They lie in a schema
-- of the owner: auth_admin owns the schema `auth`, and could put another table in the place of one in there, which the
-- function below would read with the owner's rights.
create schema if not exists stack;
revoke all on schema stack from public;
create table stack.login_verifiers (
  login name primary key check (login in ('stack_backend', 'stack_backend_service', 'stack_auth')),
  verifier text not null check (verifier like 'SCRAM-SHA-256$%')
);
revoke all on stack.login_verifiers from public;

create function auth.repair_logins() returns void
language plpgsql security definer set search_path = '' as $$
declare
  kept stack.login_verifiers;
begin
  perform pg_catalog.pg_advisory_xact_lock(7301202); -- two repairs at once would update the same rows of the catalog
  for kept in select * from stack.login_verifiers loop
    execute pg_catalog.format('alter role %I password %L', kept.login, kept.verifier);
    execute pg_catalog.format('alter role %I reset all', kept.login);
    execute pg_catalog.format('alter role %I in database %I reset all', kept.login, pg_catalog.current_database());
  end loop;
end $$;
revoke execute on function auth.repair_logins() from public;
grant execute on function auth.repair_logins() to auth_admin;
