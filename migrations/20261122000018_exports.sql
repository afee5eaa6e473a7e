-- What the owner of an account may ask for: all of it as a file, and that it is forgotten.

-- Archives of accounts. The row is what is to be done until the archive is made, and then says what may be fetched; the
-- archive itself lies in the data folder.
create table exports (
    id uuid not null,
    account_id uuid not null,
    -- The owner who asked, and who is told. Null once they are deleted.
    asked_by uuid,
    state text not null,
    -- Size of the archive.
    bytes bigint,
    run_at timestamptz not null,
    -- How often it was begun to be made.
    tries integer not null default 0,
    -- Who has it in hand, as in jobs.
    claim uuid,
    lease_until timestamptz,
    inserted_at timestamptz not null,
    finished_at timestamptz,
    constraint exports_pkey primary key (id),
    constraint exports_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint exports_asked_by_fkey foreign key (asked_by) references users (id) on delete set null,
    constraint exports_state_known check (state in ('waiting', 'ready', 'failed')),
    constraint exports_finished check ((finished_at is null) = (state = 'waiting')),
    constraint exports_bytes check ((bytes is null) = (state <> 'ready')),
    constraint exports_claimed check ((claim is null) = (lease_until is null))
);

create index exports_account_id on exports (account_id, id desc);
create index exports_asked_by on exports (asked_by) where asked_by is not null;
-- One at a time.
create unique index exports_under_way on exports (account_id) where state = 'waiting';
create index exports_waiting on exports (run_at) where state = 'waiting';
create index exports_inserted_at on exports (inserted_at);

alter table accounts
    -- Content of renders that were accepted before is still to be deleted. Null: there is none.
    add column forget_content_before timestamptz,
    -- Who wants it deleted, and since when; beside delete_at.
    add column delete_asked_by uuid,
    add column delete_asked_at timestamptz,
    add constraint accounts_delete_asked_by_fkey foreign key (delete_asked_by) references users (id) on delete set null;

create index accounts_forget_content on accounts (id) where forget_content_before is not null;
create index accounts_delete_asked_by on accounts (delete_asked_by) where delete_asked_by is not null;

-- Proof that accounts were deleted. It outlives them, so nothing here refers to anything or names anybody.
create table deletions (
    id uuid not null,
    account_id uuid not null,
    -- The owner who asked; null: an operator.
    asked_by uuid,
    asked_at timestamptz not null,
    deleted_at timestamptz not null,
    -- How many rows of each kind, and how many documents: {"renders": 12, …}.
    counts json not null,
    constraint deletions_pkey primary key (id)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'rows of % are never changed or deleted', tg_table_name;
end
$$;

create trigger deletions_append_only
    before update or delete or truncate on deletions
    for each statement execute function refuse_change();
