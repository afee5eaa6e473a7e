//! Table `template_channels`: the releases of templates in the channels of their accounts, and the columns of `accounts` that
//! name these channels. The first channel has the published version of each template, and no rows.

use platen_domain::{
    ids::{AccountId, TemplateId},
    template::{
        channels::{ChannelName, Channels},
        identity::TemplateKind,
        promotions::ChannelRelease,
    },
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute, templates::kind};

/// Converts the columns of an account. The database contains only valid names.
fn channels(before: &[String], approval: bool) -> Channels {
    Channels::new(before.iter().filter_map(|name| ChannelName::parse(name)), approval)
}

/// Returns the channels of an account.
pub async fn find_channels(db: impl PgExecutor<'_>, account: AccountId) -> Result<Channels, StoreError> {
    let found = sqlx::query!(
        "select template_channels, template_approval from accounts where id = $1",
        account.0,
    )
    .map(|row| channels(&row.template_channels, row.template_approval));
    Ok(found.fetch_optional(db).await?.unwrap_or_default())
}

/// Like [`find_channels`], but prevents changes of the channels until the transaction ends.
pub async fn share_channels(db: &mut PgConnection, account: AccountId) -> Result<Channels, StoreError> {
    let found = sqlx::query!(
        "select template_channels, template_approval from accounts where id = $1 for share",
        account.0,
    )
    .map(|row| channels(&row.template_channels, row.template_approval));
    Ok(found.fetch_optional(db).await?.unwrap_or_default())
}

/// Sets the channels of an account, and deletes the releases in others and in the first one.
pub async fn update_channels(db: &mut PgConnection, account: AccountId, new: &Channels) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update accounts set template_channels = $2, template_approval = $3 where id = $1",
        account.0,
        &texts(new.before_production()),
        new.need_approval(),
    );
    execute(&mut *db, update).await?;
    let delete = sqlx::query!(
        "delete from template_channels where account_id = $1 and channel <> all($2)",
        account.0,
        &texts(new.names().get(1..).unwrap_or_default()),
    );
    execute(db, delete).await
}

/// Gives a channel without releases those of another one. Documents that have none there get none.
pub async fn copy(
    db: &mut PgConnection,
    account: AccountId,
    from: &ChannelName,
    first: &ChannelName,
    to: &ChannelName,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into template_channels (account_id, template_id, channel, version, released_at)
         select $1, templates.id, $4, coalesce(released.version, templates.published_version), $5
         from templates
         left join template_channels released on released.template_id = templates.id and released.channel = $2
         where templates.account_id = $1 and templates.kind = 'document' and templates.deleted_at is null
            and ($2 = $3 or released.version is not null)
         on conflict on constraint template_channels_pkey do nothing",
        account.0,
        from.as_str(),
        first.as_str(),
        to.as_str(),
        now,
    );
    execute(db, insert).await
}

/// Returns whether a channel has the published version of each document.
pub async fn has_published(
    db: &mut PgConnection,
    account: AccountId,
    channel: &ChannelName,
) -> Result<bool, StoreError> {
    let has_published = sqlx::query_scalar!(
        r#"select not exists (
            select from templates
            left join template_channels released on released.template_id = templates.id and released.channel = $2
            where templates.account_id = $1 and templates.kind = 'document' and templates.deleted_at is null
                and released.version is distinct from templates.published_version
         ) as "has_published!""#,
        account.0,
        channel.as_str(),
    );
    Ok(has_published.fetch_one(db).await?)
}

/// A template that a request names, with the release that it gets.
#[derive(Debug)]
pub struct NamedRelease {
    pub template: TemplateId,
    pub channel: ChannelName,
    pub kind: TemplateKind,
    /// `None` if the channel has no release of the template, or doesn't exist.
    pub version: Option<i32>,
    /// The account's channels.
    pub channels: Channels,
}

/// Returns the releases of those of these templates that aren't deleted, each in a channel.
pub async fn list_named(
    db: &PgPool,
    account: AccountId,
    named: &[(TemplateId, ChannelName)],
) -> Result<Vec<NamedRelease>, StoreError> {
    let ids: Vec<Uuid> = named.iter().map(|(id, _)| id.0).collect();
    let channels_of_ids: Vec<_> = named.iter().map(|(_, channel)| channel.to_string()).collect();
    let rows = sqlx::query!(
        r#"select named.id as "id!", named.channel as "channel!", templates.kind, accounts.template_channels,
            accounts.template_approval, case
                when named.channel = (accounts.template_channels || 'production'::text)[1] then templates.published_version
                else released.version
            end as version
         from unnest($2::uuid[], $3::text[]) named (id, channel)
         join templates on templates.id = named.id
         join accounts on accounts.id = templates.account_id
         left join template_channels released
            on released.template_id = templates.id and released.channel = named.channel
         where templates.account_id = $1 and templates.deleted_at is null"#,
        account.0,
        &ids,
        &channels_of_ids,
    )
    .map(|row| {
        Some(NamedRelease {
            template: TemplateId(row.id),
            channel: ChannelName::parse(&row.channel)?,
            kind: kind(&row.kind),
            version: row.version,
            channels: channels(&row.template_channels, row.template_approval),
        })
    });
    Ok(rows.fetch_all(db).await?.into_iter().flatten().collect())
}

/// Returns the release of a template in each channel of its account, in their order; none if the template is deleted.
pub async fn list(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
) -> Result<Vec<ChannelRelease>, StoreError> {
    let rows = sqlx::query!(
        r#"select channels.name as "channel!",
            case when position = 1 then templates.published_version else released.version end as version,
            case when position = 1 then templates.updated_at else released.released_at end as released_at
         from templates
         join accounts on accounts.id = templates.account_id
         cross join unnest(accounts.template_channels || 'production'::text) with ordinality channels (name, position)
         left join template_channels released
            on released.template_id = templates.id and released.channel = channels.name
         where templates.account_id = $1 and templates.id = $2 and templates.deleted_at is null
         order by position"#,
        account.0,
        template.0,
    )
    .map(|row| {
        Some(ChannelRelease {
            channel: ChannelName::parse(&row.channel)?,
            version: row.version,
            released_at: row.released_at,
        })
    });
    Ok(rows.fetch_all(db).await?.into_iter().flatten().collect())
}

/// Gives a channel a release of a template. Returns the number of the former one.
pub async fn replace(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    channel: &ChannelName,
    version: i32,
    now: OffsetDateTime,
) -> Result<Option<i32>, StoreError> {
    let former = sqlx::query_scalar!(
        "select version from template_channels where account_id = $1 and template_id = $2 and channel = $3",
        account.0,
        template.0,
        channel.as_str(),
    );
    let former = former.fetch_optional(&mut *db).await?;
    let upsert = sqlx::query!(
        "insert into template_channels (account_id, template_id, channel, version, released_at)
         values ($1, $2, $3, $4, $5)
         on conflict on constraint template_channels_pkey
            do update set version = excluded.version, released_at = excluded.released_at",
        account.0,
        template.0,
        channel.as_str(),
        version,
        now,
    );
    execute(db, upsert).await?;
    Ok(former)
}

/// Deletes the releases of a template.
pub async fn delete(db: &mut PgConnection, account: AccountId, template: TemplateId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from template_channels where account_id = $1 and template_id = $2",
        account.0,
        template.0,
    );
    execute(db, delete).await
}

fn texts(names: &[ChannelName]) -> Vec<String> {
    names.iter().map(ChannelName::to_string).collect()
}
