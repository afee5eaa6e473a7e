-- Migrations of one table each: a transaction that locks several could deadlock with a running process.
alter table accounts
    -- Whether links have the lifetime of the plan. A process of the previous release then uses `link_seconds`, which was
    -- that lifetime when the account chose it.
    add column links_by_plan boolean not null default false;
