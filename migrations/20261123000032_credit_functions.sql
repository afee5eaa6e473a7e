-- What a render costs, decided in the statement that opens or ends it. Each function holds the row of the period, and reads
-- what is reserved only then, so that it sees every reservation: credits are exact over all processes.

create function free_credits(period credit_periods, reserved bigint) returns bigint language sql immutable as $$
    select greatest(
        period.allowance + period.granted + period.bought + period.overage_limit - period.used - reserved, 0
    )
$$;

-- The credits that an account's unfinished renders reserve.
create function reserved_credits(of_account uuid) returns bigint language sql volatile as $$
    select coalesce((select credits from credit_reservations where account_id = of_account), 0)
$$;

-- Whether a render may begin; each reserves one credit, renders with test keys none. No row: the account has no period yet
-- at that time.
create function may_open_render(
    of_account uuid,
    is_live boolean,
    at_time timestamptz,
    -- The commit does not wait for the disk: the row is worth nothing once the database has crashed.
    is_volatile boolean
) returns table (is_free boolean, total_credits bigint, used_credits bigint, reserved bigint, period_ends_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
begin
    if is_volatile then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    if not is_live then
        return query select true, 0::bigint, 0::bigint, 0::bigint, at_time;
        return;
    end if;
    -- Not `for update`: rows of `usage_days` refer to it.
    select * into period from credit_periods
    where account_id = of_account and starts_at <= at_time and ends_at > at_time
    for no key update;
    if found then
        return query
        select free_credits(period, reservations.credits) >= 1,
            period.allowance + period.granted + period.bought + period.overage_limit, period.used, reservations.credits,
            period.ends_at
        from reserved_credits(of_account) as reservations (credits);
    end if;
end
$$;

-- Charges for a render that is to end as succeeded in the same statement. `outcome` says what has become of it:
--   charged        for renders with test keys, counted only
--   ended          it has ended before: nothing is charged
--   too_expensive  it costs more than `free`: nothing is charged
--   to_be_told     the owner is to be told of it in the same transaction, and this is none: nothing is charged
-- No row: the account has no period yet at that time.
create function charge_render(
    of_account uuid,
    of_render uuid,
    is_live boolean,
    with_meter text,
    price bigint,
    at_time timestamptz,
    -- Of the row that counts it, if there is none for the day.
    usage_id uuid,
    may_tell boolean
) returns table (
    outcome text,
    free bigint,
    -- The owner is to be told: with this, four fifths of the account's own credits are gone, or all of them.
    tell boolean,
    own_credits bigint,
    own_used_credits bigint,
    most_overage bigint,
    period_ends_at timestamptz
) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    own_reservation bigint;
    -- The part of the price that the account's own credits do not pay for.
    overage bigint := 0;
    own_used bigint;
begin
    tell := false;
    select * into period from credit_periods
    where account_id = of_account and starts_at <= at_time and ends_at > at_time
    for no key update;
    if not found then
        return;
    end if;
    own_credits := period.allowance + period.granted + period.bought;
    own_used := period.used - period.overage_used;
    most_overage := period.overage_limit;
    period_ends_at := period.ends_at;

    select reserved into own_reservation from renders
    where account_id = of_account and id = of_render and finished_at is null
    for no key update;
    if not found then
        outcome := 'ended';
        return next;
        return;
    end if;

    if is_live then
        free := free_credits(period, reserved_credits(of_account) - own_reservation);
        if price > free then
            outcome := 'too_expensive';
            return next;
            return;
        end if;
        overage := greatest(price - greatest(own_credits - own_used, 0), 0);
        own_used_credits := own_used + price - overage;
        tell := exists (
            select from unnest(array[own_credits, (own_credits * 4 + 4) / 5]) as mark
            where own_used < mark and mark <= own_used_credits
        );
        if tell and not may_tell then
            outcome := 'to_be_told';
            return next;
            return;
        end if;
        update credit_periods set used = used + price, overage_used = overage_used + overage
        where account_id = of_account and starts_at = period.starts_at;
        if overage > 0 then
            -- What Stripe is to be told. Only customers may use anything beyond their credits.
            insert into overage_uses (render_id, customer_id, period_starts_at, credits, used_at)
            select of_render, id, period.starts_at, overage, at_time from stripe_customers where account_id = of_account;
        end if;
    end if;

    insert into usage_days (id, account_id, period_starts_at, day, meter, livemode, credits)
    values (usage_id, of_account, period.starts_at, (at_time at time zone 'UTC')::date, with_meter, is_live, price)
    on conflict (account_id, period_starts_at, day, meter, livemode)
    do update set credits = usage_days.credits + excluded.credits;
    outcome := 'charged';
    return next;
end
$$;

-- Lets an unfinished live render reserve its true price, so that its document may go where it can't be taken back from, if
-- so many credits are free. No row: as above.
create function reserve_price(of_account uuid, of_render uuid, price bigint, at_time timestamptz)
returns table (is_free boolean, free bigint, period_ends_at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    own_reservation bigint;
begin
    -- As above: a crash takes the render's document away as well.
    perform set_config('synchronous_commit', 'off', true);
    select * into period from credit_periods
    where account_id = of_account and starts_at <= at_time and ends_at > at_time
    for no key update;
    if not found then
        return;
    end if;
    select coalesce(sum(reserved), 0) into own_reservation from renders
    where account_id = of_account and id = of_render and finished_at is null;
    free := free_credits(period, reserved_credits(of_account) - own_reservation);
    is_free := price <= free;
    period_ends_at := period.ends_at;
    if is_free then
        update renders set reserved = price where account_id = of_account and id = of_render and finished_at is null;
    end if;
    return next;
end
$$;
