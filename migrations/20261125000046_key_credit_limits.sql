-- Limits of the credits that the renders of an API key may use in a period of their account. They are decided where the
-- account's credits are, under the lock of the period. Keys without a limit have no rows here.

-- Shared by a key and those that it has replaced: rotation continues the count.
create table key_credit_counters (
    id uuid not null,
    account_id uuid not null,
    -- Credits that unfinished renders reserve. A trigger maintains them.
    reserved bigint not null default 0,
    constraint key_credit_counters_pkey primary key (id),
    constraint key_credit_counters_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade,
    constraint key_credit_counters_sane check (reserved >= 0)
);

create index key_credit_counters_account_id on key_credit_counters (account_id);

-- Credits charged in each period, while the key had a limit or before it got one.
create table key_credit_usage (
    counter_id uuid not null,
    account_id uuid not null,
    period_starts_at timestamptz not null,
    used bigint not null,
    constraint key_credit_usage_pkey primary key (counter_id, period_starts_at),
    constraint key_credit_usage_counter_id_fkey
        foreign key (counter_id) references key_credit_counters (id) on delete cascade,
    constraint key_credit_usage_period_fkey foreign key (account_id, period_starts_at)
        references credit_periods (account_id, starts_at) on delete cascade,
    constraint key_credit_usage_sane check (used >= 0)
);

create index key_credit_usage_period on key_credit_usage (account_id, period_starts_at);

alter table api_keys
    -- Credits that the key may use in each period. Null: as many as the account has.
    add column credit_limit bigint,
    -- Stays when the limit is removed.
    add column credit_counter_id uuid,
    add constraint api_keys_credit_counter_id_fkey foreign key (credit_counter_id) references key_credit_counters (id),
    -- Test keys are not charged.
    add constraint api_keys_credit_limit_sane check (
        credit_limit is null or (credit_limit between 1 and 1000000000 and livemode and credit_counter_id is not null)
    );

create index api_keys_credit_counter_id on api_keys (credit_counter_id) where credit_counter_id is not null;

alter table renders
    -- The counter that has the render's reservation, if its key had a limit when it was opened. It may be gone since.
    add column credit_counter_id uuid;

create function delete_key_credit_counter() returns trigger language plpgsql as $$
begin
    delete from key_credit_counters
    where id = old.credit_counter_id
        and not exists (select from api_keys where credit_counter_id = old.credit_counter_id);
    return null;
end
$$;

create trigger api_keys_delete_credit_counter
    after delete on api_keys
    for each row when (old.credit_counter_id is not null) execute function delete_key_credit_counter();

create or replace function reserve_credits() returns trigger language plpgsql as $$
declare
    before integer := 0;
    after integer := 0;
    counter uuid;
begin
    if tg_op <> 'INSERT' then
        counter := old.credit_counter_id;
        if old.livemode and old.finished_at is null then
            before := old.reserved;
        end if;
    end if;
    if tg_op <> 'DELETE' then
        counter := new.credit_counter_id;
        if new.livemode and new.finished_at is null then
            after := new.reserved;
        end if;
    end if;
    if after > before then
        insert into credit_reservations (account_id, credits) values (new.account_id, after - before)
        on conflict (account_id) do update set credits = credit_reservations.credits + excluded.credits;
    elsif after < before then
        update credit_reservations set credits = credits + after - before where account_id = old.account_id;
    end if;
    -- After the account's row, which every transaction that holds a counter's holds as well: they can't deadlock.
    if after <> before and counter is not null then
        update key_credit_counters set reserved = reserved + after - before where id = counter;
    end if;
    return null;
end
$$;

-- The credits that may be used under a limit in a period, besides those that are charged or reserved.
create function free_key_credits(counter uuid, credit_limit bigint, period_start timestamptz)
returns bigint language plpgsql volatile as $$
begin
    return greatest(
        credit_limit
            - coalesce(
                (select usage.used from key_credit_usage usage
                 where usage.counter_id = counter and usage.period_starts_at = period_start),
                0
            )
            - coalesce((select counters.reserved from key_credit_counters counters where counters.id = counter), 0),
        0
    );
end
$$;

