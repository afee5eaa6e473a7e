-- Named sets of sample data, besides the one that each version of a template has.

create table template_sample_sets (
    account_id uuid not null,
    template_id uuid not null,
    -- Order in the editor, from 1.
    position smallint not null,
    name text not null,
    -- Not jsonb, as for versions.
    data json not null,
    constraint template_sample_sets_pkey primary key (template_id, position),
    constraint template_sample_sets_name_key unique (template_id, name),
    constraint template_sample_sets_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_sample_sets_template_id_fkey
        foreign key (template_id) references templates (id) on delete cascade,
    constraint template_sample_sets_position_bounds check (position between 1 and 19),
    constraint template_sample_sets_name_length check (char_length(name) between 1 and 64)
);

create index template_sample_sets_account_id on template_sample_sets (account_id);

-- Counted like versions. Sets are replaced as a whole, so that rows are never updated.
create function count_template_sample_set() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        perform claim_storage(
            new.account_id, jsonb_build_object('template_bytes', 1024 + octet_length(new.data::text))
        );
    else
        perform add_storage(
            old.account_id, jsonb_build_object('template_bytes', -1024 - octet_length(old.data::text))
        );
    end if;
    return null;
end
$$;

create constraint trigger template_sample_sets_count_new after insert on template_sample_sets
    deferrable initially deferred for each row execute function count_template_sample_set();
create constraint trigger template_sample_sets_count_gone after delete on template_sample_sets
    deferrable initially deferred for each row execute function count_template_sample_set();
