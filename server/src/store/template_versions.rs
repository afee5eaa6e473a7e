//! Table `template_versions`.

use serde_json::{Map, Value};
use sqlx::{PgConnection, PgExecutor};
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::{AccountId, TemplateId, UserId},
        template::{NewTemplate, TemplateVersion},
    },
    store::error::StoreError,
};

struct VersionRow {
    number: i32,
    name: String,
    content: String,
    preview_context: Value,
    created_by: Option<uuid::Uuid>,
    inserted_at: OffsetDateTime,
}

impl From<VersionRow> for TemplateVersion {
    fn from(row: VersionRow) -> Self {
        Self {
            number: row.number,
            name: row.name,
            content: row.content,
            preview_context: object(row.preview_context),
            created_by: row.created_by.map(UserId),
            inserted_at: row.inserted_at,
        }
    }
}

/// Adds a version to a template, whose row is held by the same transaction, and returns its number.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    created_by: UserId,
    version: &NewTemplate,
    now: OffsetDateTime,
) -> Result<i32, StoreError> {
    Ok(sqlx::query_scalar!(
        "insert into template_versions
            (template_id, number, name, content, preview_context, created_by, inserted_at)
         select templates.id,
            1 + coalesce((select max(number) from template_versions where template_id = templates.id), 0),
            $3, $4, $5::text::json, $6, $7
         from templates
         where templates.account_id = $1 and templates.id = $2
         returning number",
        account.0,
        template.0,
        version.name,
        version.content,
        // As text: sqlx would send it as jsonb, which refuses U+0000.
        Value::Object(version.preview_context.clone()).to_string(),
        created_by.0,
        now,
    )
    .fetch_one(db)
    .await?)
}

/// A version of a living template.
pub async fn find(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
    number: i32,
) -> Result<Option<TemplateVersion>, StoreError> {
    let row = sqlx::query_as!(
        VersionRow,
        "select version.number, version.name, version.content, version.preview_context, version.created_by,
            version.inserted_at
         from template_versions version
         join templates on templates.id = version.template_id
         where templates.account_id = $1 and templates.id = $2 and templates.deleted_at is null and version.number = $3",
        account.0,
        template.0,
        number,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(Into::into))
}

/// The members of a column that holds nothing but objects.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
