-- What operators look after: work that fails, and what everybody is told.

-- In all of these: when it failed last, and why, in words for operators. Null: it has not failed, or nobody need look at it
-- any more.
alter table jobs
    add column failed_at timestamptz,
    add column last_error text;

-- Of those that were given up: before that, the job has failed.
alter table callbacks
    add column failed_at timestamptz,
    add column last_error text,
    -- How often it was tried in vain until it was given up.
    add column failures integer not null default 0;

alter table mails
    add column failed_at timestamptz,
    add column last_error text,
    -- It is not tried any more, and stays only to be looked at.
    add column given_up boolean not null default false;

alter table exports
    add column failed_at timestamptz,
    add column last_error text;

alter table stripe_customers
    add column failed_at timestamptz,
    add column last_error text;

update callbacks set failed_at = attempts.last_at, failures = attempts.count
from (
    select render_id, max(inserted_at) as last_at, count(*) as count from callback_attempts group by render_id
) attempts
where callbacks.render_id = attempts.render_id and callbacks.state = 'failed';

update exports set failed_at = finished_at where state = 'failed';

create index jobs_failed_at on jobs (failed_at) where failed_at is not null;
create index callbacks_failed_at on callbacks (failed_at) where failed_at is not null;
create index mails_failed_at on mails (failed_at) where failed_at is not null;
create index exports_failed_at on exports (failed_at) where failed_at is not null;
create index stripe_customers_failed_at on stripe_customers (failed_at) where failed_at is not null;

drop index mails_waiting;
create index mails_waiting on mails (run_at) where kept is null and not given_up;

-- All of it as one list. `about` is the word for what kind of mail it is, and `receiver` whose mail takes it.
create view failed_work as
    select kind, render_id::text as id, account_id, null::text as about, null::text as receiver, last_error as error,
        failures + crashes as tries, failed_at, run_at as again_at, claim is not null as in_hand
    from jobs where failed_at is not null
    union all
    select 'callback', render_id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from callbacks where failed_at is not null
    union all
    select 'mail', id::text,
        (
            select members.account_id from members where members.user_id = mails.user_id
            order by members.inserted_at, members.account_id limit 1
        ),
        letter ->> 'kind', split_part(recipient, '@', 2), last_error, tries, failed_at,
        case when not given_up then run_at end, claim is not null and lease_until > now()
    from mails where failed_at is not null
    union all
    select 'export', id::text, account_id, null, null, last_error, tries, failed_at,
        case when state = 'waiting' then run_at end, claim is not null and lease_until > now()
    from exports where failed_at is not null
    union all
    select 'customer', id, account_id, null, null, last_error, failures, failed_at,
        look_at, claim is not null and lease_until > now()
    from stripe_customers where failed_at is not null;

-- What operators tell everybody who works in the dashboard.
create table announcements (
    id uuid not null,
    words text not null,
    -- Where there is more to read. Both or neither.
    link text,
    link_words text,
    level text not null,
    starts_at timestamptz not null,
    -- Null: until somebody ends it.
    ends_at timestamptz,
    inserted_at timestamptz not null,
    constraint announcements_pkey primary key (id),
    constraint announcements_level_known check (level in ('information', 'warning')),
    constraint announcements_link check ((link is null) = (link_words is null)),
    constraint announcements_ends_later check (ends_at >= starts_at)
);

-- Who does not want to see which any more.
create table hidden_announcements (
    announcement_id uuid not null,
    user_id uuid not null,
    constraint hidden_announcements_pkey primary key (announcement_id, user_id),
    constraint hidden_announcements_announcement_id_fkey
        foreign key (announcement_id) references announcements (id) on delete cascade,
    constraint hidden_announcements_user_id_fkey foreign key (user_id) references users (id) on delete cascade
);

create index hidden_announcements_user_id on hidden_announcements (user_id);
