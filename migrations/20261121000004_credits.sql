-- Plans, the credits that they bring each month, and what was used of them.

create table plans (
    name text not null,
    -- Credits of one period.
    credits bigint not null,
    -- Renders that an account may have running or waiting at once, in each process.
    concurrency integer not null,
    -- Requests that an account may make, in each process.
    rate_per_minute integer not null,
    -- Largest request body.
    body_bytes integer not null,
    -- What a synchronous render may take.
    sync_deadline_seconds integer not null,
    -- How long the content and the thumbnails of renders are kept.
    retention_days integer not null,
    constraint plans_pkey primary key (name),
    constraint plans_credits_sane check (credits >= 0),
    constraint plans_limits_sane check (
        concurrency > 0 and rate_per_minute > 0 and body_bytes > 0 and sync_deadline_seconds > 0 and retention_days > 0
    )
);

-- One plan is one plan, however its name is written.
create unique index plans_name_key on plans (lower(name));

insert into plans
    (name, credits, concurrency, rate_per_minute, body_bytes, sync_deadline_seconds, retention_days)
values
    ('Free', 100, 2, 60, 10485760, 60, 3),
    ('Starter', 2000, 4, 300, 20971520, 90, 14),
    ('Growth', 20000, 8, 1200, 31457280, 120, 30),
    ('Scale', 200000, 24, 6000, 52428800, 180, 90);

alter table accounts
    add column plan text not null default 'Free',
    -- Credits of one period, instead of the plan's.
    add column credits bigint,
    -- Periods are the months from here.
    add column period_anchor timestamptz not null default now(),
    add constraint accounts_plan_fkey foreign key (plan) references plans (name),
    add constraint accounts_credits_sane check (credits >= 0);

update accounts set period_anchor = inserted_at;

-- One row for each month in which an account did something. Its lock decides who gets the last credit.
create table credit_periods (
    account_id uuid not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    -- What plan or account bring.
    allowance bigint not null,
    -- What an operator added.
    granted bigint not null default 0,
    used bigint not null default 0,
    constraint credit_periods_pkey primary key (account_id, starts_at),
    constraint credit_periods_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint credit_periods_order check (starts_at < ends_at),
    constraint credit_periods_sane check (allowance >= 0 and granted >= 0 and used >= 0),
    constraint credit_periods_not_overspent check (used <= allowance + granted)
);

-- Credits by meter and UTC day. A day on which a period ends has rows in both periods.
create table usage_days (
    id uuid not null,
    account_id uuid not null,
    period_starts_at timestamptz not null,
    day date not null,
    meter text not null,
    -- False for test keys: what it would have cost.
    livemode boolean not null,
    credits bigint not null,
    constraint usage_days_pkey primary key (account_id, period_starts_at, day, meter, livemode),
    constraint usage_days_id_key unique (id),
    constraint usage_days_period_fkey foreign key (account_id, period_starts_at)
        references credit_periods (account_id, starts_at) on delete cascade,
    constraint usage_days_meter_known check (meter in ('sync_render', 'async_render')),
    constraint usage_days_sane check (credits > 0)
);

alter table renders
    -- What it was charged. Null unless it succeeded; 0 for test keys.
    add column credits bigint,
    -- The process that renders it; it holds an advisory lock as long as it lives.
    add column instance uuid,
    add constraint renders_credits_sane check (credits >= 0);

-- Until now nobody ended what a crash left behind, and an unfinished render reserves a credit.
update renders
set status = 'failed', error = '{"message": "the service stopped while it was rendered"}', finished_at = now()
where finished_at is null;

-- Reservations, and what a process that crashes leaves behind.
create index renders_unfinished on renders (account_id, instance) where finished_at is null;
