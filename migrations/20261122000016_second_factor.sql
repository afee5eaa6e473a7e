-- The second factor of people, and the browsers that they have logged in with.

create table second_factors (
    user_id uuid not null,
    -- Wraps what is sealed here: it is a user's, and no account's data key fits.
    secret_key_id text not null,
    -- The secret that an app shares with us, sealed for this user.
    sealed_secret bytea not null,
    -- Null while it is being set up: no code of the app has been seen.
    turned_on_at timestamptz,
    -- The step (30 seconds each, since 1970) of the last code that was taken. Each counts once.
    last_step bigint not null default 0,
    inserted_at timestamptz not null,
    constraint second_factors_pkey primary key (user_id),
    constraint second_factors_user_id_fkey foreign key (user_id) references users (id) on delete cascade
);

-- Each stands in for the app once, and is deleted when it is used.
create table recovery_codes (
    user_id uuid not null,
    -- SHA-256 of the code; the code itself is not stored.
    digest bytea not null,
    constraint recovery_codes_pkey primary key (user_id, digest),
    constraint recovery_codes_user_id_fkey foreign key (user_id) references second_factors (user_id) on delete cascade,
    constraint recovery_codes_digest_length check (octet_length(digest) = 32)
);

-- Browsers that a user has logged in with, known by a cookie of their own.
create table devices (
    -- For lists; no secret.
    id uuid not null,
    user_id uuid not null,
    -- SHA-256 of what the cookie holds; that itself is not stored.
    digest bytea not null,
    -- Until then it is not asked for the second factor. Null: it is.
    remembered_until timestamptz,
    -- Of the last log-in.
    address text not null,
    user_agent text not null,
    used_at timestamptz not null,
    inserted_at timestamptz not null,
    constraint devices_pkey primary key (id),
    constraint devices_user_id_digest_key unique (user_id, digest),
    constraint devices_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint devices_digest_length check (octet_length(digest) = 32)
);

create index devices_used_at on devices (used_at);

alter table accounts
    -- From then on only members with a second factor act for the account. Null: it is up to them.
    add column second_factor_from timestamptz;
