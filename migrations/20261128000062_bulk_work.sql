-- Work on many renders in few statements.

-- What transactions change in the storage of accounts is noted while they run, and applied at their end: once for each account,
-- in the order of their ids, so that transactions on several accounts can't deadlock. Notes are a setting of the transaction: by
-- account and resource, the change, and whether an increase is held against the account's bound. `set constraints` must not let
-- them be applied earlier.
create function note_storage(of_account uuid, is_claim boolean, changes jsonb) returns void language plpgsql as $$
declare
    notes jsonb := coalesce(nullif(current_setting('platen.storage', true), ''), '{}')::jsonb;
    noted jsonb := coalesce(notes -> of_account::text, '{}');
    kind text := case when is_claim then 'claim' else 'add' end;
    of_kind jsonb := coalesce(noted -> kind, '{}');
    change record;
begin
    for change in select key, value::bigint as amount from jsonb_each_text(changes) loop
        of_kind := of_kind || jsonb_build_object(change.key, coalesce((of_kind ->> change.key)::bigint, 0) + change.amount);
    end loop;
    notes := notes || jsonb_build_object(of_account, noted || jsonb_build_object(kind, of_kind));
    perform set_config('platen.storage', notes::text, true);
end
$$;

-- Applies the notes. Each row that caused one calls this at the end of the transaction; the first call does it.
create function apply_storage_notes() returns trigger language plpgsql as $$
declare
    notes text := current_setting('platen.storage', true);
    noted record;
begin
    if coalesce(notes, '') = '' then
        return null;
    end if;
    perform set_config('platen.storage', '', true);
    for noted in select key::uuid as account_id, value as changes from jsonb_each(notes::jsonb) order by key::uuid loop
        if noted.changes ? 'add' then
            perform add_storage(noted.account_id, noted.changes -> 'add');
        end if;
        if noted.changes ? 'claim' then
            perform claim_storage(noted.account_id, noted.changes -> 'claim');
        end if;
    end loop;
    return null;
end
$$;

-- Rows that a statement has inserted or deleted.
create function note_render_contents() returns trigger language plpgsql as $$
declare
    sign integer := case when tg_op = 'INSERT' then 1 else -1 end;
    changed record;
begin
    for changed in
        select account_id, retained, sign * count(*) as renders, sign * sum(octet_length(sealed)) as bytes
        from changed_rows group by account_id, retained
    loop
        perform note_storage(
            changed.account_id, tg_op = 'INSERT' and not changed.retained,
            case when changed.retained then jsonb_build_object('retained_bytes', changed.bytes)
            else jsonb_build_object('queued_renders', changed.renders, 'queued_bytes', changed.bytes) end
        );
    end loop;
    return null;
end
$$;

create function note_retained_render_content() returns trigger language plpgsql as $$
begin
    perform note_storage(
        new.account_id, false,
        jsonb_build_object(
            'queued_renders', -1, 'queued_bytes', -octet_length(new.sealed), 'retained_bytes', octet_length(new.sealed)
        )
    );
    return null;
end
$$;

drop trigger render_contents_count_new on render_contents;
drop trigger render_contents_count_retained on render_contents;
drop trigger render_contents_count_gone on render_contents;
drop function count_render_content();

create trigger render_contents_note_new after insert on render_contents
    referencing new table as changed_rows for each statement execute function note_render_contents();
create trigger render_contents_note_retained after update of retained on render_contents
    for each row when (new.retained and not old.retained) execute function note_retained_render_content();
create trigger render_contents_note_gone after delete on render_contents
    referencing old table as changed_rows for each statement execute function note_render_contents();
create constraint trigger render_contents_apply_notes after insert or update of retained or delete on render_contents
    deferrable initially deferred for each row execute function apply_storage_notes();

-- Also counts what this transaction has retained already.
create or replace function retain_render_content() returns trigger language plpgsql as $$
begin
    if (select keep_content from accounts where id = new.account_id) then
        -- Prevents renders that end concurrently from claiming the same room.
        perform from account_storage where account_id = new.account_id for no key update;
        update render_contents set retained = true
        from account_storage storage join account_limits limits using (account_id)
        where render_id = new.id and storage.account_id = new.account_id
            and coalesce((storage.used ->> 'retained_bytes')::bigint, 0) + octet_length(sealed)
                + coalesce(
                    (nullif(current_setting('platen.storage', true), '')::jsonb
                        -> new.account_id::text -> 'add' ->> 'retained_bytes')::bigint,
                    0
                )
                <= (limits.storage_limits ->> 'retained_bytes')::bigint;
        if found then
            return null;
        end if;
    end if;
    delete from render_contents where render_id = new.id;
    return null;
end
$$;

-- Rows that a statement has inserted or deleted. All new ones are pending.
create function note_callbacks() returns trigger language plpgsql as $$
declare
    sign integer := case when tg_op = 'INSERT' then 1 else -1 end;
begin
    perform note_storage(account_id, tg_op = 'INSERT', jsonb_build_object('pending_callbacks', sign * count(*)))
    from changed_rows where tg_op = 'INSERT' or state in ('waiting', 'sending') group by account_id;
    return null;
