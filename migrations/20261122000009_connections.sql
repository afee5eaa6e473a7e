-- Storage connections: buckets of accounts that the service may write documents to.

create table connections (
    id uuid not null,
    account_id uuid not null,
    -- For people.
    name text not null,
    -- aws_s3 or google_cloud_storage.
    provider text not null,
    bucket text not null,
    -- What the names of the objects begin with: empty, or whole segments with a slash at the end.
    path_prefix text not null,
    -- Null for Google, and for stores that have none.
    region text,
    -- Address of a store that speaks S3 and is not Amazon's; null for those whose address is known.
    endpoint text,
    -- Whose credentials they are, as lists show it; no secret.
    identity text not null,
    -- JSON, sealed under the account's data key for this row.
    sealed_credentials bytea not null,
    inserted_at timestamptz not null,
    constraint connections_pkey primary key (id),
    constraint connections_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint connections_name_key unique (account_id, name),
    -- Of a destination it has to be clear which connection it goes through.
    constraint connections_place_key unique (account_id, provider, bucket, path_prefix),
    constraint connections_name_length check (char_length(name) between 1 and 200),
    constraint connections_provider_known check (provider in ('aws_s3', 'google_cloud_storage'))
);

-- Lists go by creation, newest first, and ids are UUIDs of version 7.
create index connections_account_newest on connections (account_id, id desc);
