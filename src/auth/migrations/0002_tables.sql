create schema auth authorization auth_admin;
revoke all on schema auth from public;
grant usage on schema auth to backend_authenticated, backend_service_role;

set local role auth_admin;

-- One document for the whole environment; the revision is its ETag.
create table auth.settings (
  singleton boolean primary key default true check (singleton),
  document jsonb not null check (jsonb_typeof(document) = 'object'),
  revision bigint not null default 1,
  updated_at timestamptz not null default now()
);
insert into auth.settings (document) values ('{}');

create table auth.users (
  id text primary key check (id ~ '^usr_[A-Za-z0-9_-]{1,64}$'),
  email text check (email = lower(email) and length(email) <= 254),
  email_confirmed_at timestamptz,
  custom_claims jsonb not null default '{}' check (jsonb_typeof(custom_claims) = 'object'),
  last_sign_in_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_email_key on auth.users (email);

create table auth.password_credentials (
  user_id text primary key references auth.users on delete cascade,
  phc text not null check (phc like '$argon2id$%'),
  changed_at timestamptz not null default now()
);

create table auth.sessions (
  id text primary key check (id ~ '^ses_[A-Za-z0-9_-]{1,64}$'),
  user_id text not null references auth.users on delete cascade,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  auth_time timestamptz not null default now(),
  ended_at timestamptz,
  end_reason text check (end_reason in ('signed_out', 'revoked', 'reuse_detected', 'expired')),
  -- A refresh token names its generation and is signed outside the database: a dump of these rows mints nothing.
  refresh_generation bigint not null default 0,
  refresh_rotated_at timestamptz not null default now(),
  refresh_recoveries smallint not null default 0,
  check ((ended_at is null) = (end_reason is null))
);
create index sessions_user_live on auth.sessions (user_id, created_at desc) where ended_at is null;

create table auth.roles (
  name text primary key check (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
  is_default boolean not null default false,
  created_at timestamptz not null default now()
);
create unique index roles_one_default on auth.roles (is_default) where is_default;

create table auth.role_permissions (
  role text not null references auth.roles on delete cascade on update cascade,
  permission text not null check (permission ~ '^[a-z0-9_-]+\.([a-z0-9_-]+|\*)$'),
  primary key (role, permission)
);

create table auth.user_roles (
  user_id text not null references auth.users on delete cascade,
  role text not null references auth.roles on delete restrict on update cascade,
  granted_at timestamptz not null default now(),
  primary key (user_id, role)
);
create index user_roles_role on auth.user_roles (role);

create table auth.signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  sealed_private bytea not null,
  state text not null check (state in ('next', 'active', 'retired')),
  created_at timestamptz not null default now()
);
create unique index signing_keys_one_active on auth.signing_keys (state) where state = 'active';

-- The two padded halves of the HMAC key that signs the claims of a request (RFC 2104): 64 bytes each.
create table auth.claims_key (
  singleton boolean primary key default true check (singleton),
  inner_pad bytea not null check (length(inner_pad) = 64),
  outer_pad bytea not null check (length(outer_pad) = 64)
);

do $$
declare
  name text;
begin
  for name in select tablename from pg_tables where schemaname = 'auth' loop
    execute format('alter table auth.%I enable row level security', name);
  end loop;
end $$;
grant select, insert, update, delete on auth.settings, auth.users, auth.sessions, auth.roles, auth.role_permissions,
  auth.user_roles to backend_service_role;

reset role;
