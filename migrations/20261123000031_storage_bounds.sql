-- What an account may store. Its plan, or an operator, sets the bounds; triggers count in the transactions that change rows,
-- so that no crash leaves a count wrong, and refuse what would pass a bound.

alter table plans
    -- Bounds by resource: whole numbers, of bytes where the name says so. Every resource is named.
    add column storage_limits jsonb not null default '{
        "queued_renders": 1000, "queued_bytes": 104857600, "retained_bytes": 104857600, "response_bytes": 104857600,
        "document_bytes": 524288000, "template_bytes": 209715200, "templates": 50, "api_keys": 20, "connections": 10,
        "pending_callbacks": 2000, "members": 50
    }',
    add constraint plans_storage_limits_complete check (
        storage_limits ?& array[
            'queued_renders', 'queued_bytes', 'retained_bytes', 'response_bytes', 'document_bytes', 'template_bytes',
            'templates', 'api_keys', 'connections', 'pending_callbacks', 'members'
        ]
    );

update plans set storage_limits = case name
    when 'Starter' then '{
        "queued_renders": 10000, "queued_bytes": 1073741824, "retained_bytes": 2147483648, "response_bytes": 1073741824,
        "document_bytes": 10737418240, "template_bytes": 2147483648, "templates": 500, "api_keys": 100, "connections": 50,
        "pending_callbacks": 20000, "members": 200
    }'::jsonb
    when 'Growth' then '{
        "queued_renders": 100000, "queued_bytes": 10737418240, "retained_bytes": 21474836480,
        "response_bytes": 10737418240, "document_bytes": 107374182400, "template_bytes": 21474836480, "templates": 5000,
        "api_keys": 500, "connections": 200, "pending_callbacks": 200000, "members": 1000
    }'
    else '{
        "queued_renders": 500000, "queued_bytes": 53687091200, "retained_bytes": 107374182400,
        "response_bytes": 53687091200, "document_bytes": 1099511627776, "template_bytes": 53687091200, "templates": 20000,
        "api_keys": 2000, "connections": 1000, "pending_callbacks": 1000000, "members": 5000
    }'
end
where name <> 'Free';

alter table accounts
    -- Bounds that an operator has set instead of the plan's.
    add column storage_limits jsonb not null default '{}';

create or replace view account_limits as
select
    accounts.id as account_id,
    coalesce(accounts.concurrency, plans.concurrency) as concurrency,
    coalesce(accounts.rate_per_minute, plans.rate_per_minute) as rate_per_minute,
    coalesce(accounts.body_bytes, plans.body_bytes) as body_bytes,
    coalesce(accounts.sync_deadline_seconds, plans.sync_deadline_seconds) as sync_deadline_seconds,
    accounts.suspended_at,
    plans.storage_limits || accounts.storage_limits as storage_limits
from accounts join plans on plans.name = accounts.plan;

-- What each account stores. One row for all resources: it is locked once, and last, by whoever stores something.
create table account_storage (
    account_id uuid not null,
    -- By resource; one that is missing is 0.
    used jsonb not null default '{}',
    constraint account_storage_pkey primary key (account_id),
    constraint account_storage_account_id_fkey foreign key (account_id) references accounts (id) on delete cascade
) with (fillfactor = 50);

create function open_account_storage() returns trigger language plpgsql as $$
begin
    insert into account_storage (account_id) values (new.id);
    return null;
end
$$;

create trigger accounts_open_storage after insert on accounts for each row execute function open_account_storage();

-- Adds changes, by resource. Null: the account is gone.
create function add_storage(of_account uuid, changes jsonb) returns jsonb language plpgsql as $$
declare
    now_used jsonb;
begin
    update account_storage
    set used = used || (
        select jsonb_object_agg(key, coalesce((used ->> key)::bigint, 0) + value::bigint) from jsonb_each_text(changes)
    )
    where account_id = of_account
    returning used into now_used;
    return now_used;
end
$$;

-- As above, within the bounds. The name of the constraint that a refusal violates ends in the resource; its detail is the
-- bound and what was used before.
create function claim_storage(of_account uuid, changes jsonb) returns void language plpgsql as $$
declare
    now_used jsonb := add_storage(of_account, changes);
    passed record;
