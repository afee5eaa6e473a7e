-- One row for each render, whatever becomes of it.

create table renders (
    id uuid not null,
    account_id uuid not null,
    -- Null once the key's row is deleted.
    api_key_id uuid,
    mode text not null,
    status text not null,
    livemode boolean not null,
    -- The request without its content: no HTML, no templates' data, no cookie values, no scripts.
    options jsonb not null,
    page_count integer,
    -- Size of the document.
    bytes bigint,
    -- Milliseconds by phase: queue, load, wait, evaluate, print, post.
    phase_times jsonb,
    -- List of {code, message}.
    warnings jsonb not null default '[]',
    -- What the caller was told, with the phase or the pointer where it happened.
    error jsonb,
    -- What the pages fetched and what was refused: list of {url, status, error}, addresses without query string.
    requests jsonb not null default '[]',
    inserted_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    constraint renders_pkey primary key (id),
    constraint renders_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint renders_api_key_id_fkey foreign key (api_key_id) references api_keys (id) on delete set null,
    constraint renders_mode_known check (mode in ('sync', 'async')),
    constraint renders_status_known
        check (status in ('queued', 'processing', 'succeeded', 'failed', 'cancelled')),
    constraint renders_finished check ((finished_at is not null) = (status in ('succeeded', 'failed', 'cancelled')))
);

-- Lists go by creation, newest first. Ids are UUIDs of version 7 and only break ties here.
create index renders_account_newest on renders (account_id, inserted_at desc, id desc);
create index renders_api_key_id on renders (api_key_id);
