-- Of refused deliveries the last ones of each webhook are kept (contract 7.8): this index finds those that are too many.
create index deliveries_refused on webhooks.deliveries (webhook, received_at desc, id desc) where outcome = 'refused';