begin
    select changed.key, (now_used ->> changed.key)::bigint - changed.value::bigint as used,
        (limits.storage_limits ->> changed.key)::bigint as bound
    into passed
    from jsonb_each_text(changes) changed
    join account_limits limits on limits.account_id = of_account
    where (now_used ->> changed.key)::bigint > (limits.storage_limits ->> changed.key)::bigint
    order by changed.key
    limit 1;
    if found then
        raise exception 'account % has no room for %', of_account, passed.key using
            errcode = 'check_violation', constraint = 'account_storage_' || passed.key,
            detail = passed.bound || ' ' || passed.used;
    end if;
end
$$;

-- Rows that count as one of a resource each; the trigger names it, and 1 or -1. A new row is claimed.
create function count_row() returns trigger language plpgsql as $$
declare
    of_account uuid := case when tg_op = 'DELETE' then old.account_id else new.account_id end;
    change jsonb := jsonb_build_object(tg_argv[0], tg_argv[1]::integer);
begin
    if tg_op = 'INSERT' then
        perform claim_storage(of_account, change);
    else
        perform add_storage(of_account, change);
    end if;
    return null;
end
$$;

-- All are deferred to the end of the transaction: the row of the account is locked after everything else, and for a moment.

create constraint trigger templates_count_new after insert on templates
    deferrable initially deferred for each row execute function count_row('templates', '1');
create constraint trigger templates_count_ended after update of deleted_at on templates
    deferrable initially deferred for each row
    when (old.deleted_at is null and new.deleted_at is not null) execute function count_row('templates', '-1');
create constraint trigger templates_count_gone after delete on templates
    deferrable initially deferred for each row
    when (old.deleted_at is null) execute function count_row('templates', '-1');

create constraint trigger api_keys_count_new after insert on api_keys
    deferrable initially deferred for each row execute function count_row('api_keys', '1');
create constraint trigger api_keys_count_ended after update of revoked_at on api_keys
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null) execute function count_row('api_keys', '-1');
create constraint trigger api_keys_count_gone after delete on api_keys
    deferrable initially deferred for each row
    when (old.revoked_at is null) execute function count_row('api_keys', '-1');

create constraint trigger connections_count_new after insert on connections
    deferrable initially deferred for each row execute function count_row('connections', '1');
create constraint trigger connections_count_gone after delete on connections
    deferrable initially deferred for each row execute function count_row('connections', '-1');

-- Those who are invited count as members.
create constraint trigger members_count_new after insert on members
    deferrable initially deferred for each row execute function count_row('members', '1');
create constraint trigger members_count_gone after delete on members
    deferrable initially deferred for each row execute function count_row('members', '-1');
create constraint trigger invitations_count_new after insert on invitations
    deferrable initially deferred for each row execute function count_row('members', '1');
create constraint trigger invitations_count_gone after delete on invitations
    deferrable initially deferred for each row execute function count_row('members', '-1');

-- From the acceptance of the render until the callback is delivered or given up.
create constraint trigger callbacks_count_new after insert on callbacks
    deferrable initially deferred for each row execute function count_row('pending_callbacks', '1');
create constraint trigger callbacks_count_ended after update of state on callbacks
    deferrable initially deferred for each row
    when (old.state in ('waiting', 'sending') and new.state in ('delivered', 'failed'))
    execute function count_row('pending_callbacks', '-1');
create constraint trigger callbacks_count_again after update of state on callbacks
    deferrable initially deferred for each row
    when (old.state in ('delivered', 'failed') and new.state in ('waiting', 'sending'))
    execute function count_row('pending_callbacks', '1');
create constraint trigger callbacks_count_gone after delete on callbacks
    deferrable initially deferred for each row
    when (old.state in ('waiting', 'sending')) execute function count_row('pending_callbacks', '-1');

alter table render_contents
    -- Whether the render has ended, so that the content stays only to be looked at.
    add column retained boolean not null default false;

create function count_render_content() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
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

create constraint trigger render_contents_count_new after insert on render_contents
    deferrable initially deferred for each row execute function count_render_content();
