-- Rates of accounts, counted for all processes together. Not logged, so that a request doesn't wait for the disk: after a crash
-- of the database, all quotas are full.
create unlogged table rate_limits (
    account_id uuid not null,
    kind text not null,
    -- When the quota is full again, if nothing is taken until then.
    full_at timestamptz not null,
    constraint rate_limits_pkey primary key (account_id, kind),
    constraint rate_limits_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Takes up to `wanted` requests of a quota, which is used at once or replenished continuously within a minute. Time is that of
-- the database, so that clocks of processes may differ.
create function take_rate(of_account uuid, of_kind text, per_minute integer, wanted integer)
returns table (
    taken integer,
    -- Seconds until the quota is full.
    full_in float8,
    -- Seconds until the next request can be taken, if none was.
    refused_for float8
) language plpgsql as $$
#variable_conflict use_column
declare
    -- Seconds in which one request is replenished.
    share constant float8 := 60.0 / per_minute;
    full_at_before timestamptz;
    at_time timestamptz;
begin
    select full_at into full_at_before from rate_limits
    where account_id = of_account and kind = of_kind
    for no key update;
    if not found then
        insert into rate_limits (account_id, kind, full_at) values (of_account, of_kind, '-infinity')
        on conflict do nothing;
        select full_at into full_at_before from rate_limits
        where account_id = of_account and kind = of_kind
        for no key update;
    end if;
    -- After the lock, for which this may have waited.
    at_time := clock_timestamp();
    full_in := case
        when full_at_before > at_time then least(extract(epoch from full_at_before - at_time), 60)
        else 0
    end;
    -- The tolerance is for rounding: times have microseconds.
    taken := greatest(least(wanted, floor((60 - full_in) / share + 1e-4)::integer), 0);
    if taken > 0 then
        full_in := full_in + taken * share;
        update rate_limits set full_at = at_time + full_in * interval '1 s'
        where account_id = of_account and kind = of_kind;
    else
        refused_for := full_in + share - 60;
        -- The clock of the database was set back.
        update rate_limits set full_at = at_time + interval '60 s'
        where account_id = of_account and kind = of_kind and full_at_before > at_time + interval '60 s';
    end if;
    return next;
end
$$;

-- Like the function without `most_concurrent`, which stays for processes of the previous release. It is the maximum number of
-- unfinished synchronous renders, in all processes, with which the account may open one more; null for queued renders.
create function may_open_render(
    of_account uuid,
    of_key uuid,
    is_live boolean,
    at_time timestamptz,
    is_volatile boolean,
    most_concurrent integer
) returns table (
    is_free boolean,
    total_credits bigint,
    used_credits bigint,
    reserved bigint,
    period_ends_at timestamptz,
    counter_id uuid,
    exceeded_limit bigint,
    -- The account has so many synchronous renders.
    is_busy boolean
) language plpgsql as $$
#variable_conflict use_column
begin
    if most_concurrent is not null then
        -- Two processes may not count at the same time. Test renders lock nothing else.
        perform pg_advisory_xact_lock(hashtext('synchronous renders'), hashtext(of_account::text));
        is_busy := most_concurrent <= (
            select count(*) from renders
            where account_id = of_account and instance is not null and mode = 'sync' and finished_at is null
        );
        if is_busy then
            is_free := false;
            period_ends_at := at_time;
            return next;
            return;
        end if;
    end if;
    return query
    select decided.*, false from may_open_render(of_account, of_key, is_live, at_time, is_volatile) decided;
end
$$;