end
$$;

-- The argument is 1 or -1.
create function note_callback() returns trigger language plpgsql as $$
begin
    perform note_storage(new.account_id, false, jsonb_build_object('pending_callbacks', tg_argv[0]::integer));
    return null;
end
$$;

drop trigger callbacks_count_new on callbacks;
drop trigger callbacks_count_ended on callbacks;
drop trigger callbacks_count_again on callbacks;
drop trigger callbacks_count_gone on callbacks;

create trigger callbacks_note_new after insert on callbacks
    referencing new table as changed_rows for each statement execute function note_callbacks();
create trigger callbacks_note_ended after update of state on callbacks
    for each row
    when (old.state in ('waiting', 'sending') and new.state in ('delivered', 'failed')) execute function note_callback('-1');
create trigger callbacks_note_again after update of state on callbacks
    for each row
    when (old.state in ('delivered', 'failed') and new.state in ('waiting', 'sending')) execute function note_callback('1');
create trigger callbacks_note_gone after delete on callbacks
    referencing old table as changed_rows for each statement execute function note_callbacks();
create constraint trigger callbacks_apply_notes after insert or update of state or delete on callbacks
    deferrable initially deferred for each row execute function apply_storage_notes();

create function note_document() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and new.object_expires_at is not null then
        perform note_storage(new.account_id, true, jsonb_build_object('document_bytes', coalesce(new.bytes, 0)));
    else
        perform note_storage(old.account_id, false, jsonb_build_object('document_bytes', -coalesce(old.bytes, 0)));
    end if;
    return null;
end
$$;

drop trigger renders_count_document on renders;
drop trigger renders_count_document_gone on renders;
drop function count_document();

create trigger renders_note_document after update of object_expires_at on renders
    for each row when ((old.object_expires_at is null) <> (new.object_expires_at is null)) execute function note_document();
create trigger renders_note_document_gone after delete on renders
    for each row when (old.object_expires_at is not null) execute function note_document();
create constraint trigger renders_apply_notes after update of object_expires_at on renders
    deferrable initially deferred for each row
    when ((old.object_expires_at is null) <> (new.object_expires_at is null)) execute function apply_storage_notes();
create constraint trigger renders_apply_notes_gone after delete on renders
    deferrable initially deferred for each row when (old.object_expires_at is not null)
    execute function apply_storage_notes();

-- Logs of renders, as before.
create or replace function count_render_log() returns trigger language plpgsql as $$
begin
    perform note_storage(
        old.account_id, false,
        jsonb_build_object(
            'retained_bytes', case when tg_op = 'UPDATE' then render_log_bytes(new) else 0 end - render_log_bytes(old)
        )
    );
    return null;
end
$$;

drop trigger renders_count_log on renders;
drop trigger renders_count_log_gone on renders;
create trigger renders_note_log after update of requests, console on renders
    for each row when (old.requests <> new.requests or old.console <> new.console) execute function count_render_log();
create trigger renders_note_log_gone after delete on renders
    for each row when (old.requests <> '[]' or old.console <> '[]') execute function count_render_log();
create constraint trigger renders_apply_log_notes after update of requests, console on renders
    deferrable initially deferred for each row
    when (old.requests <> new.requests or old.console <> new.console) execute function apply_storage_notes();
create constraint trigger renders_apply_log_notes_gone after delete on renders
    deferrable initially deferred for each row
    when (old.requests <> '[]' or old.console <> '[]') execute function apply_storage_notes();

-- Reservations of renders that are opened by one statement are added together.
create function reserve_credits_of_new() returns trigger language plpgsql as $$
begin
    insert into credit_reservations (account_id, credits)
    select account_id, sum(reserved) from new_rows
    where livemode and finished_at is null and reserved > 0
    group by account_id order by account_id
    on conflict (account_id) do update set credits = credit_reservations.credits + excluded.credits;
    -- After the account's row, which every transaction that holds a counter's holds as well: they can't deadlock.
    update key_credit_counters counters set reserved = counters.reserved + added.credits
    from (
        select credit_counter_id, sum(reserved) as credits from new_rows
        where livemode and finished_at is null and credit_counter_id is not null
        group by credit_counter_id
    ) added
    where counters.id = added.credit_counter_id;
    return null;
end
$$;

drop trigger renders_reserve_credits on renders;
create trigger renders_reserve_credits after delete or update of finished_at, reserved on renders
    for each row execute function reserve_credits();
create trigger renders_reserve_credits_of_new after insert on renders
    referencing new table as new_rows for each statement execute function reserve_credits_of_new();

-- Charges for renders that are to end as succeeded in the same statement, and returns their ids. Others are left to
-- `charge_render`: those of accounts without a period, those with which the account's own credits, or four fifths of them,
-- end, and those whose key has a limit. Either all of an account are charged, or none. Locks all accounts in the order of their
-- ids, and fails rather than wait long for one of them, because the others would wait as well.
create function charge_renders(account_ids uuid[], render_ids uuid[], prices bigint[], with_meter text, at_time timestamptz)
returns setof uuid language plpgsql as $$
declare
    of_account uuid;
    period credit_periods;
    charged uuid[];
    is_limited boolean;
    is_simple boolean;
    live_price bigint;
    test_price bigint;
    own_reservations bigint;
    own_credits bigint;
    own_used bigint;
