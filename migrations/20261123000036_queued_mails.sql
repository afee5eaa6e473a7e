-- Mails become jobs, as all background work does. `mails` keeps what they say; its columns run_at, tries, claim,
-- lease_until, failed_at, last_error and given_up are only for processes of the previous release, and the next release
-- drops them.

alter table jobs
    -- Null: the job takes no turn among those of accounts, and no limit of an account applies.
    alter column account_id drop not null,
    alter column render_id drop not null,
    add column mail_id uuid,
    -- When mails fail for good, or are deleted, their jobs change in the same transaction.
    add constraint jobs_mail_id_fkey foreign key (mail_id) references mails (id) on delete cascade
        deferrable initially deferred,
    drop constraint jobs_kind_known,
    -- A job that has failed for good stays as a dead letter, with the run_at 'infinity'.
    add constraint jobs_subject check (
        case kind
            when 'render' then account_id is not null and render_id is not null
            when 'callback' then account_id is not null and render_id is not null
            when 'mail' then mail_id is not null
            else false
        end
    );

create unique index jobs_mail_id on jobs (mail_id) where mail_id is not null;

-- Adds the job of a new mail. Processes of the previous release take the mail for held, by a lease without end. They
-- finish the mails that they hold when the schema is migrated; those that they release are enqueued too.
create function enqueue_mail() returns trigger language plpgsql as $$
begin
    insert into jobs (id, kind, mail_id, priority, run_at, due, failures, failed_at, last_error)
    values (
        new.id, 'mail', new.id, 0, case when new.given_up then 'infinity' else new.run_at end,
        new.run_at <= now() and not new.given_up, new.tries, new.failed_at, new.last_error
    )
    on conflict (mail_id) where mail_id is not null do update
    set run_at = excluded.run_at, due = excluded.due, failures = excluded.failures, failed_at = excluded.failed_at,
        last_error = excluded.last_error
    where jobs.claim is null;
    new.claim := '00000000-0000-0000-0000-000000000000';
    new.lease_until := 'infinity';
    return new;
end
$$;

create trigger mails_enqueue
    before insert or update on mails
    for each row when (new.claim is null and new.kept is null) execute function enqueue_mail();

alter table mails alter column run_at set default now();

update mails set claim = null, lease_until = null where kept is null and (claim is null or lease_until < now());

-- Those that are being sent now, should their processes end over it.
insert into jobs (id, kind, mail_id, priority, run_at, due, failures, failed_at, last_error)
select id, 'mail', id, 0, lease_until, false, tries, failed_at, last_error from mails
where kept is null and lease_until < 'infinity';

create or replace view failed_work as
    select kind, coalesce(render_id, mail_id)::text as id,
        coalesce(
            jobs.account_id,
            (
                select members.account_id from members where members.user_id = mails.user_id
                order by members.inserted_at, members.account_id limit 1
            )
        ) as account_id,
        letter ->> 'kind' as about, split_part(recipient, '@', 2) as receiver, jobs.last_error as error,
        failures + crashes as tries, jobs.failed_at, nullif(jobs.run_at, 'infinity') as again_at,
        jobs.claim is not null as in_hand
    from jobs left join mails on mails.id = jobs.mail_id
    where jobs.failed_at is not null
    union all
    select 'callback', render_id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from callbacks where failed_at is not null
    union all
    select 'export', id::text, account_id, null, null, last_error, tries, failed_at,
        case when state = 'waiting' then run_at end, claim is not null and lease_until > now()
    from exports where failed_at is not null
    union all
    select 'customer', id, account_id, null, null, last_error, failures, failed_at,
        look_at, claim is not null and lease_until > now()
    from stripe_customers where failed_at is not null
    union all
    select 'usage', events.id::text, account_id, null, null, events.last_error, events.failures, events.failed_at,
        case when given_up_at is null then send_at end, events.claim is not null and events.lease_until > now()
    from stripe_meter_events events join stripe_customers on stripe_customers.id = events.customer_id
    where events.failed_at is not null;
