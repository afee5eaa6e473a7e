-- Assets of accounts: files that their pages and templates name.
create table assets (
    id uuid not null,
    account_id uuid not null,
    name text not null,
    content_type text not null,
    -- Size of the content, unencrypted.
    bytes integer not null,
    sha256 bytea not null,
    -- Changes with the content; the encryption is bound to it.
    content_id uuid not null,
    sealed bytea not null,
    inserted_at timestamptz not null,
    updated_at timestamptz not null,
    constraint assets_pkey primary key (id),
    constraint assets_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade,
    constraint assets_name_key unique (account_id, name),
    constraint assets_name_length check (octet_length(name) between 1 and 200)
);

-- Sealed bytes can't be compressed.
alter table assets alter column sealed set storage external;
-- Lists of an account.
create index assets_account_id on assets (account_id, id);

alter table plans drop constraint plans_storage_limits_complete;
update plans set storage_limits = storage_limits || case name
    when 'Free' then '{"asset_bytes": 52428800, "assets": 100}'::jsonb
    when 'Starter' then '{"asset_bytes": 1073741824, "assets": 1000}'
    when 'Growth' then '{"asset_bytes": 10737418240, "assets": 10000}'
    else '{"asset_bytes": 53687091200, "assets": 20000}'
end;
alter table plans
    alter column storage_limits set default '{
        "queued_renders": 1000, "queued_bytes": 104857600, "retained_bytes": 104857600, "response_bytes": 104857600,
        "document_bytes": 524288000, "template_bytes": 209715200, "templates": 50, "asset_bytes": 52428800,
        "assets": 100, "api_keys": 20, "connections": 10, "pending_callbacks": 2000, "members": 50
    }',
    add constraint plans_storage_limits_complete check (
        storage_limits ?& array[
            'queued_renders', 'queued_bytes', 'retained_bytes', 'response_bytes', 'document_bytes', 'template_bytes',
            'templates', 'asset_bytes', 'assets', 'api_keys', 'connections', 'pending_callbacks', 'members'
        ]
    );

create function count_asset() returns trigger language plpgsql as $$
declare
    bytes bigint := 0;
begin
    if tg_op <> 'DELETE' then
        bytes := octet_length(new.sealed);
    end if;
    if tg_op = 'INSERT' then
        perform claim_storage(new.account_id, jsonb_build_object('assets', 1, 'asset_bytes', bytes));
        return null;
    end if;
    bytes := bytes - octet_length(old.sealed);
    if tg_op = 'DELETE' then
        perform add_storage(old.account_id, jsonb_build_object('assets', -1, 'asset_bytes', bytes));
    elsif bytes > 0 then
        perform claim_storage(new.account_id, jsonb_build_object('asset_bytes', bytes));
    elsif bytes < 0 then
        perform add_storage(new.account_id, jsonb_build_object('asset_bytes', bytes));
    end if;
    return null;
end
$$;

create constraint trigger assets_count_new after insert on assets
    deferrable initially deferred for each row execute function count_asset();
create constraint trigger assets_count_replaced after update of sealed on assets
    deferrable initially deferred for each row execute function count_asset();
create constraint trigger assets_count_gone after delete on assets
    deferrable initially deferred for each row execute function count_asset();
