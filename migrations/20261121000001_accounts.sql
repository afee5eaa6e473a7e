-- People, accounts, and who belongs to which.

create table users (
    id uuid not null,
    -- In lower case, so that one mailbox is one user.
    email text not null,
    -- PHC string, argon2id.
    password_hash text not null,
    inserted_at timestamptz not null,
    constraint users_pkey primary key (id),
    constraint users_email_key unique (email),
    constraint users_email_lower check (email = lower(email))
);

create table accounts (
    id uuid not null,
    -- Set by an operator; every key of the account is refused while it is set.
    suspended_at timestamptz,
    inserted_at timestamptz not null,
    constraint accounts_pkey primary key (id)
);

create table members (
    account_id uuid not null,
    user_id uuid not null,
    -- What the person may do in this account; each account has one owner.
    role text not null,
    inserted_at timestamptz not null,
    constraint members_pkey primary key (account_id, user_id),
    constraint members_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint members_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint members_role_known check (role in ('owner', 'admin', 'member'))
);

create unique index members_one_owner on members (account_id) where role = 'owner';
create index members_user_id on members (user_id);

create table api_keys (
    id uuid not null,
    account_id uuid not null,
    -- The user who made the key, shown as the key's user.
    created_by uuid not null,
    name text not null,
    -- Prefix and first digits, to tell keys apart in lists; no secret.
    hint text not null,
    -- SHA-256 of the whole key; the key itself is not stored.
    digest bytea not null,
    scopes text[] not null,
    livemode boolean not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    -- Late by up to a minute: written in batches, off the requests' path.
    last_used_at timestamptz,
    inserted_at timestamptz not null,
    constraint api_keys_pkey primary key (id),
    constraint api_keys_digest_key unique (digest),
    constraint api_keys_digest_length check (octet_length(digest) = 32),
    constraint api_keys_name_length check (char_length(name) between 1 and 200),
    constraint api_keys_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint api_keys_created_by_fkey foreign key (created_by) references users (id)
);

create index api_keys_account_id on api_keys (account_id, id desc);
create index api_keys_created_by on api_keys (created_by);
