alter table api_keys
    -- When the key was rotated: another key has its name and replaces it. Null for keys that earlier releases have rotated.
    add column replaced_at timestamptz;
