//! Inserts a history by SQL.

use sqlx::{AssertSqlSafe, PgPool};
use time::Duration;
use uuid::Uuid;

use crate::error::LoadError;

/// Accounts in all.
const ACCOUNTS: u32 = 200;
/// Renders of the small account.
const FEW: u64 = 100;
/// Time over which the renders are spread: a day less than the plan Scale retains them.
pub(super) const SPAN: Duration = Duration::days(89);

/// What filters of the account with half of the renders look for.
pub(super) struct BigAccount {
    /// A key with few renders, which are among the oldest.
    pub(super) rare_key: Uuid,
    /// A template with few renders, which are among the oldest.
    pub(super) rare_template: Uuid,
    /// One of the oldest renders.
    pub(super) old_render: Uuid,
}

/// Inserts renders: half of them of the account of `big`, a hundred of that of `small`, the others of 197 new accounts. Webhooks are
/// a tenth of them. The older half of the renders is asynchronous in part, the newer one synchronous.
pub(super) async fn fill(db: &PgPool, [big, small]: [&str; 2], renders: u64) -> Result<BigAccount, LoadError> {
    let statements = STATEMENTS
        .replace("{big}", big)
        .replace("{small}", small)
        .replace("{renders}", &renders.to_string())
        .replace("{each_few}", &(renders / FEW).max(1).to_string())
        .replace("{others}", &(ACCOUNTS - 3).to_string())
        .replace("{seconds}", &SPAN.whole_seconds().to_string());
    let mut connection = db.acquire().await?;
    sqlx::raw_sql(AssertSqlSafe(statements))
        .execute(&mut *connection)
        .await?;
    sqlx::raw_sql("vacuum analyze").execute(&mut *connection).await?;
    let samples = sqlx::query_as("select rare_key, rare_template, old_render from history_samples");
    let samples: (Uuid, Uuid, Uuid) = samples.fetch_one(&mut *connection).await?;
    let (rare_key, rare_template, old_render) = samples;
    Ok(BigAccount {
        rare_key,
        rare_template,
        old_render,
    })
}

/// One transaction, without triggers.
const STATEMENTS: &str = "
begin;
set local session_replication_role = replica;
create temporary table history_accounts on commit drop as
    select case users.email when '{big}' then 0 else -1 end as number, members.account_id, users.id as owner,
        (select id from api_keys where api_keys.account_id = members.account_id limit 1) as key
    from users join members on members.user_id = users.id
    where users.email in ('{big}', '{small}');
insert into accounts (id, inserted_at) select gen_random_uuid(), now() from generate_series(1, {others});
insert into history_accounts (number, account_id)
    select row_number() over (), id from accounts
    where not exists (select from members where members.account_id = accounts.id);
update accounts set plan = 'Scale', inserted_at = now() - interval '1 year';

create temporary table history_samples as
    select gen_random_uuid() as rare_key, gen_random_uuid() as test_key, gen_random_uuid() as rare_template,
        null::uuid as old_render;
insert into api_keys (id, account_id, created_by, name, hint, digest, scopes, livemode, inserted_at)
    select keys.id, account_id, owner, keys.name, 'bench', sha256(keys.name::bytea), '{}', keys.livemode, now()
    from history_accounts, history_samples,
        lateral (values (rare_key, 'rare', true), (test_key, 'test', false)) as keys (id, name, livemode)
    where number = 0;

insert into renders
    (id, account_id, api_key_id, mode, status, livemode, options, page_count, bytes, phase_times, error, inserted_at,
     started_at, finished_at, conformance, credits, title, content_deleted)
select
    (
        lpad(to_hex((extract(epoch from accepted_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(place::text), 1, 3) || '8'
        || substr(md5(place::text), 4, 15)
    )::uuid,
    account_id,
    case when is_rare then rare_key when is_test then test_key else key end,
    case when place < {renders} / 2 and place % 3 = 0 then 'async' else 'sync' end,
    case when is_failed then 'failed' else 'succeeded' end,
    not is_test,
    jsonb_build_object(
        'parts', jsonb_build_array(
            case
                when is_rare then jsonb_build_object('type', 'template', 'template_id', rare_template, 'version', 1)
                else '{\"type\": \"html\", \"bytes\": 5210}'
            end
        ),
        'output_format', 'pdf/a'
    ),
    case when not is_failed then 2 end, case when not is_failed then 48213 end,
    '{\"load\": 12.5, \"post\": 4.25, \"print\": 14.5, \"queue\": 0.5}',
    case when is_failed then '{\"code\": \"load_failed\", \"message\": \"the page could not be loaded\"}'::jsonb end,
    accepted_at, accepted_at + interval '1 ms', accepted_at + (30 + place % 50) * interval '1 ms',
    case when not is_failed then 'PDF/A-2b' end, case when not is_failed then (not is_test)::integer end,
    'Invoice ' || place, is_test
from history_samples, generate_series(1, {renders}) as places (place)
cross join lateral (
    select now() - (1 - place / {renders}.0) * interval '{seconds} s' as accepted_at,
        place % 97 < 2 as is_failed, place < {renders} / 1000 and place % 4 = 1 as is_test, place < 100 as is_rare
) as kinds
join history_accounts on number = case
    when place % {each_few} = 0 then -1
    when place % 2 = 1 then 0
    else place / 2 % {others} + 1
end;

update history_samples set old_render = (
    select renders.id from renders join history_accounts using (account_id)
    where number = 0 order by inserted_at offset 200 limit 1
);
insert into render_hours (account_id, hour, api_key_id, succeeded, failed)
    select account_id, date_trunc('hour', inserted_at, 'UTC'), api_key_id,
        count(*) filter (where status = 'succeeded'), count(*) filter (where status = 'failed')
    from renders where inserted_at < date_trunc('hour', now(), 'UTC') - interval '1 hour'
    group by 1, 2, 3
    on conflict do nothing;
insert into callbacks (render_id, account_id, webhook_id, sealed_target, state, body)
    select id, account_id, id, '', 'delivered', '{}' from renders
    where mode = 'async' and finished_at is not null and get_byte(uuid_send(id), 15) % 2 = 0;
insert into webhook_deliveries (id, account_id, endpoint_id, event_id, event, render_id, data, state, inserted_at)
    select renders.id, account_id, endpoints.id, renders.id, 'render.succeeded', renders.id, '{}', 'delivered', finished_at
    from renders join webhook_endpoints endpoints using (account_id)
    where finished_at is not null and get_byte(uuid_send(renders.id), 15) % 10 = 0;
insert into batches
    (id, account_id, has_key, livemode, name, state, rows, opened, succeeded, version, sealed, options, sha256, inserted_at,
     ended_at)
    select gen_random_uuid(), account_id, false, true, 'Batch ' || place, 'ended', 100, 100, 100, 1, '', '{}', '',
        now() - place * interval '1 hour', now() - place * interval '1 hour'
    from history_accounts, generate_series(1, 100) as places (place)
    where number = 0;
insert into account_log (id, account_id, happened_at, actor, actor_id, actor_name, deed)
    select gen_random_uuid(), account_id, now() - place * interval '1 minute', 'person', owner, '{big}',
        '{\"kind\": \"template.saved\"}'
    from history_accounts, generate_series(1, least({renders} / 100, 10000)) as places (place)
    where number = 0;
commit;
";
