create table public.runs (job text not null, request_id text not null, callers_rows integer);
alter table public.runs enable row level security;
grant select on public.runs to backend_authenticated;
grant select, insert on public.runs to backend_service_role;
