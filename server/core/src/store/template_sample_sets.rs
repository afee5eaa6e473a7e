//! Table `template_sample_sets`.

use platen_domain::{
    ids::{AccountId, TemplateId},
    template::sample_sets::{NamedSet, SetName},
};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};

use crate::store::{error::StoreError, template_versions::object};

/// Returns the sets of a template in the order of the editor, without the one of its versions.
pub async fn list(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
) -> Result<Vec<NamedSet>, StoreError> {
    let rows = sqlx::query!(
        "select name, data from template_sample_sets where account_id = $1 and template_id = $2 order by position",
        account.0,
        template.0,
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    let sets = rows.filter_map(|row| {
        Some(NamedSet {
            name: SetName::parse(&row.name)?,
            data: object(row.data),
        })
    });
    Ok(sets.collect())
}

/// Returns the names of the sets of a template in the same order.
pub async fn list_names(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
) -> Result<Vec<String>, StoreError> {
    let names = sqlx::query_scalar!(
        "select name from template_sample_sets where account_id = $1 and template_id = $2 order by position",
        account.0,
        template.0,
    );
    Ok(names.fetch_all(db).await?)
}

/// Replaces all sets of a template. The transaction must hold the template's lock, or have inserted the template.
pub async fn replace(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    sets: &[NamedSet],
) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from template_sample_sets where account_id = $1 and template_id = $2",
        account.0,
        template.0,
    )
    .execute(&mut *db)
    .await?;
    let names: Vec<_> = sets.iter().map(|set| set.name.as_str().to_owned()).collect();
    // As text, because sqlx would send it as `jsonb`, which rejects U+0000.
    let data: Vec<_> = sets
        .iter()
        .map(|set| Value::Object(set.data.clone()).to_string())
        .collect();
    sqlx::query!(
        "insert into template_sample_sets (account_id, template_id, position, name, data)
         select templates.account_id, templates.id, sets.position, sets.name, sets.data::json
         from templates, unnest($3::text[], $4::text[]) with ordinality as sets (name, data, position)
         where templates.account_id = $1 and templates.id = $2",
        account.0,
        template.0,
        &names,
        &data,
    )
    .execute(&mut *db)
    .await?;
    Ok(())
}
