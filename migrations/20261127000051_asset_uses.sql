-- The assets, and folders of assets with their slash, that the published versions of templates name, themselves or by their
-- partials. At most 100 for each template, whose number is limited, so they don't count as storage.
create table template_assets (
    account_id uuid not null,
    template_id uuid not null,
    name text not null,
    constraint template_assets_pkey primary key (template_id, name),
    constraint template_assets_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade,
    constraint template_assets_template_id_fkey
        foreign key (template_id) references templates (id) on delete cascade
);
create index template_assets_name on template_assets (account_id, name);

-- The content that an asset had before: bytes, sha256 and updated_at, as the API shows them.
alter table assets add column replaced jsonb;

create function note_replaced_asset() returns trigger language plpgsql as $$
begin
    new.replaced := jsonb_build_object(
        'bytes', old.bytes, 'sha256', encode(old.sha256, 'hex'), 'updated_at', old.updated_at
    );
    return new;
end
$$;

create trigger assets_note_replaced before update of sha256 on assets
    for each row when (old.sha256 <> new.sha256) execute function note_replaced_asset();
