-- Charges for renders as `charge_renders` does, but waits for no account that another transaction has locked: its renders are
-- returned as not charged, and can be charged a moment later. Only if all accounts are locked, it waits for the first one. It waits
-- 100 ms at most for any lock. Renders that `charge_renders` doesn't charge are not returned.
create function charge_available_renders(
    account_ids uuid[], render_ids uuid[], prices bigint[], with_meter text, at_time timestamptz
) returns table (render_id uuid, is_charged boolean) language plpgsql as $$
#variable_conflict use_column
declare
    locked uuid[];
    busy uuid[];
begin
    select array_agg(account_id) into locked from (
        select account_id from credit_periods
        where account_id = any(account_ids) and starts_at <= at_time and ends_at > at_time
        order by account_id
        for no key update skip locked
    ) available;
    if locked is null then
        begin
            perform set_config('lock_timeout', '100ms', true);
            select array[account_id] into locked from credit_periods
            where account_id = any(account_ids) and starts_at <= at_time and ends_at > at_time
            order by account_id limit 1
            for no key update;
        exception when lock_not_available then
            null;
        end;
    end if;
    busy := array(
        select account_id from credit_periods
        where account_id = any(account_ids) and starts_at <= at_time and ends_at > at_time
            and account_id <> all(coalesce(locked, '{}'))
    );
    return query
    with wanted as materialized (
        select account_id, id, price, account_id = any(busy) as is_busy
        from unnest(account_ids, render_ids, prices) as wanted (account_id, id, price)
    )
    select id, false from wanted where is_busy
    union all
    select charged.id, true
    from charge_renders(
        (select array_agg(account_id order by id) from wanted where not is_busy),
        (select array_agg(id order by id) from wanted where not is_busy),
        (select array_agg(price order by id) from wanted where not is_busy),
        with_meter, at_time
    ) as charged (id);
end
$$;
