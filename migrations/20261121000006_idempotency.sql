-- Sealing by account, and the answers that are kept for requests that come again.

create table account_keys (
    account_id uuid not null,
    -- Which secret key of the service opens the data key: the beginning of a digest of it.
    secret_key_id text not null,
    -- The account's data key, sealed: 32 bytes, tag, nonce.
    wrapped_key bytea not null,
    inserted_at timestamptz not null,
    constraint account_keys_pkey primary key (account_id),
    constraint account_keys_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint account_keys_wrapped_key_length check (octet_length(wrapped_key) = 60)
);

-- Requests that may come again. A key without an answer whose render has ended is free.
create table idempotency_keys (
    account_id uuid not null,
    -- As the client sent it.
    key text not null,
    -- SHA-256 of operation, live or test, and body.
    fingerprint bytea not null,
    -- The render that took the key; opened in the same transaction, after the key.
    render_id uuid not null,
    -- Names the file that holds the outcome, sealed. Null until there is one.
    answer_id uuid,
    expires_at timestamptz not null,
    constraint idempotency_keys_pkey primary key (account_id, key),
    constraint idempotency_keys_render_id_key unique (render_id),
    constraint idempotency_keys_answer_id_key unique (answer_id),
    constraint idempotency_keys_key_length check (octet_length(key) between 1 and 255),
    constraint idempotency_keys_fingerprint_length check (octet_length(fingerprint) = 32),
    constraint idempotency_keys_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint idempotency_keys_render_id_fkey foreign key (render_id) references renders (id) on delete cascade
        deferrable initially deferred
);

create index idempotency_keys_expires_at on idempotency_keys (expires_at);