create constraint trigger render_contents_count_retained after update of retained on render_contents
    deferrable initially deferred for each row
    when (new.retained and not old.retained) execute function count_render_content();
create constraint trigger render_contents_count_gone after delete on render_contents
    deferrable initially deferred for each row execute function count_render_content();

create function retain_render_content() returns trigger language plpgsql as $$
begin
    update render_contents set retained = true where render_id = new.id;
    return null;
end
$$;

create trigger renders_retain_content after update of finished_at on renders
    for each row when (new.mode = 'async' and old.finished_at is null and new.finished_at is not null)
    execute function retain_render_content();

-- Thumbnails are retained like contents, and left out where there is no room for them.
create function count_thumbnail() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        perform add_storage(new.account_id, jsonb_build_object('retained_bytes', octet_length(new.sealed)));
    else
        perform add_storage(old.account_id, jsonb_build_object('retained_bytes', -octet_length(old.sealed)));
    end if;
    return null;
end
$$;

create constraint trigger render_thumbnails_count_new after insert on render_thumbnails
    deferrable initially deferred for each row when (new.sealed is not null) execute function count_thumbnail();
create constraint trigger render_thumbnails_count_gone after delete on render_thumbnails
    deferrable initially deferred for each row when (old.sealed is not null) execute function count_thumbnail();

-- The logs of renders too: what pages fetched, and what their consoles said.
create function render_log_bytes(render renders) returns bigint language sql immutable as $$
    select case when render.requests = '[]' then 0 else octet_length(render.requests::text) end
        + case when render.console = '[]' then 0 else octet_length(render.console::text) end
$$;

create function count_render_log() returns trigger language plpgsql as $$
begin
    perform add_storage(
        old.account_id,
        jsonb_build_object(
            'retained_bytes', case when tg_op = 'UPDATE' then render_log_bytes(new) else 0 end - render_log_bytes(old)
        )
    );
    return null;
end
$$;

create constraint trigger renders_count_log after update of requests, console on renders
    deferrable initially deferred for each row
    when (old.requests <> new.requests or old.console <> new.console) execute function count_render_log();
create constraint trigger renders_count_log_gone after delete on renders
    deferrable initially deferred for each row
    when (old.requests <> '[]' or old.console <> '[]') execute function count_render_log();

-- Documents in the service's own storage, from their render's success until they are deleted there.
create function count_document() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and new.object_expires_at is not null then
        perform claim_storage(new.account_id, jsonb_build_object('document_bytes', coalesce(new.bytes, 0)));
    else
        perform add_storage(old.account_id, jsonb_build_object('document_bytes', -coalesce(old.bytes, 0)));
    end if;
    return null;
end
$$;

create constraint trigger renders_count_document after update of object_expires_at on renders
    deferrable initially deferred for each row
    when ((old.object_expires_at is null) <> (new.object_expires_at is null)) execute function count_document();
create constraint trigger renders_count_document_gone after delete on renders
    deferrable initially deferred for each row
    when (old.object_expires_at is not null) execute function count_document();

alter table idempotency_keys
    -- Size of the file that `answer_id` names. Means nothing without one.
    add column answer_bytes bigint;

create function count_response() returns trigger language plpgsql as $$
declare
    before bigint := case when old.answer_id is null then 0 else coalesce(old.answer_bytes, 0) end;
    after bigint := 0;
begin
    if tg_op = 'UPDATE' and new.answer_id is not null then
        after := coalesce(new.answer_bytes, 0);
    end if;
    if after > before then
        perform claim_storage(old.account_id, jsonb_build_object('response_bytes', after - before));
    elsif after < before then
        perform add_storage(old.account_id, jsonb_build_object('response_bytes', after - before));
    end if;
    return null;
end
$$;

create constraint trigger idempotency_keys_count_response after update of answer_id, answer_bytes on idempotency_keys
    deferrable initially deferred for each row execute function count_response();
create constraint trigger idempotency_keys_count_response_gone after delete on idempotency_keys
    deferrable initially deferred for each row when (old.answer_id is not null) execute function count_response();

