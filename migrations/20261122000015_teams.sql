-- People who share an account: who is invited, and who did what.

-- Those who are asked into an account and have not come yet.
create table invitations (
    id uuid not null,
    account_id uuid not null,
    -- In lower case. Only whoever has this address can come.
    email text not null,
    -- What they will be. An owner is made by handing the account over, not by an invitation.
    role text not null,
    -- What whoever asked them in was called then.
    invited_by text not null,
    -- SHA-256 of the token in the latest mail; the token itself is not stored. Null until that mail is written.
    digest bytea,
    -- From the latest mail on.
    invited_at timestamptz not null,
    expires_at timestamptz not null,
    constraint invitations_pkey primary key (id),
    constraint invitations_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint invitations_email_key unique (account_id, email),
    constraint invitations_digest_key unique (digest),
    constraint invitations_digest_length check (octet_length(digest) = 32),
    constraint invitations_email_lower check (email = lower(email)),
    constraint invitations_role_known check (role in ('admin', 'member'))
);

create index invitations_expires_at on invitations (expires_at);

alter table members
    -- When the person last acted for the account; late by some minutes. Null: not since this column is there.
    add column seen_at timestamptz;

-- Whoever leaves an account leaves their keys to somebody else.
alter table api_keys
    -- What the person who made the key was called, once they belong to the account no more.
    add column former_creator text;

-- What was done in an account that its owner may want to know of. Rows are never changed; they go with their plan's time, and
-- with the account.
create table account_log (
    -- UUID version 7: in the order of time.
    id uuid not null,
    account_id uuid not null,
    happened_at timestamptz not null,
    -- What did it: a person, a key, an operator of the service, or the service itself.
    actor text not null,
    -- Of a person or key; no reference, so that the row outlives them.
    actor_id uuid,
    -- The person's address as it was then, or the key's name; empty for the others.
    actor_name text not null,
    -- Where they were, and with which program; null where nobody was.
    address text,
    user_agent text,
    -- What was done: its kind, and what belongs to it; no secrets.
    deed jsonb not null,
    kind text not null generated always as (deed ->> 'kind') stored,
    constraint account_log_pkey primary key (id),
    constraint account_log_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint account_log_actor_known check (actor in ('person', 'key', 'operator', 'service')),
    constraint account_log_actor_id check ((actor_id is null) = (actor in ('operator', 'service')))
);

create index account_log_account_id on account_log (account_id, id desc);
create index account_log_happened_at on account_log (happened_at);
