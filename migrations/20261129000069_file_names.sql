-- Names of documents in the ZIP archive of a batch: the pattern, and the name of each row. Null: named by the number of the row.
alter table batches add column file_names text;
alter table batch_rows add column file_name text;
