-- Exports become jobs. `exports` keeps their state; its columns run_at, tries, claim, lease_until, failed_at and
-- last_error are only for processes of the previous release, and the next release drops them.

alter table jobs
    add column export_id uuid,
    add constraint jobs_export_id_fkey foreign key (export_id) references exports (id) on delete cascade
        deferrable initially deferred,
    drop constraint jobs_subject,
    add constraint jobs_subject check (
        case kind
            when 'render' then account_id is not null and render_id is not null
            when 'callback' then account_id is not null and render_id is not null
            when 'mail' then mail_id is not null
            when 'export' then export_id is not null
            else false
        end
    );

create unique index jobs_export_id on jobs (export_id) where export_id is not null;

-- As enqueue_mail. An export that has failed is a dead letter.
create function enqueue_export() returns trigger language plpgsql as $$
begin
    insert into jobs (id, kind, export_id, priority, run_at, due, failures, failed_at, last_error)
    values (
        new.id, 'export', new.id, 0, case when new.state = 'failed' then 'infinity' else new.run_at end,
        new.run_at <= now() and new.state = 'waiting', new.tries, new.failed_at, new.last_error
    )
    on conflict (export_id) where export_id is not null do update
    set run_at = excluded.run_at, due = excluded.due, failures = excluded.failures, failed_at = excluded.failed_at,
        last_error = excluded.last_error
    where jobs.claim is null;
    new.claim := '00000000-0000-0000-0000-000000000000';
    new.lease_until := 'infinity';
    return new;
end
$$;

create trigger exports_enqueue
    before insert or update on exports
    for each row
    when (new.claim is null and (new.state = 'waiting' or new.state = 'failed' and new.failed_at is not null))
    execute function enqueue_export();

alter table exports alter column run_at set default now();

update exports set claim = null, lease_until = null where claim is null or lease_until < now();

insert into jobs (id, kind, export_id, priority, run_at, due, failures, failed_at, last_error)
select id, 'export', id, 0, lease_until, false, tries, failed_at, last_error from exports
where state = 'waiting' and lease_until < 'infinity';

create or replace view failed_work as
    select kind, coalesce(render_id, mail_id, export_id)::text as id,
        coalesce(
            jobs.account_id, exports.account_id,
            (
                select members.account_id from members where members.user_id = mails.user_id
                order by members.inserted_at, members.account_id limit 1
            )
        ) as account_id,
        letter ->> 'kind' as about, split_part(recipient, '@', 2) as receiver, jobs.last_error as error,
        failures + crashes as tries, jobs.failed_at, nullif(jobs.run_at, 'infinity') as again_at,
        jobs.claim is not null as in_hand
    from jobs
    left join mails on mails.id = jobs.mail_id
    left join exports on exports.id = jobs.export_id
    where jobs.failed_at is not null
    union all
    select 'callback', render_id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from callbacks where failed_at is not null
    union all
    select 'customer', id, account_id, null, null, last_error, failures, failed_at,
        look_at, claim is not null and lease_until > now()
    from stripe_customers where failed_at is not null
    union all
    select 'usage', events.id::text, account_id, null, null, events.last_error, events.failures, events.failed_at,
        case when given_up_at is null then send_at end, events.claim is not null and events.lease_until > now()
    from stripe_meter_events events join stripe_customers on stripe_customers.id = events.customer_id
    where events.failed_at is not null;
