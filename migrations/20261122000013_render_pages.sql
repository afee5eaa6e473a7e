-- What the dashboard shows of renders.

alter table renders
    -- Of the document. Content, so that it stays only where its account keeps content.
    add column title text;

-- What did not succeed is rare, and looked for.
create index renders_account_unsuccessful on renders (account_id, status, inserted_at desc, id desc)
    where status <> 'succeeded';

-- Small pictures of a document's first pages. They go with the render, and before it when the plan's time is over.
create table render_thumbnails (
    id uuid not null,
    render_id uuid not null,
    account_id uuid not null,
    -- From 1.
    page smallint not null,
    -- Pixels.
    width integer not null,
    height integer not null,
    -- A PNG file. Null: the document asks for too much to be drawn; then this is its only row.
    sealed bytea,
    constraint render_thumbnails_pkey primary key (id),
    constraint render_thumbnails_page_key unique (render_id, page),
    constraint render_thumbnails_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint render_thumbnails_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint render_thumbnails_sane check (page > 0 and width >= 0 and height >= 0)
);

-- Sealed bytes can't be compressed.
alter table render_thumbnails alter column sealed set storage external;
create index render_thumbnails_account_id on render_thumbnails (account_id);

-- Callbacks in the order of their renders, whose ids are UUIDs of version 7.
create index callbacks_account_newest on callbacks (account_id, render_id desc);
drop index callbacks_account_id;
-- Those that did not arrive, or not yet, are rare, and looked for.
create index callbacks_account_undelivered on callbacks (account_id, state, render_id desc) where state <> 'delivered';
