-- What is given back.

alter table stripe_purchases
    -- Of the credits: those whose payment Stripe has refunded. They were taken back as far as they were neither used nor
    -- reserved at that moment, once.
    add column refunded bigint not null default 0,
    add constraint stripe_purchases_refunded check (refunded between 0 and credits);

-- What counts for each account, and whether it is suspended: who asks for the one asks for the other.
create or replace view account_limits as
select
    accounts.id as account_id,
    coalesce(accounts.concurrency, plans.concurrency) as concurrency,
    coalesce(accounts.rate_per_minute, plans.rate_per_minute) as rate_per_minute,
    coalesce(accounts.body_bytes, plans.body_bytes) as body_bytes,
    coalesce(accounts.sync_deadline_seconds, plans.sync_deadline_seconds) as sync_deadline_seconds,
    accounts.suspended_at
from accounts join plans on plans.name = accounts.plan;
