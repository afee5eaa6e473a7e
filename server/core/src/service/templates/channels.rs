//! Channels of an account: through which stages releases of its templates pass.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    ids::{AccountId, TemplateId},
    template::{
        channels::{ChannelName, Channels},
        promotions::ChannelRelease,
    },
};
use sqlx::PgPool;

use crate::{
    clock,
    service::templates::TemplateError,
    store::{account_log, error::StoreError, members, template_channels, template_promotions, tx},
};

/// Channels could not be set.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    /// A channel would become the first one, which has the published version of each template, but has others.
    #[error("releases in {0} differ from the published versions")]
    Differing(ChannelName),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the channels of an account.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Channels, StoreError> {
    template_channels::find_channels(db, account).await
}

/// Sets the channels of an account. Those that remain keep their releases: a former first channel keeps the published
/// versions, and a channel becomes the first one only if it has these. New channels after the first begin with the releases
/// of `production`. Promotions to removed channels are cancelled.
pub async fn set(db: &PgPool, account: AccountId, actor: &Actor, new: &Channels) -> Result<(), ChannelsError> {
    let now = clock::now();
    let mut transaction = tx::begin(db).await?;
    members::lock_account(&mut transaction, account).await?;
    let old = template_channels::find_channels(&mut *transaction, account).await?;
    if old == *new {
        return Ok(());
    }
    let first = new.first();
    let becomes_first = old.first() != first && old.contains(first);
    if becomes_first && !template_channels::has_published(&mut transaction, account, first).await? {
        return Err(ChannelsError::Differing(first.clone()));
    }
    for channel in new.names().iter().skip(1) {
        let from = if old.contains(channel) {
            channel.clone()
        } else {
            ChannelName::production()
        };
        template_channels::copy(&mut transaction, account, &from, old.first(), channel, now).await?;
    }
    template_channels::update_channels(&mut transaction, account, new).await?;
    template_promotions::cancel_open(&mut transaction, account, None, now).await?;
    if new.need_approval() && !old.need_approval() {
        template_promotions::require_approval(&mut transaction, account).await?;
    }
    let approval = if new.need_approval() {
        "with approval of promotions to production"
    } else {
        "without approval"
    };
    let event = AccountEvent::ChannelsChanged {
        channels: new.listed(),
        approval: approval.to_owned(),
    };
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the release of a template in each channel, in their order.
pub async fn releases(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Vec<ChannelRelease>, TemplateError> {
    let releases = template_channels::list(db, account, id).await?;
    // There is always `production`.
    if releases.is_empty() {
        Err(TemplateError::NotFound)
    } else {
        Ok(releases)
    }
}
