//! Table `template_promotions`: requests to give channels other releases of templates.

use platen_domain::{
    ids::{AccountId, PromotionId, TemplateId, UserId},
    page::PageRequest,
    template::{channels::ChannelName, promotions::Promotion},
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

struct PromotionRow {
    id: Uuid,
    channel: String,
    version: i32,
    previous_version: Option<i32>,
    state: String,
    requested_by: Option<Uuid>,
    approved_by: Option<Uuid>,
    requester: Option<String>,
    approver: Option<String>,
    author: Option<Uuid>,
    inserted_at: OffsetDateTime,
    due_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
}

/// Returns `None` for values that the database doesn't contain.
fn promotion(row: PromotionRow) -> Option<Promotion> {
    Some(Promotion {
        id: PromotionId(row.id),
        channel: ChannelName::parse(&row.channel)?,
        version: row.version,
        previous_version: row.previous_version,
        state: row.state.parse().ok()?,
        requested_by: row.requested_by.map(UserId),
        approved_by: row.approved_by.map(UserId),
        requester: row.requester,
        approver: row.approver,
        author: row.author.map(UserId),
        inserted_at: row.inserted_at,
        due_at: row.due_at,
        ended_at: row.ended_at,
    })
}

/// Inserts a promotion of a template.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    promotion: &Promotion,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into template_promotions
            (id, account_id, template_id, channel, version, previous_version, state, requested_by, approved_by,
             inserted_at, due_at, ended_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        promotion.id.0,
        account.0,
        template.0,
        promotion.channel.as_str(),
        promotion.version,
        promotion.previous_version,
        promotion.state.into_str(),
        promotion.requested_by.map(|user| user.0),
        promotion.approved_by.map(|user| user.0),
        promotion.inserted_at,
        promotion.due_at,
        promotion.ended_at,
    );
    execute(db, insert).await
}

/// Stores the state of a promotion, its approval and its end.
pub async fn update(db: &mut PgConnection, account: AccountId, promotion: &Promotion) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update template_promotions set state = $3, approved_by = $4, previous_version = $5, ended_at = $6
         where account_id = $1 and id = $2",
        account.0,
        promotion.id.0,
        promotion.state.into_str(),
        promotion.approved_by.map(|user| user.0),
        promotion.previous_version,
        promotion.ended_at,
    );
    execute(db, update).await
}

/// Returns the promotions of a template, newest first; with `only_open`, those that wait for their approval or time.
pub async fn list(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
    only_open: bool,
    page: PageRequest<PromotionId>,
) -> Result<Vec<Promotion>, StoreError> {
    let rows = sqlx::query_as!(
        PromotionRow,
        r#"select promotion.id, promotion.channel, promotion.version, promotion.previous_version, promotion.state,
            promotion.requested_by, promotion.approved_by, version.created_by as author,
            coalesce(nullif(requester.name, ''), requester.email) as requester,
            coalesce(nullif(approver.name, ''), approver.email) as approver,
            promotion.inserted_at, promotion.due_at, promotion.ended_at
         from template_promotions promotion
         join template_versions version
            on version.template_id = promotion.template_id and version.number = promotion.version
         left join users requester on requester.id = promotion.requested_by
         left join users approver on approver.id = promotion.approved_by
         where promotion.account_id = $1 and promotion.template_id = $2 and ($3::uuid is null or promotion.id < $3)
            and (not $5 or promotion.ended_at is null)
         order by promotion.id desc
         limit $4"#,
        account.0,
        template.0,
        page.after.map(|id| id.0),
        page.limit(),
        only_open,
    );
    Ok(rows.fetch_all(db).await?.into_iter().filter_map(promotion).collect())
}

/// Returns a promotion of a template and locks it until the transaction ends.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    id: PromotionId,
) -> Result<Option<Promotion>, StoreError> {
    let row = sqlx::query_as!(
        PromotionRow,
        r#"select promotion.id, promotion.channel, promotion.version, promotion.previous_version, promotion.state,
            promotion.requested_by, promotion.approved_by, version.created_by as author,
            null as requester, null as approver, promotion.inserted_at, promotion.due_at, promotion.ended_at
         from template_promotions promotion
         join template_versions version
            on version.template_id = promotion.template_id and version.number = promotion.version
         where promotion.account_id = $1 and promotion.template_id = $2 and promotion.id = $3
         for update of promotion"#,
        account.0,
        template.0,
        id.0,
    );
    Ok(row.fetch_optional(db).await?.and_then(promotion))
}

/// Counts the promotions of a template that wait for their approval or time.
pub async fn count_open(db: &mut PgConnection, account: AccountId, template: TemplateId) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from template_promotions
         where account_id = $1 and template_id = $2 and ended_at is null"#,
        account.0,
        template.0,
    );
    Ok(count.fetch_one(db).await?)
}

/// What is known about a release that is to be promoted.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// The user who saved it; `None` if they have been deleted.
    pub author: Option<UserId>,
    /// Whether the preceding channel has it, or had it.
    pub was_in_preceding: bool,
    /// Whether the channel itself has it, or had it.
    pub was_in_channel: bool,
    /// The release that the channel has.
    pub current: Option<i32>,
    /// Whether the user, or a deleted one, has saved the version, an earlier one or a version of its partials since the
    /// last release that the channel had before the version.
    pub is_own: bool,
}

