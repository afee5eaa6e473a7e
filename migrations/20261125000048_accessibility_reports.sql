-- What the check of a document found, if the document doesn't declare every level of conformance. Stored after the render
-- like the requests of synchronous renders, and deleted with them.

create table accessibility_reports (
    render_id uuid not null,
    account_id uuid not null,
    -- JSON, compressed and encrypted. It contains texts of the document.
    sealed bytea not null,
    constraint accessibility_reports_pkey primary key (render_id),
    constraint accessibility_reports_render_id_fkey foreign key (render_id) references renders (id) on delete cascade,
    constraint accessibility_reports_account_id_fkey
        foreign key (account_id) references accounts (id) on delete cascade
);

-- Sealed bytes can't be compressed.
alter table accessibility_reports alter column sealed set storage external;
create index accessibility_reports_account_id on accessibility_reports (account_id);

-- Counted as retained bytes, by the function that counts thumbnails: it reads only the account and the encrypted bytes.
create constraint trigger accessibility_reports_count_new after insert on accessibility_reports
    deferrable initially deferred for each row execute function count_thumbnail();
create constraint trigger accessibility_reports_count_gone after delete on accessibility_reports
    deferrable initially deferred for each row execute function count_thumbnail();

-- Stores reports of an account's renders: those for which the account has room, in this order. Reports of renders that are
-- gone, or whose content was deleted, are skipped. Locks as store_render_contents does.
create function store_accessibility_reports(of_account uuid, ids uuid[], reports bytea[])
returns void language plpgsql as $$
declare
    room bigint;
begin
    perform set_config('synchronous_commit', 'off', true);
    perform from accounts where id = of_account and keep_content for share;
    if not found then
        return;
    end if;
    perform from renders where account_id = of_account and id = any(ids) order by id for share;
    select (limits.storage_limits ->> 'retained_bytes')::bigint - coalesce((storage.used ->> 'retained_bytes')::bigint, 0)
    into room
    from account_storage storage join account_limits limits using (account_id)
    where storage.account_id = of_account
    for no key update of storage;
    insert into accessibility_reports (render_id, account_id, sealed)
    select id, of_account, report
    from (
        select new.id, new.report, sum(octet_length(new.report)) over (order by new.place) as bytes
        from unnest(ids, reports) with ordinality as new (id, report, place)
        join renders on renders.account_id = of_account and renders.id = new.id and not renders.content_deleted
    ) fitted
    where bytes <= room
    on conflict on constraint accessibility_reports_pkey do nothing;
end
$$;