begin
    perform set_config('lock_timeout', '100ms', true);
    for of_account in select distinct id from unnest(account_ids) as account (id) order by id loop
        select * into period from credit_periods
        where account_id = of_account and starts_at <= at_time and ends_at > at_time
        for no key update;
        continue when not found;
        with locked as materialized (
            select opened.id, opened.livemode, opened.reserved, opened.api_key_id, wanted.price
            from unnest(account_ids, render_ids, prices) as wanted (account_id, id, price)
            join renders opened on opened.account_id = wanted.account_id and opened.id = wanted.id
            where wanted.account_id = of_account and opened.finished_at is null
            order by opened.id
            for no key update of opened
        )
        select array_agg(locked.id), coalesce(sum(price) filter (where livemode), 0),
            coalesce(sum(price) filter (where not livemode), 0), coalesce(sum(reserved) filter (where livemode), 0),
            coalesce(bool_or(exists (select from api_keys where id = locked.api_key_id and credit_limit is not null)), false)
        into charged, live_price, test_price, own_reservations, is_limited
        from locked;
        own_credits := period.allowance + period.granted + period.bought;
        own_used := period.used - period.overage_used;
        is_simple := live_price = 0 or (
            not is_limited
            and own_used + live_price < own_credits
            and (own_used >= (own_credits * 4 + 4) / 5 or own_used + live_price < (own_credits * 4 + 4) / 5)
            and live_price <= free_credits(period, reserved_credits(of_account) - own_reservations)
        );
        continue when charged is null or not is_simple;
        -- What ends the renders changes these, account by account in another order.
        perform from credit_reservations where account_id = of_account for no key update;
        perform from account_storage where account_id = of_account for no key update;
        if live_price > 0 then
            update credit_periods set used = used + live_price
            where account_id = of_account and starts_at = period.starts_at;
        end if;
        insert into usage_days (id, account_id, period_starts_at, day, meter, livemode, credits)
        select time_ordered_uuid(), of_account, period.starts_at, (at_time at time zone 'UTC')::date, with_meter, is_live, credits
        from (values (true, live_price), (false, test_price)) as used (is_live, credits)
        where credits > 0
        on conflict (account_id, period_starts_at, day, meter, livemode)
        do update set credits = usage_days.credits + excluded.credits;
        return query select unnest(charged);
    end loop;
end
$$;

-- How many queued renders with a key may begin of the `wanted` ones; each reserves one credit, those of test keys none. No row: the
-- account has no period yet at that time.
create function may_open_renders(of_account uuid, of_key uuid, is_live boolean, at_time timestamptz, wanted integer)
returns table (
    allowed integer,
    total_credits bigint,
    used_credits bigint,
    reserved bigint,
    period_ends_at timestamptz,
    -- The counter that has the reservations. Null if the key has no limit.
    counter_id uuid,
    -- The key's limit, if that is why fewer are allowed.
    exceeded_limit bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    period credit_periods;
    limit_of_key bigint;
    free_of_key bigint;
begin
    if not is_live then
        return query select wanted, 0::bigint, 0::bigint, 0::bigint, at_time, null::uuid, null::bigint;
        return;
    end if;
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
    allowed := least(wanted, free_credits(period, reserved));
    select keys.credit_limit, keys.credit_counter_id into limit_of_key, counter_id
    from api_keys keys
    where keys.account_id = of_account and keys.id = of_key and keys.credit_limit is not null;
    if limit_of_key is not null then
        free_of_key := free_key_credits(counter_id, limit_of_key, period.starts_at);
        if free_of_key < allowed then
            allowed := free_of_key;
            exceeded_limit := limit_of_key;
        end if;
    end if;
    return next;
end
$$;

-- One render is decided like several.
create or replace function may_open_render(
    of_account uuid,
    of_key uuid,
    is_live boolean,
    at_time timestamptz,
    is_volatile boolean
) returns table (
    is_free boolean,
    total_credits bigint,
    used_credits bigint,
    reserved bigint,
    period_ends_at timestamptz,
    counter_id uuid,
    exceeded_limit bigint
) language plpgsql as $$
begin
    if is_volatile then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    return query
    select decided.allowed >= 1, decided.total_credits, decided.used_credits, decided.reserved, decided.period_ends_at,
        decided.counter_id, decided.exceeded_limit
    from may_open_renders(of_account, of_key, is_live, at_time, 1) decided;
end
$$;

-- One index on the render of a job instead of two.
create unique index jobs_render_id_kind on jobs (render_id, kind);
alter table jobs drop constraint jobs_kind_render_id_key;
drop index jobs_render_id;

-- Rows of the queue are short-lived: dead ones are removed before scans of its indexes meet many of them.
alter table jobs set (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
alter table batch_rows set (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0
);
-- Counters of accounts are updated all the time.
alter table credit_periods set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table credit_reservations set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table usage_days set (fillfactor = 50);
alter table account_storage set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
