-- Requests of synchronous renders are stored after their response, as retained content from the start. A row without content
-- says why it wasn't stored.
alter table render_contents
    add column omitted text,
    add constraint render_contents_omitted_known check (omitted in ('busy', 'storage_full')),
    add constraint render_contents_omitted_empty check (omitted is null or octet_length(sealed) = 0);

create or replace function count_render_content() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' and new.retained then
        perform add_storage(new.account_id, jsonb_build_object('retained_bytes', octet_length(new.sealed)));
    elsif tg_op = 'INSERT' then
        perform claim_storage(
            new.account_id, jsonb_build_object('queued_renders', 1, 'queued_bytes', octet_length(new.sealed))
        );
    elsif tg_op = 'UPDATE' then
        perform add_storage(
            new.account_id,
            jsonb_build_object(
                'queued_renders', -1, 'queued_bytes', -octet_length(new.sealed),
                'retained_bytes', octet_length(new.sealed)
            )
        );
    elsif old.retained then
        perform add_storage(old.account_id, jsonb_build_object('retained_bytes', -octet_length(old.sealed)));
    else
        perform add_storage(
            old.account_id, jsonb_build_object('queued_renders', -1, 'queued_bytes', -octet_length(old.sealed))
        );
    end if;
    return null;
end
$$;

-- Stores requests of an account's synchronous renders: those for which the account has room, in this order. Requests that
-- are left out have a reason and no content. Renders that are gone are skipped.
create function store_render_contents(
    of_account uuid, ids uuid[], form_version smallint, contents bytea[], reasons text[]
) returns void language plpgsql as $$
declare
    room bigint;
begin
    -- Content is worth less than the time of a disk, which other transactions wait for.
    perform set_config('synchronous_commit', 'off', true);
    -- Locked, so that content is deleted after a decision not to retain it, and not stored after that.
    perform from accounts where id = of_account and keep_content for share;
    if not found then
        return;
    end if;
    perform from renders where account_id = of_account and id = any(ids) order by id for key share;
    -- The last lock, as in every transaction.
    select (limits.storage_limits ->> 'retained_bytes')::bigint - coalesce((storage.used ->> 'retained_bytes')::bigint, 0)
    into room
    from account_storage storage join account_limits limits using (account_id)
    where storage.account_id = of_account
    for no key update of storage;
    insert into render_contents (render_id, account_id, version, retained, sealed, omitted)
    select id, of_account, form_version, true, case when bytes <= room then content else '' end,
        coalesce(reason, case when bytes > room then 'storage_full' end)
    from (
        select new.id, new.content, new.reason, sum(octet_length(new.content)) over (order by new.place) as bytes
        from unnest(ids, contents, reasons) with ordinality as new (id, content, reason, place)
        join renders on renders.account_id = of_account and renders.id = new.id
    ) fitted
    on conflict on constraint render_contents_pkey do nothing;
end
$$;
