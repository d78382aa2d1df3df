-- Passkeys (Web Authentication, level 3): second factors of type `webauthn`, which also sign in without a password.
set local role auth_admin;

-- The columns after `sealed_secret` are the credential record of WebAuthn section 4. `credential_id` and `public_key` (COSE) are base64url.
-- `rp_id` is the relying party that the passkey was made for: after a change of the site's host it waits for the old host to come back.
alter table auth.mfa_factors
  alter column sealed_secret drop not null,
  add column credential_id text check (length(credential_id) <= 1364),
  add column public_key text check (length(public_key) <= 1364),
  add column sign_count bigint,
  add column rp_id text check (length(rp_id) <= 253),
  add column transports text[],
  add column aaguid text check (length(aaguid) <= 36),
  add column is_backup_eligible boolean,
  add column is_backed_up boolean,
  add column is_user_verifying boolean;
alter table auth.mfa_factors drop constraint mfa_factors_type_check;
alter table auth.mfa_factors
  add constraint mfa_factors_type_check check (type in ('totp', 'webauthn')),
  add constraint mfa_factors_fields check (case type
    when 'totp' then sealed_secret is not null and credential_id is null
    else sealed_secret is null and status = 'verified' and num_nulls(credential_id, public_key, sign_count, rp_id, transports, aaguid,
      is_backup_eligible, is_backed_up, is_user_verifying) = 0 end);

-- An account has one authenticator app and any number of passkeys. A credential belongs to one account.
drop index auth.mfa_factors_one_verified;
create unique index mfa_factors_one_verified on auth.mfa_factors (user_id) where status = 'verified' and type = 'totp';
create unique index mfa_factors_credential on auth.mfa_factors (credential_id) where credential_id is not null;

-- Challenges that authenticators sign: each is good for one attempt of one purpose, within 5 minutes. `bound_to` is the session that asked for an
-- enrolment or a step-up, or the sign-in that waits for its second factor. A sign-in with a passkey names no account beforehand.
create table auth.webauthn_challenges (
  id text primary key,
  purpose text not null check (purpose in ('enrol', 'sign_in', 'second_factor', 'step_up')),
  challenge text not null,
  user_id text references auth.users on delete cascade,
  bound_to text,
  label text not null default '' check (length(label) <= 100),
  expires_at timestamptz not null default now() + interval '5 minutes',
  consumed_at timestamptz,
  check (num_nulls(user_id, bound_to) = case purpose when 'sign_in' then 2 else 0 end)
);
create index webauthn_challenges_expiry on auth.webauthn_challenges (expires_at);
create index webauthn_challenges_user on auth.webauthn_challenges (user_id) where user_id is not null;
alter table auth.webauthn_challenges enable row level security;

reset role;
