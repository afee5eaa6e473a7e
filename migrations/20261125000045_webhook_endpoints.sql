-- Webhook endpoints of accounts, deliveries of events to them, and notices of API keys that expire soon.

create table webhook_endpoints (
    id uuid not null,
    account_id uuid not null,
    -- The whole URL, which may contain secrets.
    sealed_url bytea not null,
    -- The URL without credentials, query and fragment.
    address text not null,
    description text not null,
    -- Types of the events that it receives.
    events text[] not null,
    -- Null: it receives events.
    disabled_at timestamptz,
    -- Whether the service disabled it, because its deliveries kept failing.
    disabled_by_service boolean not null default false,
    -- The first failed attempt since the last success. Null: the last attempt succeeded.
    failing_since timestamptz,
    inserted_at timestamptz not null,
    constraint webhook_endpoints_pkey primary key (id),
    constraint webhook_endpoints_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint webhook_endpoints_events_bounded check (cardinality(events) between 1 and 20),
    constraint webhook_endpoints_disabled check (disabled_at is not null or not disabled_by_service)
);

create index webhook_endpoints_account_id on webhook_endpoints (account_id);

create table webhook_deliveries (
    -- Receivers know the delivery by it. A UUID of version 7.
    id uuid not null,
    account_id uuid not null,
    endpoint_id uuid not null,
    -- The same in the deliveries of an event to several endpoints.
    event_id uuid not null,
    event text not null,
    -- Null: the event is not about a render.
    render_id uuid,
    -- Not `jsonb`: all attempts send the same bytes, with the members in this order.
    data json not null,
    state text not null,
    -- Of deliveries that were given up after their last attempt: see `callbacks`.
    failed_at timestamptz,
    last_error text,
    failures integer not null default 0,
    inserted_at timestamptz not null,
    constraint webhook_deliveries_pkey primary key (id),
    constraint webhook_deliveries_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint webhook_deliveries_endpoint_id_fkey
        foreign key (endpoint_id) references webhook_endpoints (id) on delete cascade,
    constraint webhook_deliveries_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint webhook_deliveries_state_known check (state in ('sending', 'delivered', 'failed'))
);

create index webhook_deliveries_account_newest on webhook_deliveries (account_id, id desc);
create index webhook_deliveries_account_undelivered on webhook_deliveries (account_id, state, id desc)
    where state <> 'delivered';
create index webhook_deliveries_endpoint_id on webhook_deliveries (endpoint_id, event, id desc);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id) where state = 'sending';
create index webhook_deliveries_render_id on webhook_deliveries (render_id) where render_id is not null;
create index webhook_deliveries_alone on webhook_deliveries (inserted_at) where render_id is null;
create index webhook_deliveries_failed_at on webhook_deliveries (failed_at) where failed_at is not null;

-- Attempts belong to the webhook of a render's request, or to a delivery to an endpoint.
alter table callback_attempts
    alter column render_id drop not null,
    add column delivery_id uuid,
    add constraint callback_attempts_delivery_id_fkey
        foreign key (delivery_id) references webhook_deliveries (id) on delete cascade,
    add constraint callback_attempts_subject check ((render_id is null) <> (delivery_id is null));

create index callback_attempts_delivery_id on callback_attempts (delivery_id, id) where delivery_id is not null;

alter table jobs
    add column delivery_id uuid,
    add constraint jobs_delivery_id_fkey foreign key (delivery_id) references webhook_deliveries (id) on delete cascade,
    drop constraint jobs_subject,
    add constraint jobs_subject check (
        case kind
            when 'render' then account_id is not null and render_id is not null
            when 'callback' then account_id is not null and render_id is not null
            when 'delivery' then account_id is not null and delivery_id is not null
            when 'mail' then mail_id is not null
            when 'export' then export_id is not null
            when 'customer' then customer_id is not null
            when 'usage' then meter_event_id is not null
            else false
        end
    );

create unique index jobs_delivery_id on jobs (delivery_id) where delivery_id is not null;