-- Replaces the function without `of_key`, which knows no limits of keys and stays for processes of the previous release.
create function may_open_render(
    of_account uuid,
    -- Null for renders without a key.
    of_key uuid,
    is_live boolean,
    at_time timestamptz,
    -- The commit does not wait for the disk: the row is worth nothing once the database has crashed.
    is_volatile boolean
) returns table (
    is_free boolean,
    total_credits bigint,
    used_credits bigint,
    reserved bigint,
    period_ends_at timestamptz,
    -- The counter that has the render's reservation. Null if the key has no limit.
    counter_id uuid,
    -- The key's limit, if that is why the render is refused.
    exceeded_limit bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    limit_of_key bigint;
begin
    if is_volatile then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    if not is_live then
        return query select true, 0::bigint, 0::bigint, 0::bigint, at_time, null::uuid, null::bigint;
        return;
    end if;
    -- Not `for update`: rows of `usage_days` refer to it.
    select * into period from credit_periods
    where account_id = of_account and starts_at <= at_time and ends_at > at_time
    for no key update;
    if not found then
        return;
    end if;
    total_credits := period.allowance + period.granted + period.bought + period.overage_limit;
    used_credits := period.used;
    reserved := reserved_credits(of_account);
    period_ends_at := period.ends_at;
    is_free := free_credits(period, reserved) >= 1;
    select keys.credit_limit, keys.credit_counter_id into limit_of_key, counter_id
    from api_keys keys
    where keys.account_id = of_account and keys.id = of_key and keys.credit_limit is not null;
    if is_free and limit_of_key is not null and free_key_credits(counter_id, limit_of_key, period.starts_at) < 1 then
        is_free := false;
        exceeded_limit := limit_of_key;
    end if;
    return next;
end
$$;

-- Charges for a render, like the function with `is_live`, which this replaces. Another outcome:
--   over_key_limit  it costs more than `free`, the rest of its key's limit: nothing is charged
create function charge_render(
    of_account uuid,
    of_render uuid,
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
    period_ends_at timestamptz,
    -- The render's key and its limit, if that is why nothing is charged.
    key_id uuid,
    exceeded_limit bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    is_live boolean;
    own_reservation bigint;
    reserving_counter uuid;
    of_key uuid;
    limit_of_key bigint;
    counter uuid;
    free_of_key bigint;
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

    select renders.livemode, renders.reserved, renders.credit_counter_id, keys.id, keys.credit_limit, keys.credit_counter_id
    into is_live, own_reservation, reserving_counter, of_key, limit_of_key, counter
    from renders left join api_keys keys on keys.id = renders.api_key_id
    where renders.account_id = of_account and renders.id = of_render and renders.finished_at is null
    for no key update of renders;
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
        if limit_of_key is not null then
            -- The render's own reservation counts as free, unless it was opened before there was a limit.
            free_of_key := free_key_credits(
                counter,
                limit_of_key + case when reserving_counter = counter then own_reservation else 0 end,
                period.starts_at
            );
            if price > free_of_key then
                outcome := 'over_key_limit';
                free := free_of_key;
                key_id := of_key;
                exceeded_limit := limit_of_key;
                return next;
                return;
            end if;
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
        if limit_of_key is not null then
            insert into key_credit_usage (counter_id, account_id, period_starts_at, used)
            values (counter, of_account, period.starts_at, price)
            on conflict (counter_id, period_starts_at) do update set used = key_credit_usage.used + excluded.used;
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

-- For processes of the previous release, which name no limits of keys in their errors.
create or replace function charge_render(
    of_account uuid,
    of_render uuid,
    is_live boolean,
    with_meter text,
    price bigint,
    at_time timestamptz,
    usage_id uuid,
    may_tell boolean
) returns table (
    outcome text,
    free bigint,
    tell boolean,
    own_credits bigint,
    own_used_credits bigint,
    most_overage bigint,
    period_ends_at timestamptz
) language plpgsql as $$
begin
    return query
    select case charged.outcome when 'over_key_limit' then 'too_expensive' else charged.outcome end, charged.free,
        charged.tell, charged.own_credits, charged.own_used_credits, charged.most_overage, charged.period_ends_at
    from charge_render(of_account, of_render, with_meter, price, at_time, usage_id, may_tell) charged;
end
$$;

-- Lets an unfinished live render reserve its true price, so that its document may go where it can't be taken back from, if
-- so many credits are free. No row: the account has no period yet at that time.
create function reserve_render_price(of_account uuid, of_render uuid, price bigint, at_time timestamptz)
returns table (
    is_free boolean,
    free bigint,
    period_ends_at timestamptz,
    -- The render's key and its limit, if that is why the price is refused.
    key_id uuid,
    exceeded_limit bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    own_reservation bigint := 0;
    reserving_counter uuid;
    of_key uuid;
    limit_of_key bigint;
    counter uuid;
    free_of_key bigint;
begin
    -- As above: a crash takes the render's document away as well.
    perform set_config('synchronous_commit', 'off', true);
    select * into period from credit_periods
    where account_id = of_account and starts_at <= at_time and ends_at > at_time
    for no key update;
    if not found then
        return;
    end if;
    select renders.reserved, renders.credit_counter_id, keys.id, keys.credit_limit, keys.credit_counter_id
    into own_reservation, reserving_counter, of_key, limit_of_key, counter
    from renders left join api_keys keys on keys.id = renders.api_key_id
    where renders.account_id = of_account and renders.id = of_render and renders.finished_at is null;
    free := free_credits(period, reserved_credits(of_account) - coalesce(own_reservation, 0));
    is_free := price <= free;
    period_ends_at := period.ends_at;
    if is_free and limit_of_key is not null then
        free_of_key := free_key_credits(
            counter,
            limit_of_key + case when reserving_counter = counter then own_reservation else 0 end,
            period.starts_at
        );
        if price > free_of_key then
            is_free := false;
            free := free_of_key;
            key_id := of_key;
            exceeded_limit := limit_of_key;
        end if;
    end if;
    if is_free then
        update renders set reserved = price where account_id = of_account and id = of_render and finished_at is null;
    end if;
    return next;
end
$$;

create or replace function reserve_price(of_account uuid, of_render uuid, price bigint, at_time timestamptz)
returns table (is_free boolean, free bigint, period_ends_at timestamptz) language plpgsql as $$
begin
    return query
    select reserved.is_free, reserved.free, reserved.period_ends_at
    from reserve_render_price(of_account, of_render, price, at_time) reserved;
end
$$;
