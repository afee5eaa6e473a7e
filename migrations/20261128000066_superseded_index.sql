-- no-transaction
-- `renders_api_key_newest` replaces it. Concurrently: otherwise renders could be neither read nor written while this waits for a
-- long transaction, such as a dump. After the statements of the previous migration, it could even end in a deadlock.
drop index concurrently if exists renders_api_key_id;
