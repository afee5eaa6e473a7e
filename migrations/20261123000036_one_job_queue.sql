-- Mails, exports, synchronizations of customers and reports of usage become jobs, as all background work is. Their tables
-- keep their own data. The columns run_at, tries, claim, lease_until, failed_at, last_error and given_up of mails and exports,
-- and look_at, send_at, claim, lease_until, failures, failed_at and last_error of stripe_customers and
-- stripe_meter_events, are only for processes of the previous release, and the next release drops them.

alter table jobs
    -- Null: the job takes no turn among those of accounts, and no limit of an account applies.
    alter column account_id drop not null,
    alter column render_id drop not null,
    add column mail_id uuid,
    add column export_id uuid,
    add column customer_id text,
    add column meter_event_id uuid,
    -- When a subject changes or is deleted, its job changes in the same transaction.
    add constraint jobs_mail_id_fkey foreign key (mail_id) references mails (id) on delete cascade
        deferrable initially deferred,
    add constraint jobs_export_id_fkey foreign key (export_id) references exports (id) on delete cascade
        deferrable initially deferred,
    add constraint jobs_customer_id_fkey foreign key (customer_id) references stripe_customers (id) on delete cascade
        deferrable initially deferred,
    add constraint jobs_meter_event_id_fkey foreign key (meter_event_id) references stripe_meter_events (id)
        on delete cascade deferrable initially deferred,
    drop constraint jobs_kind_known,
    -- A job that has failed for good stays as a dead letter, with the run_at 'infinity'.
    add constraint jobs_subject check (
        case kind
            when 'render' then account_id is not null and render_id is not null
            when 'callback' then account_id is not null and render_id is not null
            when 'mail' then mail_id is not null
            when 'export' then export_id is not null
            when 'customer' then customer_id is not null
            when 'usage' then meter_event_id is not null
            else false
        end
    ),
    drop constraint jobs_claimed,
    -- A request or a command that holds a job has no instance; its claim ends with the lease.
    add constraint jobs_claimed check ((claim is null) = (lease_until is null) and (claim is not null or instance is null));

create unique index jobs_mail_id on jobs (mail_id) where mail_id is not null;
create unique index jobs_export_id on jobs (export_id) where export_id is not null;
create unique index jobs_customer_id on jobs (customer_id) where customer_id is not null;
create unique index jobs_meter_event_id on jobs (meter_event_id) where meter_event_id is not null;
-- Jobs without an account are claimed in this order.
create index jobs_waiting_alone on jobs (kind, run_at, id) where due and claim is null and account_id is null;

alter table mails alter column run_at set default now();
alter table exports alter column run_at set default now();
alter table stripe_meter_events alter column send_at set default now();

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

-- Makes the job of a customer due after an event and when its account was deleted. If a worker holds the job, it
-- notices the new revision. The rest is as in enqueue_mail.
create function enqueue_customer() returns trigger language plpgsql as $$
declare
    due_at timestamptz;
begin
    if tg_op = 'UPDATE' and (new.revision > old.revision or new.account_id is null and old.account_id is not null) then
        due_at := now();
    elsif new.claim is null or new.look_at is distinct from old.look_at then
        due_at := new.look_at;
    end if;
    if due_at is not null then
        insert into jobs (id, kind, customer_id, priority, run_at, due, failures, failed_at, last_error)
        values (
            gen_random_uuid(), 'customer', new.id, 0, due_at, due_at <= now(), new.failures, new.failed_at, new.last_error
        )
        on conflict (customer_id) where customer_id is not null do update
        set run_at = excluded.run_at, due = excluded.due, failures = excluded.failures,
            failed_at = coalesce(excluded.failed_at, jobs.failed_at),
            last_error = coalesce(excluded.last_error, jobs.last_error)
        where jobs.claim is null;
    end if;
    if new.claim is null then
        new.claim := '00000000-0000-0000-0000-000000000000';
        new.lease_until := 'infinity';
        new.failures := 0;
        new.failed_at := null;
        new.last_error := null;
    end if;
    return new;
end
$$;

