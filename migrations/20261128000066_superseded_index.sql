-- `renders_api_key_newest` replaces it. On its own: after the statements of the previous migration, it would wait for
-- transactions that have read renders, and they for it once they write.
drop index renders_api_key_id;
