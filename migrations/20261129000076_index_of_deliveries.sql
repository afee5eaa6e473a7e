-- Reads all deliveries, about a second for a million, while none is written.
create index webhook_deliveries_batch_id on webhook_deliveries (batch_id, id desc) where batch_id is not null;
