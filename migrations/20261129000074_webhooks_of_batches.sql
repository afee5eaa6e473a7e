-- The webhook of a batch's request, which is notified of its end as endpoints are.
alter table batches
    -- Encrypted.
    add column webhook_target bytea,
    -- The URL for display.
    add column webhook_address text,
    add constraint batches_webhook check ((webhook_target is null) = (webhook_address is null));

alter table webhook_deliveries
    -- Deliveries to the webhook of a batch belong to no endpoint.
    alter column endpoint_id drop not null,
    add column batch_id uuid,
    add column webhook_target bytea,
    add column webhook_address text,
    -- Not valid: existing rows belong to endpoints, and need not be read.
    add constraint webhook_deliveries_batch_id_fkey
        foreign key (batch_id) references batches (id) on delete cascade not valid,
    add constraint webhook_deliveries_receiver check (
        (endpoint_id is null) = (batch_id is not null)
        and (batch_id is null) = (webhook_target is null) and (batch_id is null) = (webhook_address is null)
    ) not valid;
-- Reads all deliveries, about a second for a million.
create index webhook_deliveries_batch_id on webhook_deliveries (batch_id, id desc) where batch_id is not null;
