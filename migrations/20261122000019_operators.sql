-- Those who run the service, and what they did.

alter table users
    -- Since when somebody is an operator of the service, whatever accounts they belong to. Null: they are not.
    add column operator_since timestamptz;

-- What operators and the service did to accounts. Each row says what the one before it was: none can be changed, left out or
-- put in between without that being found (`platen admin verify-audit`). Nothing refers to anything: rows outlive all.
create table audit_log (
    -- Counts from 1, without gaps.
    number bigint not null,
    -- Word for word what is digested; what is looked for is read from it.
    entry json not null,
    -- The digest of the row before; 32 zero bytes in the first.
    previous bytea not null,
    -- SHA-256 of the previous digest and the entry.
    digest bytea not null,
    happened_at timestamptz not null
        generated always as (to_timestamp((entry ->> 'at_ms')::bigint::double precision / 1000)) stored,
    kind text not null generated always as (entry -> 'deed' ->> 'kind') stored,
    account_id uuid generated always as ((entry ->> 'account')::uuid) stored,
    constraint audit_log_pkey primary key (number),
    constraint audit_log_digest check (digest = sha256(previous || convert_to(entry::text, 'UTF8')))
);

create index audit_log_account_id on audit_log (account_id, number desc) where account_id is not null;
create index audit_log_happened_at on audit_log (happened_at);

-- Number and digests are not for the writer to choose. Who writes holds the end of the chain until the transaction ends.
create function link_audit_log() returns trigger language plpgsql as $$
declare
    last record;
begin
    perform pg_advisory_xact_lock(hashtextextended('audit_log', 0));
    select number, digest into last from audit_log order by number desc limit 1;
    new.number := coalesce(last.number, 0) + 1;
    new.previous := coalesce(last.digest, decode(repeat('00', 32), 'hex'));
    new.digest := sha256(new.previous || convert_to(new.entry::text, 'UTF8'));
    return new;
end
$$;

create trigger audit_log_link
    before insert on audit_log
    for each row execute function link_audit_log();

create trigger audit_log_append_only
    before update or delete or truncate on audit_log
    for each statement execute function refuse_change();

-- Not even the role that the service runs as may do that.
revoke update, delete, truncate on audit_log from current_user;
revoke all on audit_log from public;

-- What an operator has decided of one account's limits, instead of its plan's.
alter table accounts
    add column concurrency integer,
    add column rate_per_minute integer,
    add column body_bytes integer,
    add column sync_deadline_seconds integer,
    -- Why it is suspended, in the operator's words; only for operators.
    add column suspended_because text,
    add constraint accounts_limits_sane check (
        concurrency > 0 and rate_per_minute > 0 and body_bytes > 0 and sync_deadline_seconds > 0
    ),
    add constraint accounts_suspended check (suspended_because is null or suspended_at is not null);

-- What counts for each account.
create view account_limits as
select
    accounts.id as account_id,
    coalesce(accounts.concurrency, plans.concurrency) as concurrency,
    coalesce(accounts.rate_per_minute, plans.rate_per_minute) as rate_per_minute,
    coalesce(accounts.body_bytes, plans.body_bytes) as body_bytes,
    coalesce(accounts.sync_deadline_seconds, plans.sync_deadline_seconds) as sync_deadline_seconds
from accounts join plans on plans.name = accounts.plan;
