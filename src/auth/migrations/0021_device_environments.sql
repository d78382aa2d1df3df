-- The worlds that devices of this database may come from lie in the owner's schema `stack`. auth_admin owns the schema `auth`, and may drop
-- any table in it, also one of another owner. The module reads the rows, and no role that a worker can become changes them.
alter table auth.device_environments set schema stack;
revoke all on stack.device_environments from public, auth_admin;
grant select on stack.device_environments to auth_admin;
