-- Templates that other templates use: their partials, layouts and macros.
alter table templates
    add column kind text not null default 'document',
    -- Name by which other templates use a partial.
    add column handle text,
    add constraint templates_kind_known check (kind in ('document', 'partial')),
    add constraint templates_handle_form check (handle ~ '^[a-z0-9-]{1,64}$'),
    add constraint templates_partial_has_handle check (kind <> 'partial' or handle is not null);

create unique index templates_handle_key on templates (account_id, handle) where deleted_at is null;

-- The partials that a version uses, directly and through others, in the versions that were published when it was. Rows are
-- never changed.
create table template_version_partials (
    account_id uuid not null,
    template_id uuid not null,
    version integer not null,
    handle text not null,
    partial_id uuid not null,
    partial_version integer not null,
    constraint template_version_partials_pkey primary key (template_id, version, handle),
    constraint template_version_partials_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_version_partials_version_fkey
        foreign key (template_id, version) references template_versions (template_id, number) on delete cascade,
    -- Deferred: if an account is deleted, its versions go in any order.
    constraint template_version_partials_partial_fkey
        foreign key (partial_id, partial_version) references template_versions (template_id, number)
        deferrable initially deferred
);
create index template_version_partials_partial on template_version_partials (partial_id, partial_version);
create index template_version_partials_account_id on template_version_partials (account_id);

-- A row and its index entries.
create constraint trigger template_version_partials_count_new after insert on template_version_partials
    deferrable initially deferred for each row execute function count_row('template_bytes', '256');
create constraint trigger template_version_partials_count_gone after delete on template_version_partials
    deferrable initially deferred for each row execute function count_row('template_bytes', '-256');
