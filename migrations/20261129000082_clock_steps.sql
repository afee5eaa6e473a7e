-- As before, but while the clock of the database is behind the last request, by up to a minute, time stands still. Before, each step
-- back allowed another quota.

-- Takes up to `wanted` requests, of which no minute may have more than `quota`. Time is that of the database, so that clocks of
-- processes may differ.
create or replace function take_of_minute(of_account uuid, of_kind text, quota integer, wanted integer)
returns table (
    taken integer,
    -- Requests that can still be taken.
    remaining integer,
    -- Seconds until all can be taken.
    full_in float8,
    -- Seconds until the next request can be taken, if none was.
    refused_for float8
) language plpgsql as $$
#variable_conflict use_column
declare
    -- So many requests are counted from the last of them on. This bounds the arrays to about 150 elements.
    most_together constant integer := (quota + 149) / 150;
    times timestamptz[];
    counts integer[];
    oldest integer := 1;
    newest integer;
    at_time timestamptz;
begin
    select taken_at, requests into times, counts from rate_limits
    where account_id = of_account and kind = of_kind
    for no key update;
    if not found then
        insert into rate_limits (account_id, kind) values (of_account, of_kind)
        on conflict do nothing;
        select taken_at, requests into times, counts from rate_limits
        where account_id = of_account and kind = of_kind
        for no key update;
    end if;
    -- After the lock, for which this may have waited.
    at_time := clock_timestamp();
    newest := cardinality(times);
    -- The clock of the database was set back by more than a minute.
    if times[newest] > at_time + interval '60 s' then
        times := '{}';
        counts := '{}';
        newest := 0;
    end if;
    at_time := greatest(at_time, times[newest]);
    -- Beyond the last element is null, which ends the loop.
    while times[oldest] <= at_time - interval '60 s' loop
        oldest := oldest + 1;
    end loop;
    if oldest > 1 then
        times := times[oldest:];
        counts := counts[oldest:];
        newest := newest - oldest + 1;
    end if;
    remaining := greatest(quota - coalesce((select sum(number) from unnest(counts) as number), 0), 0);
    taken := least(wanted, remaining);
    if taken > 0 then
        if counts[newest] + taken <= most_together then
            times[newest] := at_time;
            counts[newest] := counts[newest] + taken;
        else
            times := times || at_time;
            counts := counts || taken;
        end if;
        update rate_limits set taken_at = times, requests = counts
        where account_id = of_account and kind = of_kind;
        remaining := remaining - taken;
        full_in := 60;
    else
        full_in := 60 - extract(epoch from at_time - times[newest]);
        refused_for := 60 - extract(epoch from at_time - times[1]);
    end if;
    return next;
end
$$;
