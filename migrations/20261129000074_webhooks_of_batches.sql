-- The webhook of a batch's request, which is notified of its end as endpoints are.
alter table batches
    -- Encrypted, and the URL for display.
    add column end_target bytea,
    add column end_address text,
    add constraint batches_end_target check ((end_target is null) = (end_address is null));

alter table webhook_deliveries
    -- Deliveries that belong to no endpoint have a target of their own.
    alter column endpoint_id drop not null,
    add column batch_id uuid,
    add column sealed_target bytea,
    add column address text,
    add constraint webhook_deliveries_batch_id_fkey foreign key (batch_id) references batches (id) on delete cascade,
    add constraint webhook_deliveries_target check (
        (endpoint_id is null) = (batch_id is not null)
        and (batch_id is null) = (sealed_target is null) and (batch_id is null) = (address is null)
    );
create index webhook_deliveries_batch_id on webhook_deliveries (batch_id, id desc) where batch_id is not null;
