-- As before, but events of rows of batches leave half of an endpoint's pending deliveries to others, and come after them, and there may
-- be twice as many when a batch ends, which a client may wait for. Jobs of failing endpoints still come after all others.
create or replace function publish_event(of_account uuid, event_type text, of_render uuid, event_data json)
returns void language plpgsql as $$
declare
    of_event uuid := time_ordered_uuid();
    is_of_batch boolean := of_render is not null and exists (select from batch_rows where render_id = of_render);
    most_pending bigint := case when is_of_batch then 2500 when event_type = 'batch.ended' then 10000 else 5000 end;
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
                offset most_pending - 1
            ) as is_full
        from receiving
    ),
    recorded as (
        insert into webhook_deliveries
            (id, account_id, endpoint_id, event_id, event, render_id, data, state, last_error, inserted_at)
        select delivery_id, of_account, endpoint_id, of_event, event_type, of_render, event_data,
            case when is_full then 'failed' else 'sending' end,
            case when is_full then
                'the endpoint already had ' || to_char(most_pending, 'FM99,999') || ' pending deliveries'
            end,
            now()
        from chosen
    )
    insert into jobs (id, account_id, kind, delivery_id, priority, run_at, due)
    select time_ordered_uuid(), of_account, 'delivery', delivery_id,
        case when failing_since is not null then 3 when is_of_batch then 2 else 0 end, now(), true
    from chosen where not is_full;
end
$$;
