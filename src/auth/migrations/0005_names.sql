-- Names of roles and permissions as contract 4.4 has them: the patterns of src/wire/permissions.ts. The blanks are those of
-- JavaScript's \s, written out, because what Postgres takes for a blank depends on the collation of the database.
set local role auth_admin;

alter table auth.roles
  drop constraint roles_name_check,
  add constraint roles_name_check check (
    name ~ '^[^\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,/\\''"]{1,63}$'
    and name not in ('.', '..')
  );

alter table auth.role_permissions
  drop constraint role_permissions_permission_check,
  add constraint role_permissions_permission_check check (
    permission ~ '^[^\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,.]+[.][^\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,.]+$'
    and length(permission) <= 255
  );

-- A question that has not the form is answered with false. The action * is no question: it is how a role holds every action.
create or replace function auth.has_permission(permission text) returns boolean
language sql stable security definer parallel safe set search_path = '' as $$
  select $1 ~ '^[^\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,.]+[.](?![*]$)[^\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff,.]+$' and exists (
    select from auth.user_roles held
    join auth.role_permissions granted on granted.role = held.role
    where held.user_id = (select auth.uid())
      and granted.permission in ($1, pg_catalog.split_part($1, '.', 1) || '.*')
  )
$$;

reset role;
