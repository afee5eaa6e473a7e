-- Lists that cost the same however many renders an account has had. Renders can't be written until this migration ends.

-- Renders of a key, newest first. A key may have few among millions of its account.
create index renders_api_key_newest on renders (api_key_id, inserted_at desc, id desc);
-- Test renders are rare in most accounts, and looked for.
create index renders_account_test on renders (account_id, inserted_at desc, id desc) where not livemode;
