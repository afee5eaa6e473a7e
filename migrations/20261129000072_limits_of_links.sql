create or replace view account_limits as
select
    accounts.id as account_id,
    coalesce(accounts.concurrency, plans.concurrency) as concurrency,
    coalesce(accounts.rate_per_minute, plans.rate_per_minute) as rate_per_minute,
    coalesce(accounts.body_bytes, plans.body_bytes) as body_bytes,
    coalesce(accounts.sync_deadline_seconds, plans.sync_deadline_seconds) as sync_deadline_seconds,
    accounts.suspended_at,
    plans.storage_limits || accounts.storage_limits as storage_limits,
    -- Null: documents have public addresses.
    case when accounts.links_by_plan then plans.link_seconds else accounts.link_seconds end as link_seconds,
    plans.link_seconds as plan_link_seconds
from accounts join plans on plans.name = accounts.plan;
