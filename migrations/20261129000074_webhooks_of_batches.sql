-- The webhook of a batch's request, which is notified of its end as endpoints are.
alter table batches
    -- Encrypted.
    add column webhook_target bytea,
    -- The URL for display.
    add column webhook_address text,
    add constraint batches_webhook check ((webhook_target is null) = (webhook_address is null));
