-- The auth worker lists deliveries for those who administer the stack (contract 9.12). It reads them and changes nothing.
grant usage on schema webhooks to auth_admin;
grant select on webhooks.deliveries to auth_admin;

-- Each filter has an index in the order of the list: a page reads its own rows and one more. The last one also finds the refused deliveries
-- that are too many (contract 7.8), and the second one those that are too old.
create index deliveries_newest on webhooks.deliveries (received_at, id);
create index deliveries_of_webhook on webhooks.deliveries (webhook, received_at, id);
create index deliveries_of_outcome on webhooks.deliveries (outcome, received_at, id);
create index deliveries_of_both on webhooks.deliveries (webhook, outcome, received_at, id);
drop index webhooks.deliveries_by_time;
drop index webhooks.deliveries_refused;
