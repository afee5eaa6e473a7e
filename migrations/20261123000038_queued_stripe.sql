-- Synchronizations of customers and reports of usage become jobs. The columns look_at, send_at, claim, lease_until,
-- failures, failed_at and last_error of stripe_customers and stripe_meter_events are only for processes of the previous
-- release, and the next release drops them.

alter table jobs
    add column customer_id text,
    add column meter_event_id uuid,
    add constraint jobs_customer_id_fkey foreign key (customer_id) references stripe_customers (id) on delete cascade
        deferrable initially deferred,
    add constraint jobs_meter_event_id_fkey foreign key (meter_event_id) references stripe_meter_events (id)
        on delete cascade deferrable initially deferred,
    drop constraint jobs_subject,
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

create unique index jobs_customer_id on jobs (customer_id) where customer_id is not null;
create unique index jobs_meter_event_id on jobs (meter_event_id) where meter_event_id is not null;
-- Jobs without an account are claimed in this order.
create index jobs_waiting_alone on jobs (kind, run_at, id) where due and claim is null and account_id is null;

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

update stripe_customers set claim = null, lease_until = null where claim is null or lease_until < now();

insert into jobs (id, kind, customer_id, priority, run_at, due, failures, failed_at, last_error)
select gen_random_uuid(), 'customer', id, 0, lease_until, false, failures, failed_at, last_error from stripe_customers
where lease_until < 'infinity'
union all
-- Of deleted accounts.
select gen_random_uuid(), 'customer', id, 0, now(), true, failures, failed_at, last_error from stripe_customers
where account_id is null and look_at is null and lease_until = 'infinity';

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

alter table stripe_meter_events alter column send_at set default now();

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
