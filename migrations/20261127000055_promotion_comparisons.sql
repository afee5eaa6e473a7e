-- The sets of sample data with which members have compared the pages of promotions that await approval.
create table template_promotion_comparisons (
    account_id uuid not null,
    promotion_id uuid not null,
    user_id uuid not null,
    -- The release that the channel had at that time.
    older integer not null,
    set_name text not null,
    constraint template_promotion_comparisons_pkey primary key (promotion_id, user_id, older, set_name),
    constraint template_promotion_comparisons_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_promotion_comparisons_promotion_id_fkey
        foreign key (promotion_id) references template_promotions (id) on delete cascade,
    constraint template_promotion_comparisons_user_id_fkey
        foreign key (user_id) references users (id) on delete cascade
);
create index template_promotion_comparisons_account_id on template_promotion_comparisons (account_id);
create index template_promotion_comparisons_user_id on template_promotion_comparisons (user_id);
