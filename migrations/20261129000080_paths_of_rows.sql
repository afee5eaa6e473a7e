-- Path of the delivered document of a row in a client's bucket, which outlives its render. Null: there is none, or a process of the previous
-- release has recorded the outcome, so that only the render has the path.
alter table batch_rows add column path text;
