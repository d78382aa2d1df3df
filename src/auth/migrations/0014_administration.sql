-- The management surface: indexes of its lists, and columns for changes of an account.
set local role auth_admin;

-- A sign-in that began before this moment is refused: `POST /users/<id>/credentials/revoke-all` sets it.
alter table auth.users add column tokens_valid_after timestamptz;

-- Prefixes are compared byte by byte: the order of the collation "C" is the same in every database.
create index users_email_prefix on auth.users (email collate "C") where email is not null;
create index users_phone_prefix on auth.users (phone collate "C") where phone is not null;
create index users_disabled on auth.users (created_at desc, id desc) where disabled_at is not null;

-- Hashes that were made here are argon2id of the peppered password. One that was imported is marked, because it is of the password alone.
alter table auth.password_credentials
  drop constraint password_credentials_phc_check,
  add constraint password_credentials_phc_check check (
    phc like '$argon2id$%' or phc ~ '^imported:[$](argon2id|scrypt|2[aby])[$]'
  );

-- Each list of sessions is read in the order of one of these. Expired sessions are listed by the end of their time.
create index sessions_live on auth.sessions (created_at desc, id desc) where ended_at is null;
create index sessions_ended on auth.sessions (created_at desc, id desc) where ended_at is not null;
create index sessions_expiry on auth.sessions (expires_at desc, id desc) where ended_at is null;
create index sessions_user on auth.sessions (user_id, created_at desc, id desc);
create index sessions_ip on auth.sessions (ip, created_at desc, id desc) where ip is not null;
drop index auth.sessions_created;

-- The users who hold a role, in the order of their ids.
create index user_roles_role_user on auth.user_roles (role, user_id);
drop index auth.user_roles_role;

-- The party that recorded a consent.
alter table auth.consents add column source text not null default 'user' check (source in ('user'));

reset role;

-- Each filter of the audit trail has an index that ends in the id. Both columns have one direction, so that a comparison of rows is one
-- range of the index, which no other index can serve: a page reads its own entries and one more.
drop index stack.audit_type;
drop index stack.audit_target;
drop index stack.audit_actor;
create index audit_type on stack.audit (event_type, id);
create index audit_outcome on stack.audit (outcome, id);
create index audit_target on stack.audit (target_id, id) where target_id is not null;
create index audit_actor on stack.audit (actor_id, id) where actor_id is not null;
create index audit_ip on stack.audit (ip, id) where ip is not null;
