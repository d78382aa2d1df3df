-- The auth module tells load balancers whether the database has its migrations.
grant select on stack.migrations to auth_admin;
