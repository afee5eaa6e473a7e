-- Batches: one request for many rows of data, each of which becomes a render.
create table batches (
    id uuid not null,
    account_id uuid not null,
    -- The key whose renders they are. Null: a user's, or a key that has been deleted.
    api_key_id uuid,
    has_key boolean not null,
    livemode boolean not null,
    name text not null,
    state text not null,
    -- Why no row is opened at present; null if some are, or if all have been.
    hold text,
    -- Rows that were sent, and how far they have come: opened in their order, and ended.
    rows integer not null default 0,
    opened integer not null default 0,
    succeeded integer not null default 0,
    failed integer not null default 0,
    -- The request that each row completes, encrypted, in a version of stored requests; empty once no row needs it.
    version smallint not null,
    sealed bytea not null,
    -- The webhook of each row, encrypted.
    callback bytea,
    -- The request without its content.
    options jsonb not null,
    -- The upload that may store rows, of which only the latest does.
    upload uuid,
    -- SHA-256 of the rows as sent, once they are complete.
    sha256 bytea,
    idempotency_key text,
    fingerprint bytea,
    inserted_at timestamptz not null,
    ended_at timestamptz,
    constraint batches_pkey primary key (id),
    constraint batches_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint batches_api_key_id_fkey foreign key (api_key_id) references api_keys (id) on delete set null,
    constraint batches_state_known check (state in ('open', 'running', 'paused', 'cancelled', 'ended')),
    constraint batches_hold_known check (hold in ('credits', 'storage', 'key')),
    constraint batches_rows_known check (sha256 is not null or state in ('open', 'cancelled')),
    constraint batches_ended check ((ended_at is null) = (state in ('open', 'running', 'paused'))),
    constraint batches_idempotent check ((idempotency_key is null) = (fingerprint is null))
);
create index batches_account_id on batches (account_id, id);
create index batches_api_key_id on batches (api_key_id);
create unique index batches_idempotency_key on batches (account_id, idempotency_key) where idempotency_key is not null;
create index batches_ended_at on batches (ended_at) where ended_at is not null;

-- Rows as they were sent, in encrypted pieces of whole rows.
create table batch_pieces (
    batch_id uuid not null,
    account_id uuid not null,
    -- Number of its first row; rows are numbered from 1.
    first_row integer not null,
    rows integer not null,
    -- To which its encryption is bound.
    id uuid not null,
    sealed bytea not null,
    constraint batch_pieces_pkey primary key (batch_id, first_row),
    constraint batch_pieces_batch_id_fkey foreign key (batch_id) references batches (id) on delete cascade,
    constraint batch_pieces_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
);
alter table batch_pieces alter column sealed set storage external;
create index batch_pieces_account_id on batch_pieces (account_id);

-- Rows that have been opened, or that can't be.
create table batch_rows (
    batch_id uuid not null,
    account_id uuid not null,
    number integer not null,
    render_id uuid,
    -- 'again': it failed, and is to be opened once more.
    state text not null,
    -- As that of a render.
    error jsonb,
    -- SHA-256 of the path of its document in a client's bucket.
    path_sha256 bytea,
    constraint batch_rows_pkey primary key (batch_id, number),
    constraint batch_rows_batch_id_fkey foreign key (batch_id) references batches (id) on delete cascade,
    constraint batch_rows_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    -- Its path is claimed before its render is opened.
    constraint batch_rows_render_id_fkey foreign key (render_id) references renders (id) on delete set null
        deferrable initially deferred,
    constraint batch_rows_state_known check (state in ('opened', 'succeeded', 'failed', 'again'))
);
create unique index batch_rows_path on batch_rows (batch_id, path_sha256) where path_sha256 is not null;
create index batch_rows_open on batch_rows (batch_id, number) where state in ('opened', 'again');
create index batch_rows_failed on batch_rows (batch_id, number) where state = 'failed';
create index batch_rows_render_id on batch_rows (render_id);
create index batch_rows_account_id on batch_rows (account_id);

-- Rows, and the requests that they complete, count as content of queued renders as long as they are needed.
create function count_batch_content() returns trigger language plpgsql as $$
declare
    bytes bigint := 0;
begin
    if tg_op <> 'DELETE' then
        bytes := octet_length(new.sealed);
    end if;
    if tg_op <> 'INSERT' then
        bytes := bytes - octet_length(old.sealed);
    end if;
    if tg_op = 'INSERT' then
        perform claim_storage(new.account_id, jsonb_build_object('queued_bytes', bytes));
    else
        perform add_storage(old.account_id, jsonb_build_object('queued_bytes', bytes));
    end if;
    return null;
end
$$;

create constraint trigger batches_count_new after insert on batches
    deferrable initially deferred for each row execute function count_batch_content();
create constraint trigger batches_count_emptied after update of sealed on batches
    deferrable initially deferred for each row execute function count_batch_content();
create constraint trigger batches_count_gone after delete on batches
    deferrable initially deferred for each row execute function count_batch_content();

create constraint trigger batch_pieces_count_new after insert on batch_pieces
    deferrable initially deferred for each row execute function count_batch_content();
create constraint trigger batch_pieces_count_gone after delete on batch_pieces
    deferrable initially deferred for each row execute function count_batch_content();

alter table jobs
    add column batch_id uuid,
    add constraint jobs_batch_id_fkey foreign key (batch_id) references batches (id) on delete cascade,
    drop constraint jobs_subject,
    add constraint jobs_subject check (
        case kind
            when 'render' then account_id is not null and render_id is not null
            when 'callback' then account_id is not null and render_id is not null
            when 'delivery' then account_id is not null and delivery_id is not null
            when 'batch' then account_id is not null and batch_id is not null
            when 'mail' then mail_id is not null
            when 'export' then export_id is not null
            when 'customer' then customer_id is not null
            when 'usage' then meter_event_id is not null
            else false
        end
    );
create unique index jobs_batch_id on jobs (batch_id) where batch_id is not null;

create or replace function job_subject(job jobs) returns text language sql immutable as $$
    select coalesce(
        job.render_id::text, job.mail_id::text, job.export_id::text, job.customer_id, job.meter_event_id::text,
        job.delivery_id::text, job.batch_id::text
    )
$$;
