alter table api_keys
    -- Address of the client at the last use, stored together with `last_used_at`.
    add column last_used_from inet;
