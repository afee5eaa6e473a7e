//! Table `render_contents`: the sealed bodies of accepted requests.

use sqlx::{PgConnection, PgPool};

use crate::{
    domain::ids::{AccountId, RenderId},
    store::error::StoreError,
};

/// Keeps a body.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    sealed: &[u8],
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into render_contents (render_id, account_id, sealed) values ($1, $2, $3)",
        render.0,
        account.0,
        sealed,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The body that was kept.
pub async fn find(db: &PgPool, account: AccountId, render: RenderId) -> Result<Option<Vec<u8>>, StoreError> {
    let sealed = sqlx::query_scalar!(
        "select sealed from render_contents where account_id = $1 and render_id = $2",
        account.0,
        render.0,
    );
    Ok(sealed.fetch_optional(db).await?)
}

/// Deletes the body of a render that has ended, unless its account keeps them.
pub async fn delete_unless_kept(db: &mut PgConnection, account: AccountId, render: RenderId) -> Result<(), StoreError> {
    sqlx::query!(
        "delete from render_contents using accounts
         where account_id = $1 and render_id = $2 and accounts.id = $1 and not accounts.keep_content",
        account.0,
        render.0,
    )
    .execute(db)
    .await?;
    Ok(())
}
