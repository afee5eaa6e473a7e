//! What accounts store: the service's counts, and the actual amounts.

use crate::support::service::{TestAccount, TestService};

/// Bytes of the queue that uploaded rows leave to renders.
pub(crate) const ROOM_FOR_RENDERS: i64 = 4 << 20;

/// Recounts every resource of every account, and returns the differences from the service's counts.
const WRONG: &str = "
    with truth (account_id, resource, used) as (
        select account_id, 'queued_renders', count(*) from renders
        where mode = 'async' and finished_at is null group by account_id
        union all
        select contents.account_id, 'queued_bytes', sum(octet_length(sealed)) from render_contents contents
        join renders on renders.id = contents.render_id
        where finished_at is null group by contents.account_id
        union all
        select account_id, 'retained_bytes', sum(bytes) from (
            select contents.account_id, octet_length(sealed) as bytes from render_contents contents
            join renders on renders.id = contents.render_id where finished_at is not null
            union all
            select account_id, octet_length(sealed) from render_thumbnails where sealed is not null
            union all
            select account_id, octet_length(sealed) from accessibility_reports
            union all
            select account_id, octet_length(requests::text) from renders where requests <> '[]'
            union all
            select account_id, octet_length(console::text) from renders where console <> '[]'
        ) retained group by account_id
        union all
        select account_id, 'response_bytes', sum(answer_bytes) from idempotency_keys
        where answer_id is not null group by account_id
        union all
        select account_id, 'document_bytes', sum(bytes) from renders
        where object_expires_at is not null group by account_id
        union all
        select account_id, 'template_bytes', sum(bytes) from (
            select account_id, 1024 + octet_length(content) + octet_length(preview_context::text)
                + octet_length(translations::text) - octet_length('{}') as bytes
            from template_versions join templates on templates.id = template_id
            union all
            select account_id, 1024 + octet_length(data::text) from template_sample_sets
            union all
            select account_id, 256 from template_version_partials
        ) template_bytes group by account_id
        union all
        select account_id, 'templates', count(*) from templates where deleted_at is null group by account_id
        union all
        select account_id, 'asset_bytes', sum(octet_length(sealed)) from assets group by account_id
        union all
        select account_id, 'assets', count(*) from assets group by account_id
        union all
        select account_id, 'api_keys', count(*) from api_keys where revoked_at is null group by account_id
        union all
        select account_id, 'connections', count(*) from connections group by account_id
        union all
        select account_id, 'pending_callbacks', count(*) from callbacks
        where state in ('waiting', 'sending') group by account_id
        union all
        select account_id, 'members', count(*) from (
            select account_id from members union all select account_id from invitations
        ) people group by account_id
    ),
    counted (account_id, resource, used) as (
        select account_id, key, value::bigint from account_storage, jsonb_each_text(used)
    )
    select coalesce(string_agg(resource || ': ' || counted.used || ', not ' || truth.used, '; '), '')
    from counted full join truth using (account_id, resource)
    where coalesce(counted.used, 0) <> coalesce(truth.used, 0)";

impl TestService {
    /// Asserts that all counts are correct.
    pub(crate) async fn storage_is_counted(&self) {
        assert_eq!(self.text(WRONG).await, "");
    }

    /// Returns the count of a resource of an account.
    pub(crate) async fn stored(&self, account: &TestAccount, resource: &str) -> i64 {
        let query = format!(
            "select coalesce((used ->> '{resource}')::bigint, 0) from account_storage where account_id = '{}'",
            account.id
        );
        self.number(&query).await
    }

    /// Sets a limit for one account.
    pub(crate) async fn limit_storage(&self, account: &TestAccount, resource: &str, limit: i64) {
        let statement = format!(
            r#"update accounts set storage_limits = storage_limits || '{{"{resource}": {limit}}}' where id = '{}'"#,
            account.id
        );
        assert_eq!(self.execute(&statement).await, 1);
    }
}
