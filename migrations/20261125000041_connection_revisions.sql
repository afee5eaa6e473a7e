-- Settings and credentials of a storage connection can change. Processes keep its bucket open until the revision differs.
alter table connections add column revision integer not null default 1;
