-- When the failed rows of a batch were last opened again. From then on, it may take as long as a new batch. Null: never. Processes of the
-- previous release measure its age from its creation.
alter table batches add column retried_at timestamptz;
