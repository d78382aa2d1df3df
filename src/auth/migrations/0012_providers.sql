-- Providers that people sign in with, their clients and credentials, and the identities of users at them.
set local role auth_admin;

-- The six providers always exist. `config` holds what is neither a client nor a secret. `revision` is the ETag.
create table auth.providers (
  name text primary key check (name in ('google', 'apple', 'microsoft', 'github', 'email', 'phone')),
  position smallint not null unique,
  kind text not null check (kind in ('oauth', 'email', 'phone')),
  enabled boolean not null default false,
  config jsonb not null default '{}' check (jsonb_typeof(config) = 'object'),
  revision bigint not null default 1,
  updated_at timestamptz not null default now()
);
insert into auth.providers (name, position, kind, enabled) values
  ('google', 1, 'oauth', false), ('apple', 2, 'oauth', false), ('microsoft', 3, 'oauth', false), ('github', 4, 'oauth', false),
  ('email', 5, 'email', true), ('phone', 6, 'phone', false);

-- `fields` are those of contract 9.5 for the provider, the kind and the platform, beside the columns.
create table auth.provider_clients (
  provider text not null references auth.providers on delete cascade,
  key text not null check (key ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  kind text not null check (kind in ('browser', 'native')),
  platform text not null check (platform in ('web', 'ios', 'android')),
  enabled boolean not null,
  application_key text not null check (length(application_key) between 1 and 200),
  variant text not null check (length(variant) between 1 and 200),
  credential_ref text check (length(credential_ref) <= 63),
  fields jsonb not null check (jsonb_typeof(fields) = 'object'),
  position smallint not null,
  primary key (provider, key),
  check ((kind = 'browser') = (platform = 'web'))
);

-- `sealed` is AES-256-GCM of the secret, bound to provider and name. `fingerprint` tells one secret from another and gives none away.
create table auth.provider_credentials (
  provider text not null references auth.providers on delete cascade,
  name text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  kind text not null check (kind in ('oauth_client_secret', 'signing_key', 'sender_secret')),
  sealed text not null,
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{16}$'),
  public_fields jsonb not null default '{}' check (jsonb_typeof(public_fields) = 'object'),
  created_at timestamptz not null default now(),
  rotated_at timestamptz not null default now(),
  primary key (provider, name)
);

-- A person at a provider. `subject` is the provider's own name of the person, which never changes.
create table auth.identities (
  provider text not null references auth.providers,
  subject text not null check (length(subject) between 1 and 255),
  user_id text not null references auth.users on delete cascade,
  client_key text,
  email text,
  email_verified boolean not null default false,
  profile jsonb not null default '{}' check (jsonb_typeof(profile) = 'object'),
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz,
  primary key (provider, subject)
);
create index identities_user on auth.identities (user_id);

-- A sign-in that has gone to the provider. `sealed` holds our PKCE verifier and nonce, `app_challenge` the application's own PKCE.
create table auth.oauth_flows (
  state_digest text primary key,
  provider text not null references auth.providers on delete cascade,
  client_key text not null,
  sealed text not null,
  redirect_to text not null check (length(redirect_to) <= 2000),
  app_challenge text not null,
  link_user_id text references auth.users on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  consumed_at timestamptz
);
create index oauth_flows_expiry on auth.oauth_flows (expires_at);

-- What the application exchanges for tokens after the provider's answer: good once, and only with the application's PKCE verifier.
create table auth.handoff_codes (
  code_digest text primary key,
  user_id text not null references auth.users on delete cascade,
  provider text not null,
  client_key text not null,
  app_challenge text not null,
  expires_at timestamptz not null,
  consumed_at timestamptz
);
create index handoff_codes_expiry on auth.handoff_codes (expires_at);

-- How a session began: the provider and its client.
alter table auth.sessions
  add column provider text,
  add column client_key text,
  add column platform text check (platform in ('web', 'ios', 'android')),
  add column application_key text;

do $$
declare
  name text;
begin
  foreach name in array array['providers', 'provider_clients', 'provider_credentials', 'identities', 'oauth_flows', 'handoff_codes'] loop
    execute format('alter table auth.%I enable row level security', name);
  end loop;
end $$;

reset role;
