-- What is for sale, who buys it, and what Stripe tells of them.

alter table plans
    -- What Stripe sells: the id of a product. Null: nobody can buy this plan.
    add column product text,
    -- What a month costs, in the smallest unit of the currency. Until `platen billing sync` has looked: what it is to cost.
    add column amount bigint not null default 0,
    add column currency text not null default 'eur',
    -- Stripe's name for the price that new customers pay. Null: it is not for sale yet.
    add column price text,
    add constraint plans_product_key unique (product),
    add constraint plans_amount_sane check (amount >= 0);

update plans set product = 'platen_' || lower(plans.name), amount = offers.amount
from (values ('Starter', 1900), ('Growth', 8900), ('Scale', 44900)) as offers (name, amount)
where plans.name = offers.name;

-- Credits that are bought once, and stay until they are used.
create table credit_packs (
    -- As in `plans`; also the key by which its price is found.
    product text not null,
    credits bigint not null,
    amount bigint not null,
    currency text not null default 'eur',
    price text,
    constraint credit_packs_pkey primary key (product),
    constraint credit_packs_sane check (credits > 0 and amount > 0)
);

insert into credit_packs (product, credits, amount)
values ('platen_credits_1000', 1000, 1200), ('platen_credits_10000', 10000, 7500);

alter table credit_periods
    -- What was bought, or is left of it from the period before.
    add column bought bigint not null default 0,
    drop constraint credit_periods_sane,
    drop constraint credit_periods_not_overspent,
    add constraint credit_periods_sane check (allowance >= 0 and granted >= 0 and bought >= 0 and used >= 0),
    add constraint credit_periods_not_overspent check (used <= allowance + granted + bought);

-- Accounts that have ever wanted to pay. Such a row is looked after in the background: what Stripe says of the customer is
-- written down here, when there was an event and when something is due.
create table stripe_customers (
    -- Stripe's.
    id text not null,
    -- Null: the account is deleted, and what it pays for has to end.
    account_id uuid,
    -- The plan that was given last because of what Stripe says. What an operator decides afterwards stays.
    given_plan text,
    -- Grows with every event; and what it was when somebody looked last, so that nothing is missed that comes meanwhile.
    revision bigint not null default 0,
    seen_revision bigint not null default 0,
    -- When to look. Null: nothing is to be expected.
    look_at timestamptz,
    claim uuid,
    lease_until timestamptz,
    failures integer not null default 0,
    inserted_at timestamptz not null,
    constraint stripe_customers_pkey primary key (id),
    constraint stripe_customers_account_id_key unique (account_id),
    constraint stripe_customers_account_id_fkey foreign key (account_id) references accounts (id) on delete set null,
    constraint stripe_customers_given_plan_fkey foreign key (given_plan) references plans (name),
    constraint stripe_customers_claim check ((claim is null) = (lease_until is null))
);

create index stripe_customers_look_at on stripe_customers (look_at);

-- As they were at Stripe when somebody looked last.
create table stripe_subscriptions (
    id text not null,
    customer_id text not null,
    -- Stripe's word.
    status text not null,
    product text not null,
    -- Periods are the months from here.
    anchor timestamptz not null,
    period_ends_at timestamptz not null,
    -- When it ends, if that is decided.
    cancel_at timestamptz,
    -- What stays paid for after a change to something smaller, and until when.
    kept_product text,
    kept_until timestamptz,
    -- Since when something is to be paid.
    unpaid_since timestamptz,
    created_at timestamptz not null,
    constraint stripe_subscriptions_pkey primary key (id),
    constraint stripe_subscriptions_customer_id_fkey foreign key (customer_id) references stripe_customers (id)
        on delete cascade,
    constraint stripe_subscriptions_kept check ((kept_product is null) = (kept_until is null))
);

create index stripe_subscriptions_customer_id on stripe_subscriptions (customer_id);

-- Credits that were bought: each is given once.
create table stripe_purchases (
    -- Stripe's name for the visit to its page.
    id text not null,
    customer_id text not null,
    credits bigint not null,
    ordered_at timestamptz not null,
    constraint stripe_purchases_pkey primary key (id),
    constraint stripe_purchases_customer_id_fkey foreign key (customer_id) references stripe_customers (id)
        on delete cascade,
    constraint stripe_purchases_sane check (credits > 0)
);

create index stripe_purchases_customer_id on stripe_purchases (customer_id);

-- What Stripe has told, word for word, for those who look for a fault.
create table stripe_events (
    id text not null,
    kind text not null,
    -- Null: nobody, or somebody who is no customer of ours.
    customer_id text,
    body text not null,
    created_at timestamptz not null,
    received_at timestamptz not null,
    constraint stripe_events_pkey primary key (id),
    constraint stripe_events_customer_id_fkey foreign key (customer_id) references stripe_customers (id)
        on delete cascade
);

create index stripe_events_received_at on stripe_events (received_at);
create index stripe_events_customer_id on stripe_events (customer_id);

-- What was found at Stripe although no event had told of it, or could not be right.
create table stripe_differences (
    id uuid not null,
    customer_id text not null,
    account_id uuid,
    -- For the operator.
    words text not null,
    found_at timestamptz not null,
    constraint stripe_differences_pkey primary key (id)
);

create index stripe_differences_found_at on stripe_differences (found_at);

-- The days on which somebody has compared everything. The first who writes a day down does it.
create table stripe_reconciliations (
    day date not null,
    constraint stripe_reconciliations_pkey primary key (day)
);
