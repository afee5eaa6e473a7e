-- Rows that wait to be opened again, which are few: without an index of their own, they are looked for among all rows that are open.
-- Not concurrently: that would wait for other processes that start and wait for the migration.
create index batch_rows_again on batch_rows (batch_id, number) where state = 'again';
