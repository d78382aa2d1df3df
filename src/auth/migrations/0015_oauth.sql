-- Sign-in with providers: what a hand-off code is for, ID tokens that were used, and the origin of a session that waits for its second step.
set local role auth_admin;

-- The account is found or made when the code is exchanged, because only the exchange knows whether a guest is upgraded. So the code
-- holds the person as the provider has told them. `link_user_id` is the user who adds the identity to their account.
alter table auth.handoff_codes drop column user_id;
alter table auth.handoff_codes
  add column person jsonb not null check (jsonb_typeof(person) = 'object'),
  add column link_user_id text references auth.users on delete cascade;

-- ID tokens that an application has given to a `native` route, until they expire: each one signs in once. The digest covers what the
-- provider has signed and not the signature, because a signature of ECDSA has a second form.
create table auth.used_id_tokens (
  digest text primary key,
  expires_at timestamptz not null
);
create index used_id_tokens_expiry on auth.used_id_tokens (expires_at);
alter table auth.used_id_tokens enable row level security;

-- The provider and its client, for the session that the second step begins.
alter table auth.mfa_challenges add column origin jsonb check (jsonb_typeof(origin) = 'object');

reset role;
