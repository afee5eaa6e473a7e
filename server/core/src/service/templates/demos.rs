//! Sample templates in an account.

use platen_domain::{
    account_log::Actor,
    ids::{AccountId, TemplateId, UserId},
    template::{demos::Demo, identity::TemplateIdentity},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::templates::{FirstVersion, TemplateError, insert, partials::PartialSet},
    store::tx,
};

/// Creates a sample template in an account, under this name.
pub async fn create(
    db: &PgPool,
    account: AccountId,
    author: UserId,
    demo: Demo,
    name: String,
    now: OffsetDateTime,
) -> Result<TemplateId, TemplateError> {
    let id = TemplateId::generate();
    let first = FirstVersion {
        id,
        identity: &TemplateIdentity::default(),
        version: &demo.named(name),
        partials: &PartialSet::default(),
    };
    let mut transaction = tx::begin(db).await?;
    insert(&mut transaction, account, author, &Actor::SERVICE, first, now).await?;
    tx::commit(transaction).await?;
    Ok(id)
}
