//! Master keys that wrap stored keys and secrets, in tables `data_keys` and `second_factors`.

use platen_domain::encryption::SecretKeyId;
use sqlx::PgPool;

use crate::store::error::StoreError;

/// Returns the id of a master key that is in use but not among the `known` ones.
pub async fn find_other(db: &PgPool, known: &[&SecretKeyId]) -> Result<Option<String>, StoreError> {
    let known: Vec<_> = known.iter().map(|id| id.as_str().to_owned()).collect();
    let other = sqlx::query_scalar!(
        r#"(select secret_key_id as "secret_key_id!" from account_keys where secret_key_id <> all($1) limit 1)
           union all
           (select secret_key_id from second_factors where secret_key_id <> all($1) limit 1)
           limit 1"#,
        &known,
    );
    Ok(other.fetch_optional(db).await?)
}
