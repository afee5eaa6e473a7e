-- Columns that become other members of the data: an object of paths of members by paths of columns. Those that are left out stay
-- as they are.
alter table batches
    add column columns jsonb not null default '{}',
    add constraint batches_columns_object check (jsonb_typeof(columns) = 'object');