create or replace function job_subject(job jobs) returns text language sql immutable as $$
    select coalesce(
        job.render_id::text, job.mail_id::text, job.export_id::text, job.customer_id, job.meter_event_id::text,
        job.delivery_id::text
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
    from callbacks where failed_at is not null
    union all
    select 'delivery', id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from webhook_deliveries where failed_at is not null;

-- Returns a UUID of version 7 (RFC 9562, 5.7).
create function time_ordered_uuid() returns uuid language sql volatile as $$
    select encode(
        set_bit(
            set_bit(
                overlay(
                    uuid_send(gen_random_uuid())
                    placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                    from 1 for 6
                ),
                52, 1
            ),
            53, 1
        ),
        'hex'
    )::uuid
$$;

-- Enqueues an event for those of an account's endpoints that receive it, in the transaction of its cause. An endpoint with
-- 5,000 pending deliveries gets no further ones: they are recorded as stopped. Jobs of failing endpoints come after those of
-- the account's other endpoints.
create function publish_event(of_account uuid, event_type text, of_render uuid, event_data json)
returns void language plpgsql as $$
declare
    of_event uuid := time_ordered_uuid();
begin
    with receiving as (
        -- Locked, so that no endpoint is deleted before its deliveries are inserted, which would fail the cause.
        select id, failing_since from webhook_endpoints
        where account_id = of_account and disabled_at is null and event_type = any(events)
        for key share
    ),
    chosen as (
        select id as endpoint_id, failing_since, time_ordered_uuid() as delivery_id,
            exists (
                select from webhook_deliveries pending
                where pending.endpoint_id = receiving.id and pending.state = 'sending'
                offset 4999
            ) as is_full
        from receiving
    ),
    recorded as (
        insert into webhook_deliveries
            (id, account_id, endpoint_id, event_id, event, render_id, data, state, last_error, inserted_at)
        select delivery_id, of_account, endpoint_id, of_event, event_type, of_render, event_data,
            case when is_full then 'failed' else 'sending' end,
            case when is_full then 'the endpoint already had 5,000 pending deliveries' end, now()
        from chosen
    )
    insert into jobs (id, account_id, kind, delivery_id, priority, run_at, due)
    select time_ordered_uuid(), of_account, 'delivery', delivery_id,
        case when failing_since is null then 0 else 1 end, now(), true
    from chosen where not is_full;
end
$$;

-- Publishes the end of a render, however it ends, in the statement that records it.
create function publish_render_event() returns trigger language plpgsql as $$
declare
    event_type text := case when new.status = 'succeeded' then 'render.succeeded' else 'render.failed' end;
begin
    -- Few accounts have endpoints; for the others, this look-up is all that an event costs.
    if not exists (
        select from webhook_endpoints
        where account_id = new.account_id and disabled_at is null and event_type = any(events)
    ) then
        return null;
    end if;
    perform publish_event(
        new.account_id, event_type, new.id,
        case when new.status = 'succeeded' then
            json_build_object(
                'render_id', new.id, 'state', new.status, 'mode', new.mode, 'livemode', new.livemode,
                'page_count', new.page_count,
                -- Only documents in the default storage are public.
                'document_url', case when new.object_id is not null then new.result ->> 'mediaLink' end
            )
        else
            json_build_object(
                'render_id', new.id, 'state', new.status, 'mode', new.mode, 'livemode', new.livemode,
                'error', json_build_object(
                    'code', coalesce(
                        new.error ->> 'code', case when new.status = 'cancelled' then 'cancelled' else 'internal' end
                    ),
                    'message', coalesce(
                        new.error ->> 'message',
                        case when new.status = 'cancelled' then 'the render was cancelled' else 'internal error' end
                    ),
                    'pointer', new.error ->> 'pointer'
                )
            )
        end
    );
    return null;
end
$$;

create trigger renders_publish_event after update of finished_at on renders
    for each row when (old.finished_at is null and new.finished_at is not null)
    execute function publish_render_event();

alter table api_keys
    -- The expiry of which the account has been notified. Another expiry causes another notice.
    add column notified_of_expiry timestamptz;

create index api_keys_expiring on api_keys (expires_at)
    where expires_at is not null and revoked_at is null and replaced_at is null;
