-- Stored templates, and every state in which they were saved.

create table templates (
    id uuid not null,
    account_id uuid not null,
    -- As in the published version.
    name text not null,
    -- Whether the use of something undefined is an error instead of a warning.
    strict boolean not null default false,
    -- What the API shows and renders use. Versions after it are drafts.
    published_version integer not null,
    inserted_at timestamptz not null,
    -- When the published version became it.
    updated_at timestamptz not null,
    -- A deleted template frees its name; its row and versions explain the renders that used it.
    deleted_at timestamptz,
    constraint templates_pkey primary key (id),
    constraint templates_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint templates_name_length check (char_length(name) between 1 and 200)
);

create unique index templates_name_key on templates (account_id, name) where deleted_at is null;
-- Lists go by creation, newest first, and ids are UUIDs of version 7.
create index templates_account_newest on templates (account_id, id desc) where deleted_at is null;

-- Rows are never changed.
create table template_versions (
    template_id uuid not null,
    -- From 1, without gaps.
    number integer not null,
    name text not null,
    content text not null,
    -- Not jsonb, which would reorder members and refuses U+0000.
    preview_context json not null,
    -- Who saved it: the user behind the key. Null once the user is deleted.
    created_by uuid,
    inserted_at timestamptz not null,
    constraint template_versions_pkey primary key (template_id, number),
    constraint template_versions_template_id_fkey
        foreign key (template_id) references templates (id) on delete cascade,
    constraint template_versions_created_by_fkey foreign key (created_by) references users (id) on delete set null
);

create index template_versions_created_by on template_versions (created_by);

-- A new template and its first version refer to each other.
alter table templates
    add constraint templates_published_version_fkey
    foreign key (id, published_version) references template_versions (template_id, number)
    deferrable initially deferred;
