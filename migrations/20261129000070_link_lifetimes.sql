alter table plans
    -- Lifetime of links to documents in seconds, unless the account or the request chooses another.
    add column link_seconds integer not null default 86400,
    add constraint plans_link_seconds_sane check (link_seconds between 60 and 1209600);
