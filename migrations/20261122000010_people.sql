-- People: how they sign up, log in, stay logged in, and get mail.

alter table users
    -- As they write it; empty for those whom a command made.
    add column name text not null default '',
    -- Null: they still have their first one.
    add column password_changed_at timestamptz,
    -- Counts what ends all sessions. One that began under another count is over.
    add column session_epoch integer not null default 0,
    add constraint users_name_length check (char_length(name) <= 200);

alter table accounts
    -- As its owner writes it; empty for those that a command made.
    add column name text not null default '',
    -- When it is deleted, unless its owner takes it back before.
    add column delete_at timestamptz,
    add constraint accounts_name_length check (char_length(name) <= 200);

create index accounts_delete_at on accounts (delete_at) where delete_at is not null;

-- Those who want an account. They become users once they have shown that the address is theirs and that they know the
-- password. An address may have several: anybody can write any address into a form.
create table sign_ups (
    id uuid not null,
    -- In lower case.
    email text not null,
    name text not null,
    account_name text not null,
    -- PHC string, argon2id.
    password_hash text not null,
    expires_at timestamptz not null,
    inserted_at timestamptz not null,
    constraint sign_ups_pkey primary key (id),
    constraint sign_ups_email_lower check (email = lower(email)),
    constraint sign_ups_name_length check (char_length(name) between 1 and 200),
    constraint sign_ups_account_name_length check (char_length(account_name) between 1 and 200)
);

create index sign_ups_email on sign_ups (email);
create index sign_ups_expires_at on sign_ups (expires_at);

-- What the links in mails prove: that somebody reads what is sent to an address. Each is good for one use.
create table one_time_tokens (
    -- SHA-256 of the token; the token itself is not stored.
    digest bytea not null,
    purpose text not null,
    -- The address that it was sent to.
    email text not null,
    -- Whom it is for; null for a sign-up.
    user_id uuid,
    expires_at timestamptz not null,
    inserted_at timestamptz not null,
    constraint one_time_tokens_pkey primary key (digest),
    constraint one_time_tokens_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint one_time_tokens_digest_length check (octet_length(digest) = 32),
    constraint one_time_tokens_purpose_known check (purpose in ('verify', 'reset_password', 'change_email')),
    constraint one_time_tokens_user check ((user_id is null) = (purpose = 'verify'))
);

create index one_time_tokens_user_id on one_time_tokens (user_id) where user_id is not null;
create index one_time_tokens_email on one_time_tokens (email);
create index one_time_tokens_expires_at on one_time_tokens (expires_at);

-- Sessions of browsers.
create table sessions (
    -- For lists; no secret.
    id uuid not null,
    -- SHA-256 of what the cookie holds; that itself is not stored.
    digest bytea not null,
    -- Null while nobody is logged in.
    user_id uuid,
    -- The user's session_epoch when it began.
    epoch integer,
    -- Of the person: address and program, since when, last seen (late by some minutes). And what pages keep.
    data jsonb not null,
    expires_at timestamptz not null,
    inserted_at timestamptz not null,
    constraint sessions_pkey primary key (id),
    constraint sessions_digest_key unique (digest),
    constraint sessions_digest_length check (octet_length(digest) = 32),
    constraint sessions_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint sessions_epoch check ((user_id is null) = (epoch is null))
);

create index sessions_user_id on sessions (user_id) where user_id is not null;
create index sessions_expires_at on sessions (expires_at);

-- Mail that is to be sent. It is written when it is sent, so that no link lies here; the transaction that causes it
-- inserts the row, and delivery deletes it. Apart from jobs, which belong to accounts and take turns by them: those who
-- sign up have none.
create table mails (
    id uuid not null,
    -- Address.
    recipient text not null,
    -- The user whom it is about, if there is one; it goes when the user goes.
    user_id uuid,
    -- What it says: its kind, and what the kind needs besides.
    letter jsonb not null,
    run_at timestamptz not null,
    -- How often it was begun to be sent.
    tries integer not null default 0,
    -- Who has it in hand, as in jobs.
    claim uuid,
    lease_until timestamptz,
    -- What was written, where mail is shown to a developer instead of being sent.
    kept jsonb,
    inserted_at timestamptz not null,
    constraint mails_pkey primary key (id),
    constraint mails_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint mails_claimed check ((claim is null) = (lease_until is null))
);

create index mails_waiting on mails (run_at) where kept is null;
create index mails_user_id on mails (user_id) where user_id is not null;
create index mails_inserted_at on mails (inserted_at);
