-- Names of documents in the ZIP archive of a batch: the pattern, and the name of each row. Null: named by the number of the row.
-- `path_sha256` of a row with a name is the hash of the name in lower case.
alter table batches add column file_names text;
alter table batch_rows add column file_name text;
