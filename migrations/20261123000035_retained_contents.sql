-- Decides whether the stored request of a queued render is retained, in the statement that ends the render: its account has
-- to retain content, and to have room for it. Releases before this one also delete what is not to be retained.
create or replace function retain_render_content() returns trigger language plpgsql as $$
begin
    if (select keep_content from accounts where id = new.account_id) then
        -- Prevents renders that end concurrently from claiming the same room.
        perform from account_storage where account_id = new.account_id for no key update;
        update render_contents set retained = true
        from account_storage storage join account_limits limits using (account_id)
        where render_id = new.id and storage.account_id = new.account_id
            and coalesce((storage.used ->> 'retained_bytes')::bigint, 0) + octet_length(sealed)
                <= (limits.storage_limits ->> 'retained_bytes')::bigint;
        if found then
            return null;
        end if;
    end if;
    delete from render_contents where render_id = new.id;
    return null;
end
$$;