-- A version counts a KiB more than its content, so that their number is bounded too.
create function template_version_bytes(version template_versions) returns bigint language sql immutable as $$
    select 1024 + octet_length(version.content) + octet_length(version.preview_context::text)
$$;

create function count_template_version() returns trigger language plpgsql as $$
declare
    of_account uuid;
begin
    -- None: its template goes with the account.
    select account_id into of_account from templates
    where id = case when tg_op = 'DELETE' then old.template_id else new.template_id end;
    if tg_op = 'INSERT' then
        perform claim_storage(of_account, jsonb_build_object('template_bytes', template_version_bytes(new)));
    elsif of_account is not null then
        perform add_storage(of_account, jsonb_build_object('template_bytes', -template_version_bytes(old)));
    end if;
    return null;
end
$$;

create constraint trigger template_versions_count_new after insert on template_versions
    deferrable initially deferred for each row execute function count_template_version();
-- At once: the template may be deleted in the same transaction.
create trigger template_versions_count_gone after delete on template_versions
    for each row execute function count_template_version();

alter table template_versions
    -- When it first became the published version; never published ones are deleted after the plan's retention.
    add column published_at timestamptz;

-- Which of the earlier versions were published is not known.
update template_versions set published_at = template_versions.inserted_at
from templates
where templates.id = template_versions.template_id and template_versions.number <= templates.published_version;

create function note_published_version() returns trigger language plpgsql as $$
begin
    update template_versions set published_at = now()
    where template_id = new.id and number = new.published_version and published_at is null;
    return null;
end
$$;

-- Deferred: a new template is inserted before its first version.
create constraint trigger templates_note_published after insert or update of published_version on templates
    deferrable initially deferred for each row execute function note_published_version();

create index template_versions_unpublished on template_versions (inserted_at) where published_at is null;
create index templates_deleted_at on templates (deleted_at) where deleted_at is not null;
create index api_keys_ended on api_keys (least(revoked_at, expires_at))
    where least(revoked_at, expires_at) is not null;

alter table renders
    -- Of a test render that has ended: request, thumbnails, title and console messages are deleted after a day.
    add column content_deleted boolean not null default false;

create index renders_test_content on renders (inserted_at)
    where not livemode and not content_deleted and finished_at is not null;

-- The triggers above keep other writers waiting until the counts begin.
update render_contents set retained = true from renders
where renders.id = render_contents.render_id and renders.finished_at is not null;

-- What the update has queued would count once more.
set constraints all immediate;

insert into account_storage (account_id, used)
select accounts.id, coalesce(counted.used, '{}')
from accounts
left join (
    select account_id, jsonb_object_agg(resource, used) as used
    from (
        select account_id, 'queued_renders' as resource, count(*) as used
        from render_contents where not retained group by account_id
        union all
        select account_id, 'queued_bytes', sum(octet_length(sealed))
        from render_contents where not retained group by account_id
        union all
        select account_id, 'retained_bytes', sum(bytes)
        from (
            select account_id, octet_length(sealed) as bytes from render_contents where retained
            union all
            select account_id, octet_length(sealed) from render_thumbnails where sealed is not null
            union all
            select account_id, render_log_bytes(renders) from renders where requests <> '[]' or console <> '[]'
        ) retained
        group by account_id
        union all
        select account_id, 'document_bytes', sum(coalesce(bytes, 0))
        from renders where object_expires_at is not null group by account_id
        union all
        select templates.account_id, 'template_bytes', sum(template_version_bytes(versions))
        from template_versions versions join templates on templates.id = versions.template_id
        group by templates.account_id
        union all
        select account_id, 'templates', count(*) from templates where deleted_at is null group by account_id
        union all
        select account_id, 'api_keys', count(*) from api_keys where revoked_at is null group by account_id
        union all
        select account_id, 'connections', count(*) from connections group by account_id
        union all
        select account_id, 'pending_callbacks', count(*)
        from callbacks where state in ('waiting', 'sending') group by account_id
        union all
        select account_id, 'members', count(*)
        from (select account_id from members union all select account_id from invitations) people
        group by account_id
    ) resources
    group by account_id
) counted on counted.account_id = accounts.id;
