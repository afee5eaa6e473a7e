-- Links to documents in the default storage, which expire and can be revoked. Without them, documents are public to those who
-- know their random address.
alter table accounts
    -- Documents get a link with this lifetime instead of a public address. Null: public addresses.
    add column link_seconds integer,
    add constraint accounts_link_seconds_sane check (link_seconds between 60 and 1209600);

create table download_links (
    id uuid not null,
    account_id uuid not null,
    render_id uuid not null,
    -- SHA-256 of the token in the link.
    digest bytea not null,
    -- It ends with its first use.
    single_use boolean not null,
    inserted_at timestamptz not null,
    expires_at timestamptz not null,
    -- When it was used, if it is for one use, or revoked.
    ended_at timestamptz,
    constraint download_links_pkey primary key (id),
    constraint download_links_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint download_links_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint download_links_digest_key unique (digest)
);
create index download_links_account_id on download_links (account_id);
create index download_links_render_id on download_links (render_id);
