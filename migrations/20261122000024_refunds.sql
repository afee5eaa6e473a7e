-- What is given back.

alter table stripe_purchases
    -- Of the credits: those whose payment Stripe has refunded. They were taken back as far as they were neither used nor
    -- reserved at that moment, once.
    add column refunded bigint not null default 0,
    add constraint stripe_purchases_refunded check (refunded between 0 and credits);