create trigger stripe_customers_enqueue
    before insert or update on stripe_customers
    for each row execute function enqueue_customer();

-- As enqueue_mail. An event that was given up is a dead letter.
create function enqueue_meter_event() returns trigger language plpgsql as $$
begin
    insert into jobs (id, kind, meter_event_id, priority, run_at, due, failures, failed_at, last_error)
    values (
        new.id, 'usage', new.id, 0, case when new.given_up_at is null then new.send_at else 'infinity' end,
        new.send_at <= now() and new.given_up_at is null, new.failures, new.failed_at, new.last_error
    )
    on conflict (meter_event_id) where meter_event_id is not null do update
    set run_at = excluded.run_at, due = excluded.due, failures = excluded.failures, failed_at = excluded.failed_at,
        last_error = excluded.last_error
    where jobs.claim is null;
    new.claim := '00000000-0000-0000-0000-000000000000';
    new.lease_until := 'infinity';
    return new;
end
$$;

create trigger stripe_meter_events_enqueue
    before insert or update on stripe_meter_events
    for each row
    when (new.claim is null and new.sent_at is null and (new.given_up_at is null or new.failed_at is not null))
    execute function enqueue_meter_event();

-- What is enqueued already. The triggers add the jobs of rows that no process holds.

update mails set claim = null, lease_until = null where kept is null and (claim is null or lease_until < now());

-- Those that are being sent now, should their processes end over it.
insert into jobs (id, kind, mail_id, priority, run_at, due, failures, failed_at, last_error)
select id, 'mail', id, 0, lease_until, false, tries, failed_at, last_error from mails
where kept is null and lease_until < 'infinity';

update exports set claim = null, lease_until = null where claim is null or lease_until < now();

insert into jobs (id, kind, export_id, priority, run_at, due, failures, failed_at, last_error)
select id, 'export', id, 0, lease_until, false, tries, failed_at, last_error from exports
where state = 'waiting' and lease_until < 'infinity';

update stripe_customers set claim = null, lease_until = null where claim is null or lease_until < now();

insert into jobs (id, kind, customer_id, priority, run_at, due, failures, failed_at, last_error)
select gen_random_uuid(), 'customer', id, 0, lease_until, false, failures, failed_at, last_error from stripe_customers
where lease_until < 'infinity'
union all
-- Of deleted accounts.
select gen_random_uuid(), 'customer', id, 0, now(), true, failures, failed_at, last_error from stripe_customers
where account_id is null and look_at is null and lease_until = 'infinity';

update stripe_meter_events set claim = null, lease_until = null where claim is null or lease_until < now();

insert into jobs (id, kind, meter_event_id, priority, run_at, due, failures, failed_at, last_error)
select id, 'usage', id, 0, lease_until, false, failures, failed_at, last_error from stripe_meter_events
where sent_at is null and given_up_at is null and lease_until < 'infinity';

-- Returns the id of a job's subject.
create function job_subject(job jobs) returns text language sql immutable as $$
    select coalesce(
        job.render_id::text, job.mail_id::text, job.export_id::text, job.customer_id, job.meter_event_id::text
    )
$$;

create or replace view failed_work as
    select kind, job_subject(jobs) as id,
        coalesce(
            jobs.account_id, exports.account_id, customers.account_id,
            (
                select members.account_id from members where members.user_id = mails.user_id
                order by members.inserted_at, members.account_id limit 1
            )
        ) as account_id,
        letter ->> 'kind' as about, split_part(recipient, '@', 2) as receiver, jobs.last_error as error,
        jobs.failures + crashes as tries, jobs.failed_at, nullif(jobs.run_at, 'infinity') as again_at,
        jobs.claim is not null as in_hand
    from jobs
    left join mails on mails.id = jobs.mail_id
    left join exports on exports.id = jobs.export_id
    left join stripe_meter_events events on events.id = jobs.meter_event_id
    left join stripe_customers customers on customers.id in (jobs.customer_id, events.customer_id)
    where jobs.failed_at is not null
    union all
    select 'callback', render_id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from callbacks where failed_at is not null;
