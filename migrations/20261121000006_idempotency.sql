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
