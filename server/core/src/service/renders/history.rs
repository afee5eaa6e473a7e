//! Renders of an account, with their webhooks.

use platen_domain::{
    ids::{AccountId, ApiKeyId, RenderId},
    page::{Page, PageRequest},
    render::{history::RenderFilter, log::LogFilter},
};
use sqlx::PgPool;

use crate::store::{
    callbacks::{self, CallbackHistory},
    error::StoreError,
    renders::{
        history::{self, Render},
        search::{self, SearchRange},
    },
};

/// Returns a page of an account's renders, the latest first. It may have fewer renders than requested although there is a next
/// page, because a page is found among [`SEARCHED`](platen_domain::page::SEARCHED) renders.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &RenderFilter,
    page: PageRequest<RenderId>,
) -> Result<Page<Render, RenderId>, StoreError> {
    let filter = LogFilter::from(*filter);
    let last = search::find_last(db, account, &filter, page.after).await?;
    let found = history::list(db, account, &filter, SearchRange { page, last }).await?;
    Ok(page.page_of_search(found, |render| render.id, last))
}

/// Returns a render and the history of its webhook; with `key`, only if that key requested it.
pub async fn find(
    db: &PgPool,
    account: AccountId,
    id: RenderId,
    key: Option<ApiKeyId>,
) -> Result<Option<(Render, Option<CallbackHistory>)>, StoreError> {
    let Some(render) = history::find(db, account, id, key).await? else {
        return Ok(None);
    };
    let callback = callbacks::find_history(db, account, id).await?;
    Ok(Some((render, callback)))
}
