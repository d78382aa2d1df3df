-- A view runs as its owner, who sees every row. With `security_invoker` it runs as the caller, and the caller's policies apply.
create view public.order_summary with (security_invoker = true) as
  select status, count(*)::integer as orders, sum(total_cents)::integer as total_cents
  from public.orders group by status;
grant select on public.order_summary to backend_authenticated;
