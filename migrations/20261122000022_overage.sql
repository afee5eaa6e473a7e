-- Credits beyond those of the plan: paid for by use, if the owner of the account wants that, and up to a limit.

alter table plans
    -- The most that an account may use beyond its credits in one period. 0: it stops when they are used up.
    add column overage_limit bigint not null default 0,
    add constraint plans_overage_sane check (overage_limit >= 0);

update plans set overage_limit = credits where name in ('Starter', 'Growth', 'Scale');

-- What they cost, in one row: the same for every plan, so that what was used does not change with the plan.
create table overage_offers (
    -- As in `plans`.
    product text not null,
    -- What 1,000 credits cost, in the smallest unit of the currency.
    amount bigint not null,
    currency text not null default 'eur',
    price text,
    -- Stripe's name for what counts them.
    meter text,
    constraint overage_offers_pkey primary key (product),
    constraint overage_offers_sane check (amount > 0),
    constraint overage_offers_complete check ((price is null) = (meter is null))
);

create unique index overage_offers_single on overage_offers ((true));

insert into overage_offers (product, amount) values ('platen_overage', 1000);

alter table accounts
    -- What may be used beyond the credits of a period, by what Stripe said of the subscription last.
    add column overage_limit bigint not null default 0,
    add constraint accounts_overage_sane check (overage_limit >= 0);

alter table credit_periods
    add column overage_limit bigint not null default 0,
    -- The part of `used` that was beyond the credits of that moment: credits that come later don't pay for it.
    add column overage_used bigint not null default 0,
    drop constraint credit_periods_not_overspent,
    add constraint credit_periods_not_overspent check (used - overage_used <= allowance + granted + bought),
    add constraint credit_periods_overage_sane check (overage_used between 0 and least(used, overage_limit));

alter table stripe_subscriptions
    -- What the owner allows beyond the plan's credits.
    add column overage_limit bigint not null default 0;

-- What Stripe is told: an event for what a customer has used in a minute or so.
create table stripe_meter_events (
    -- Stripe counts it once under this name.
    id uuid not null,
    customer_id text not null,
    credits bigint not null,
    -- Of the last of its renders; it decides which invoice it is on.
    used_at timestamptz not null,
    -- When it was sent first without learning whether it arrived.
    in_doubt_since timestamptz,
    sent_at timestamptz,
    -- It can't be sent any more; what to do about it stands in `stripe_differences`.
    given_up_at timestamptz,
    send_at timestamptz not null,
    claim uuid,
    lease_until timestamptz,
    failures integer not null default 0,
    -- As in `failed_work`.
    failed_at timestamptz,
    last_error text,
    constraint stripe_meter_events_pkey primary key (id),
    constraint stripe_meter_events_customer_id_fkey foreign key (customer_id) references stripe_customers (id)
        on delete cascade,
    constraint stripe_meter_events_sane check (credits > 0),
    constraint stripe_meter_events_claim check ((claim is null) = (lease_until is null))
);

create index stripe_meter_events_send_at on stripe_meter_events (send_at) where sent_at is null and given_up_at is null;
create index stripe_meter_events_used_at on stripe_meter_events (used_at);
create index stripe_meter_events_customer_id on stripe_meter_events (customer_id, used_at);

-- What each render used beyond the credits, written in the transaction that charges for it.
create table overage_uses (
    -- A row of `renders`, which may be gone by now.
    render_id uuid not null,
    customer_id text not null,
    period_starts_at timestamptz not null,
    credits bigint not null,
    used_at timestamptz not null,
    -- What tells Stripe of it; null: nothing yet.
    meter_event_id uuid,
    constraint overage_uses_pkey primary key (render_id),
    constraint overage_uses_customer_id_fkey foreign key (customer_id) references stripe_customers (id) on delete cascade,
    constraint overage_uses_meter_event_id_fkey foreign key (meter_event_id) references stripe_meter_events (id)
        on delete cascade,
    constraint overage_uses_sane check (credits > 0)
);

create index overage_uses_untold on overage_uses (customer_id, period_starts_at) where meter_event_id is null;
create index overage_uses_customer_id on overage_uses (customer_id);
create index overage_uses_meter_event_id on overage_uses (meter_event_id);

-- As before, and what Stripe could not be told.
create or replace view failed_work as
    select kind, render_id::text as id, account_id, null::text as about, null::text as receiver, last_error as error,
        failures + crashes as tries, failed_at, run_at as again_at, claim is not null as in_hand
    from jobs where failed_at is not null
    union all
    select 'callback', render_id::text, account_id, null, null, last_error, failures, failed_at, null, false
    from callbacks where failed_at is not null
    union all
    select 'mail', id::text,
        (
            select members.account_id from members where members.user_id = mails.user_id
            order by members.inserted_at, members.account_id limit 1
        ),
        letter ->> 'kind', split_part(recipient, '@', 2), last_error, tries, failed_at,
        case when not given_up then run_at end, claim is not null and lease_until > now()
    from mails where failed_at is not null
    union all
    select 'export', id::text, account_id, null, null, last_error, tries, failed_at,
        case when state = 'waiting' then run_at end, claim is not null and lease_until > now()
    from exports where failed_at is not null
    union all
    select 'customer', id, account_id, null, null, last_error, failures, failed_at,
        look_at, claim is not null and lease_until > now()
    from stripe_customers where failed_at is not null
    union all
    select 'usage', events.id::text, account_id, null, null, events.last_error, events.failures, events.failed_at,
        case when given_up_at is null then send_at end, events.claim is not null and events.lease_until > now()
    from stripe_meter_events events join stripe_customers on stripe_customers.id = events.customer_id
    where events.failed_at is not null;