/// Returns what is known about a version of a template for its promotion by a user; `None` if it was never published.
pub async fn find_candidate(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    version: i32,
    (preceding, channel): (&ChannelName, &ChannelName),
    user: UserId,
) -> Result<Option<Candidate>, StoreError> {
    let candidate = sqlx::query!(
        r#"with known as (
            select channel, version from template_channels where account_id = $1 and template_id = $2
            union all
            select channel, version from template_promotions
            where account_id = $1 and template_id = $2 and state = 'done'
            union all
            select channel, previous_version from template_promotions
            where account_id = $1 and template_id = $2 and state = 'done'
         )
         select version.created_by,
            exists (select from known where channel = $4 and known.version = $3) as "was_in_preceding!",
            exists (select from known where channel = $5 and known.version = $3) as "was_in_channel!",
            (
                select template_channels.version from template_channels
                where account_id = $1 and template_id = $2 and channel = $5
            ) as current,
            exists (
                select from template_versions own
                where own.template_id = $2 and own.number <= $3 and own.number > former.version
                    and (own.created_by = $6 or own.created_by is null)
            ) or exists (
                select from template_version_partials used
                join template_versions own on own.template_id = used.partial_id and own.number <= used.partial_version
                where used.template_id = $2 and used.version = $3
                    and (own.created_by = $6 or own.created_by is null)
                    and own.number > coalesce((
                        select partial_version from template_version_partials
                        where template_id = $2 and version = former.version and partial_id = used.partial_id
                    ), 0)
            ) as "is_own!"
         from template_versions version join templates on templates.id = version.template_id
         -- The release from which the version has evolved.
         cross join lateral (
            select coalesce(max(known.version), 0) as version from known
            where known.channel = $5 and known.version < $3
         ) former
         where templates.account_id = $1 and templates.id = $2 and version.number = $3
            and version.published_at is not null"#,
        account.0,
        template.0,
        version,
        preceding.as_str(),
        channel.as_str(),
        user.0,
    )
    .map(|row| Candidate {
        author: row.created_by.map(UserId),
        was_in_preceding: row.was_in_preceding,
        was_in_channel: row.was_in_channel,
        current: row.current,
        is_own: row.is_own,
    });
    Ok(candidate.fetch_optional(db).await?)
}

/// Returns unapproved scheduled promotions to `production` to the state `awaiting_approval`.
pub async fn require_approval(db: &mut PgConnection, account: AccountId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update template_promotions set state = 'awaiting_approval'
         where account_id = $1 and state = 'scheduled' and channel = 'production' and approved_by is null",
        account.0,
    );
    execute(db, update).await
}

/// Deletes all but the newest `kept` ended promotions of a template.
pub async fn delete_oldest(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    kept: i64,
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from template_promotions where id in (
            select id from template_promotions
            where account_id = $1 and template_id = $2 and ended_at is not null
            order by id desc offset $3
         )",
        account.0,
        template.0,
        kept,
    );
    execute(db, delete).await
}

/// Cancels the waiting promotions of a template, or without one, those to channels that the account doesn't have.
pub async fn cancel_open(
    db: &mut PgConnection,
    account: AccountId,
    template: Option<TemplateId>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update template_promotions set state = 'cancelled', ended_at = $3
         from accounts
         where accounts.id = $1 and template_promotions.account_id = $1 and template_promotions.ended_at is null
            and case
                when $2::uuid is not null then template_promotions.template_id = $2
                else template_promotions.channel <> all ((accounts.template_channels || 'production'::text)[2:])
            end",
        account.0,
        template.map(|id| id.0),
        now,
    );
    execute(db, update).await
}

/// Returns up to `at_most` scheduled promotions of all accounts that are due, in turn of the accounts.
pub async fn list_due(
    db: &PgPool,
    now: OffsetDateTime,
    at_most: i64,
) -> Result<Vec<(AccountId, TemplateId, PromotionId)>, StoreError> {
    let due = sqlx::query!(
        "select promotion.account_id, template_id, promotion.id
         from template_promotions promotion join templates on templates.id = promotion.template_id
         where state = 'scheduled' and due_at <= $1 and templates.deleted_at is null
         order by row_number() over (partition by promotion.account_id order by due_at), due_at
         limit $2",
        now,
        at_most,
    )
    .map(|row| {
        (
            AccountId(row.account_id),
            TemplateId(row.template_id),
            PromotionId(row.id),
        )
    });
    Ok(due.fetch_all(db).await?)
}

/// Stores that a user has compared the pages of two versions with a set of sample data, for all promotions of the newer one that
/// await approval. Stores nothing if the template has a version after `newest`, because its sets may have changed meanwhile.
pub async fn insert_comparison(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
    user: UserId,
    (older, newer): (i32, i32),
    newest: i32,
    set: &str,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into template_promotion_comparisons (account_id, promotion_id, user_id, older, set_name)
         select account_id, id, $3, $4, $6
         from template_promotions
         where account_id = $1 and template_id = $2 and version = $5 and state = 'awaiting_approval'
           and not exists (select from template_versions where template_id = $2 and number > $7)
         on conflict do nothing",
        account.0,
        template.0,
        user.0,
        older,
        newer,
        set,
        newest,
    );
    insert.execute(db).await?;
    Ok(())
}

/// Returns the sets of sample data with which a user has compared the pages of a promotion with those of an older version.
pub async fn list_compared_sets(
    db: &mut PgConnection,
    account: AccountId,
    promotion: PromotionId,
    user: UserId,
    older: i32,
) -> Result<Vec<String>, StoreError> {
    let sets = sqlx::query_scalar!(
        "select set_name from template_promotion_comparisons
         where account_id = $1 and promotion_id = $2 and user_id = $3 and older = $4",
        account.0,
        promotion.0,
        user.0,
        older,
    );
    Ok(sets.fetch_all(db).await?)
}

/// Deletes the comparisons of a template's promotions, because its sets of sample data have changed.
pub async fn delete_comparisons(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from template_promotion_comparisons
         where account_id = $1 and promotion_id in (select id from template_promotions where template_id = $2)",
        account.0,
        template.0,
    );
    execute(db, delete).await
}
