-- An account may have thousands of batches that have ended, and at most twenty others.
create index batches_unfinished on batches (account_id) where ended_at is null;
create index batches_ended on batches (account_id, livemode, ended_at) where ended_at is not null;
