-- Renders that nobody waits for, and the requests that tell their clients what became of them.

alter table accounts
    -- Whether the content of requests stays for as long as the plan keeps renders. Else it goes when the render ends.
    add column keep_content boolean not null default true;

alter table renders
    -- Credits that a live render reserves until it has ended.
    add column reserved integer not null default 1,
    -- What the store says of the document; for the callback.
    add column result jsonb,
    -- Names the document in the service's own storage. Null when it goes elsewhere.
    add column object_id uuid,
    -- When it is deleted there. Null until it is there, and once it is deleted.
    add column object_expires_at timestamptz,
    add constraint renders_reserved_sane check (reserved >= 1);

create index renders_object_expires_at on renders (object_expires_at) where object_expires_at is not null;

-- What a process leaves behind that crashes. Those that are queued are not among them, however many there are.
drop index renders_unfinished;
create index renders_synchronous_unfinished on renders (instance) where mode = 'sync' and finished_at is null;

-- What an account's unfinished live renders reserve in all. The trigger keeps it, in the transactions that change them.
create table credit_reservations (
    account_id uuid not null,
    credits bigint not null,
    constraint credit_reservations_pkey primary key (account_id),
    constraint credit_reservations_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade,
    constraint credit_reservations_sane check (credits >= 0)
);

insert into credit_reservations (account_id, credits)
select account_id, sum(reserved) from renders where livemode and finished_at is null group by account_id;

create function reserve_credits() returns trigger language plpgsql as $$
declare
    before integer := 0;
    after integer := 0;
begin
    if tg_op <> 'INSERT' and old.livemode and old.finished_at is null then
        before := old.reserved;
    end if;
    if tg_op <> 'DELETE' and new.livemode and new.finished_at is null then
        after := new.reserved;
    end if;
    if after > before then
        insert into credit_reservations (account_id, credits) values (new.account_id, after - before)
        on conflict (account_id) do update set credits = credit_reservations.credits + excluded.credits;
    elsif after < before then
        update credit_reservations set credits = credits + after - before where account_id = old.account_id;
    end if;
    return null;
end
$$;

create trigger renders_reserve_credits
    after insert or delete or update of finished_at, reserved on renders
    for each row execute function reserve_credits();

-- The bodies of accepted requests, apart from the rows that are often read and changed.
create table render_contents (
    render_id uuid not null,
    account_id uuid not null,
    sealed bytea not null,
    constraint render_contents_pkey primary key (render_id),
    -- The content is written before the row of the render.
    constraint render_contents_render_id_fkey foreign key (render_id) references renders (id) on delete cascade
        deferrable initially deferred,
    constraint render_contents_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
);

-- Sealed bytes can't be compressed.
alter table render_contents alter column sealed set storage external;
create index render_contents_account_id on render_contents (account_id);

-- What is still to be done. The transaction that records an outcome deletes the row.
create table jobs (
    id uuid not null,
    account_id uuid not null,
    kind text not null,
    render_id uuid not null,
    -- Lower ones of an account come first, and then earlier ones.
    priority smallint not null,
    run_at timestamptz not null,
    -- Whether run_at has passed; whoever claims next sets it.
    due boolean not null,
    -- Tries that came to nothing, for a reason that may pass.
    failures integer not null default 0,
    -- Processes that ended, or fell silent, over it.
    crashes integer not null default 0,
    -- Who has it in hand. Each claim is another one, so that an earlier holder can't record an outcome.
    claim uuid,
    instance uuid,
    lease_until timestamptz,
    constraint jobs_pkey primary key (id),
    constraint jobs_kind_render_id_key unique (kind, render_id),
    constraint jobs_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint jobs_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint jobs_kind_known check (kind in ('render', 'callback')),
    constraint jobs_claimed check ((claim is null) = (instance is null) and (claim is null) = (lease_until is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

create index jobs_waiting on jobs (kind, account_id, priority, id) where due and claim is null;
create index jobs_later on jobs (run_at) where not due;
create index jobs_claimed on jobs (kind, account_id) where claim is not null;
create index jobs_render_id on jobs (render_id);

-- The request that tells a client what became of a render. One for each render that asks for it.
create table callbacks (
    render_id uuid not null,
    account_id uuid not null,
    -- What receivers know it by, however often it is sent.
    webhook_id uuid not null,
    -- Address and headers.
    sealed_target bytea not null,
    state text not null,
    -- Written when the render ends, and the same at every try.
    body text,
    constraint callbacks_pkey primary key (render_id),
    constraint callbacks_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint callbacks_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint callbacks_state_known check (state in ('waiting', 'sending', 'delivered', 'failed')),
    constraint callbacks_body check ((body is null) = (state = 'waiting'))
);

create index callbacks_account_id on callbacks (account_id);

create table callback_attempts (
    id uuid not null,
    render_id uuid not null,
    account_id uuid not null,
    -- Of the answer; null when there was none.
    status integer,
    -- Why there was none.
    error text,
    -- How it began.
    answer text not null,
    duration_ms integer not null,
    inserted_at timestamptz not null,
    constraint callback_attempts_pkey primary key (id),
    constraint callback_attempts_render_id_fkey
        foreign key (render_id) references callbacks (render_id) on delete cascade,
    constraint callback_attempts_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
);

create index callback_attempts_render_id on callback_attempts (render_id, id);
create index callback_attempts_account_id on callback_attempts (account_id);

-- With what an account's callbacks are signed. A former one is used as well until it expires.
create table webhook_secrets (
    id uuid not null,
    account_id uuid not null,
    sealed bytea not null,
    expires_at timestamptz,
    inserted_at timestamptz not null,
    constraint webhook_secrets_pkey primary key (id),
    constraint webhook_secrets_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
);

create unique index webhook_secrets_current on webhook_secrets (account_id) where expires_at is null;
create index webhook_secrets_account_id on webhook_secrets (account_id);
