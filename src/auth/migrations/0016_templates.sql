-- Templates that the project declares in stack/templates. One that was changed has a row in auth.templates, as a built-in one has.
set local role auth_admin;

-- Revisions of templates and of their defaults. They never repeat, so that an entity tag names one state for ever.
create sequence auth.template_revisions as bigint;

create table auth.project_templates (
  key text primary key check (key ~ '^[a-z][a-z0-9_]{0,62}$'),
  channel text not null check (channel in ('email', 'sms')),
  subject text check ((subject is not null) = (channel = 'email')),
  body text not null,
  body_text text,
  variables jsonb not null check (jsonb_typeof(variables) = 'array'),
  revision bigint not null default nextval('auth.template_revisions'),
  updated_at timestamptz not null default now()
);
alter table auth.project_templates enable row level security;

reset role;
