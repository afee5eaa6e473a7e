//! Table `template_assets`: the assets, and folders of assets, that the published versions of templates name.

use platen_domain::{
    allowed::AllowedTemplates,
    asset::{Asset, AssetUser, font_sheet::FONT_SHEET},
    ids::{AccountId, AssetId, TemplateId},
};
use sqlx::{PgConnection, PgExecutor};

use crate::store::{error::StoreError, statement::execute, templates::kind};

/// Maximum number of names of a template that earlier releases leave.
const MOST_FORMER_NAMES: i64 = 1_000;

/// Replaces the distinct names for a template. If the account has channels, former names stay, because these may have
/// earlier releases.
pub async fn replace(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    names: &[String],
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from template_assets where account_id = $1 and template_id = $2 and (
            not exists (select from accounts where id = $1 and template_channels <> '{}')
            or (select count(*) from template_assets where account_id = $1 and template_id = $2) > $3
         )",
        account.0,
        template.0,
        MOST_FORMER_NAMES,
    );
    execute(&mut *db, delete).await?;
    if names.is_empty() {
        return Ok(());
    }
    let insert = sqlx::query!(
        "insert into template_assets (account_id, template_id, name)
         select $1, $2, name from unnest($3::text[]) name
         on conflict do nothing",
        account.0,
        template.0,
        names,
    );
    execute(db, insert).await
}

/// Returns up to `at_most` of the allowed templates that use each of these assets, in alphabetical order. Those that name the
/// style sheet of fonts use all fonts.
pub async fn list_users(
    db: impl PgExecutor<'_>,
    account: AccountId,
    allowed: &AllowedTemplates,
    assets: &[Asset],
    at_most: i64,
) -> Result<Vec<(AssetId, AssetUser)>, StoreError> {
    let allowed: Vec<_> = allowed.iter().map(|template| template.0).collect();
    let ids: Vec<_> = assets.iter().map(|asset| asset.id.0).collect();
    let fonts: Vec<_> = assets.iter().map(Asset::is_font).collect();
    let names: Vec<_> = assets.iter().map(|asset| asset.name.clone()).collect();
    let users = sqlx::query!(
        r#"select assets.id as "asset!", users.id, users.name, users.kind
         from unnest($2::uuid[], $3::text[], $6::boolean[]) assets (id, name, is_font)
         -- The asset and the folders that contain it.
         cross join lateral (
            select array_agg(left(assets.name, length)) as names
            from generate_series(1, length(assets.name)) length
            where length = length(assets.name) or substr(assets.name, length, 1) = '/'
         ) named
         cross join lateral (
            select templates.id, templates.name, templates.kind
            from template_assets uses
            join templates on templates.id = uses.template_id
            where uses.account_id = $1 and templates.deleted_at is null
                and uses.name = any(case when assets.is_font then named.names || $7::text else named.names end)
                and ($5::uuid[] = '{}' or templates.id = any($5))
            limit $4
         ) users
         order by lower(users.name), users.id"#,
        account.0,
        &ids,
        &names,
        at_most,
        &allowed,
        &fonts,
        FONT_SHEET,
    )
    .map(|row| {
        let user = AssetUser {
            id: TemplateId(row.id),
            name: row.name,
            kind: kind(&row.kind),
        };
        (AssetId(row.asset), user)
    });
    Ok(users.fetch_all(db).await?)
}
