-- Takes one attempt from each bucket until one has no room, and reads the settings: a sign-in asks for all of it in one statement.
-- `names` are those of the limits, whose numbers stand in the settings or in `defaults`. `refused` is the limit without room, and `wait`
-- the seconds until its next attempt.
set local role auth_admin;

create function auth.take_attempts(names text[], buckets text[], defaults jsonb)
returns table (document jsonb, refused text, wait double precision)
language plpgsql security invoker set search_path = '' as $$
declare
  asked jsonb;
begin
  select settings.document into document from auth.settings;
  for i in 1 .. pg_catalog.cardinality(names) loop
    asked := coalesce(document #> array['rate_limits', names[i]], defaults -> names[i]);
    wait := auth.take_attempt(buckets[i], (asked ->> 'attempts')::double precision, (asked ->> 'seconds')::double precision);
    if wait > 0 then
      refused := names[i];
      exit;
    end if;
  end loop;
  return next;
end $$;
revoke execute on function auth.take_attempts(text[], text[], jsonb) from public;

reset role;
