-- Second factors: one-time passwords of an authenticator app (RFC 6238), and recovery codes.
set local role auth_admin;

-- `last_step` is the last time step whose code was used: a code works once, however many try it at the same time.
create table auth.mfa_factors (
  id text primary key check (id ~ '^fac_[A-Za-z0-9_-]{1,64}$'),
  user_id text not null references auth.users on delete cascade,
  type text not null check (type = 'totp'),
  status text not null check (status in ('pending', 'verified')),
  label text not null default '' check (length(label) <= 100),
  sealed_secret text not null,
  last_step bigint not null default 0,
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  last_used_at timestamptz
);
create unique index mfa_factors_one_verified on auth.mfa_factors (user_id) where status = 'verified';
create index mfa_factors_user on auth.mfa_factors (user_id);
alter table auth.mfa_factors enable row level security;

-- Digests under a key outside of the database. A used code stays, so that the user can be told how many are left.
create table auth.recovery_codes (
  user_id text not null references auth.users on delete cascade,
  digest text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  primary key (user_id, digest)
);
alter table auth.recovery_codes enable row level security;

-- A sign-in that waits for its second factor. It ends with the right code, after 5 wrong ones or after 10 minutes.
create table auth.mfa_challenges (
  id text primary key,
  user_id text not null references auth.users on delete cascade,
  amr jsonb not null check (jsonb_typeof(amr) = 'array'),
  attempts smallint not null default 0,
  expires_at timestamptz not null default now() + interval '10 minutes',
  consumed_at timestamptz
);
create index mfa_challenges_expiry on auth.mfa_challenges (expires_at);
alter table auth.mfa_challenges enable row level security;

reset role;
