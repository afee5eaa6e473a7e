-- In the order in which the end of a batch locks them.
lock table batches in share row exclusive mode;
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
