-- Channels of templates: the releases that requests for `staging` or `production` get.

-- The channels before `production`, in order; none if what is published is rendered at once. The first of all channels needs
-- no rows below: it has the published version of each template.
alter table accounts
    add column template_channels text[] not null default '{}',
    -- Whether another member than the author must approve the first promotion of a release to `production`.
    add column template_approval boolean not null default false,
    add constraint accounts_template_channels_number check (cardinality(template_channels) <= 4),
    add constraint accounts_template_approval_channels check (not template_approval or template_channels <> '{}');

-- The release of a template in each channel but the first.
create table template_channels (
    account_id uuid not null,
    template_id uuid not null,
    channel text not null,
    version integer not null,
    -- Since when the channel has this release.
    released_at timestamptz not null,
    constraint template_channels_pkey primary key (template_id, channel),
    constraint template_channels_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_channels_version_fkey
        foreign key (template_id, version) references template_versions (template_id, number) on delete cascade,
    constraint template_channels_channel_form check (channel ~ '^[a-z0-9-]{1,32}$')
);
create index template_channels_account_id on template_channels (account_id);
create index template_channels_version on template_channels (template_id, version);

-- Requests to give a channel another release, and what became of them.
create table template_promotions (
    id uuid not null,
    account_id uuid not null,
    template_id uuid not null,
    channel text not null,
    version integer not null,
    -- The release that the channel had before; null if it had none, or until then.
    previous_version integer,
    state text not null,
    -- Null once the user is deleted.
    requested_by uuid,
    approved_by uuid,
    inserted_at timestamptz not null,
    -- When it is to be done; null: at once.
    due_at timestamptz,
    ended_at timestamptz,
    constraint template_promotions_pkey primary key (id),
    constraint template_promotions_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_promotions_version_fkey
        foreign key (template_id, version) references template_versions (template_id, number) on delete cascade,
    constraint template_promotions_requested_by_fkey
        foreign key (requested_by) references users (id) on delete set null,
    constraint template_promotions_approved_by_fkey foreign key (approved_by) references users (id) on delete set null,
    constraint template_promotions_channel_form check (channel ~ '^[a-z0-9-]{1,32}$'),
    constraint template_promotions_state_known
        check (state in ('awaiting_approval', 'scheduled', 'done', 'cancelled', 'failed')),
    constraint template_promotions_ended
        check ((ended_at is null) = (state in ('awaiting_approval', 'scheduled'))),
    constraint template_promotions_scheduled check (state <> 'scheduled' or due_at is not null)
);
create index template_promotions_newest on template_promotions (template_id, id desc);
create index template_promotions_version on template_promotions (template_id, version);
create index template_promotions_account_id on template_promotions (account_id);
create index template_promotions_requested_by on template_promotions (requested_by);
create index template_promotions_approved_by on template_promotions (approved_by);
create index template_promotions_due on template_promotions (due_at) where state = 'scheduled';

-- The channels that a key may use; none for all.
alter table api_keys
    add column allowed_channels text[] not null default '{}';
