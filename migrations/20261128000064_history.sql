-- Figures that cost the same however many renders an account has had. The next migration adds the indexes of lists, which blocks writes
-- to `renders`.

-- Renders of an account by the hour (UTC) in which they were accepted. An hour has rows once all its renders have ended, one for
-- each key, and never changes again. Figures of other hours are counted in `renders`.
create table render_hours (
    account_id uuid not null,
    hour timestamptz not null,
    -- Null: a user's, or that of a key that had been deleted. The key may be deleted later.
    api_key_id uuid,
    succeeded integer not null,
    failed integer not null,
    constraint render_hours_key unique nulls not distinct (account_id, hour, api_key_id),
    constraint render_hours_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
);

insert into render_hours (account_id, hour, api_key_id, succeeded, failed)
select account_id, date_trunc('hour', inserted_at, 'UTC'), api_key_id,
    count(*) filter (where status = 'succeeded'), count(*) filter (where status = 'failed')
from renders
where inserted_at < date_trunc('hour', now(), 'UTC') - interval '1 hour'
    and (account_id, date_trunc('hour', inserted_at, 'UTC')) not in (
        select account_id, date_trunc('hour', inserted_at, 'UTC') from renders where status in ('queued', 'processing')
    )
group by 1, 2, 3;

-- Ended renders of an account from `since` until before `until`, of all keys or of one, by hour (UTC). Hours without renders may be
-- missing.
create function count_by_hour(of_account uuid, of_key uuid, since timestamptz, until timestamptz)
returns table (hour timestamptz, succeeded bigint, failed bigint) language sql stable as $$
    with hours as (
        select starts_at,
            starts_at >= since and starts_at + interval '1 hour' <= until and exists (
                select from render_hours where account_id = of_account and render_hours.hour = starts_at
            ) as is_counted
        from generate_series(date_trunc('hour', since, 'UTC'), until, interval '1 hour') as hours (starts_at)
    )
    select hours.starts_at, counts.succeeded, counts.failed
    from hours
    cross join lateral (
        select sum(render_hours.succeeded) as succeeded, sum(render_hours.failed) as failed
        from render_hours
        where is_counted and account_id = of_account and render_hours.hour = starts_at
            and (of_key is null or api_key_id = of_key)
        having count(*) > 0
        union all
        select count(*) filter (where status = 'succeeded'), count(*) filter (where status = 'failed')
        from renders
        where not is_counted and account_id = of_account
            and inserted_at >= greatest(starts_at, since) and inserted_at < least(starts_at + interval '1 hour', until)
            and (of_key is null or api_key_id = of_key)
        having count(*) > 0
    ) counts
$$;
