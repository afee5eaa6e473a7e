-- Where a key may be used from, and for what.

alter table api_keys
    -- Networks in CIDR notation. Empty: from anywhere.
    add column allowed_networks text[] not null default '{}',
    -- Templates. Empty: all, and other content as well.
    add column allowed_templates uuid[] not null default '{}';
