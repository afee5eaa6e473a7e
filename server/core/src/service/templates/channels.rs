//! Channels of an account: through which stages releases of its templates pass.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    ids::{AccountId, TemplateId},
    template::{
        channels::{ChannelName, Channels},
        promotions::ChannelRelease,
    },
};
use sqlx::{PgConnection, PgPool};

use crate::{
    clock,
    service::templates::{TemplateError, get},
    store::{account_log, error::StoreError, members, template_channels, template_promotions, tx},
};

/// Maximum number of templates that an error names.
const MOST_NAMES: i64 = 5;

/// Channels could not be set.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    /// A channel would become the first one, which has the published version of each template, but has others.
    #[error("releases in {channel} differ from the published versions")]
    Differing {
        channel: ChannelName,
        /// Names of some of the templates.
        templates: Vec<String>,
    },
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
    if old.first() != new.first() && old.contains(new.first()) {
        require_published(&mut transaction, account, new.first()).await?;
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

/// Fails unless a channel has the published version of each document.
async fn require_published(
    db: &mut PgConnection,
    account: AccountId,
    channel: &ChannelName,
) -> Result<(), ChannelsError> {
    let templates = template_channels::list_differing(db, account, channel, MOST_NAMES).await?;
    if templates.is_empty() {
        Ok(())
    } else {
        Err(ChannelsError::Differing {
            channel: channel.clone(),
            templates,
        })
    }
}

/// Returns the release of a template in each channel, in their order.
pub async fn releases(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Vec<ChannelRelease>, TemplateError> {
    let template = get(db, account, id).await?;
    let channels = find(db, account).await?;
    let mut stored = template_channels::list(db, account, id).await?;
    let releases = channels.names().iter().map(|channel| {
        if channel == channels.first() {
            return ChannelRelease {
                channel: channel.clone(),
                version: Some(template.version),
                released_at: Some(template.updated_at),
            };
        }
        let position = stored.iter().position(|release| release.channel == *channel);
        position.map_or_else(
            || ChannelRelease {
                channel: channel.clone(),
                version: None,
                released_at: None,
            },
            |position| stored.swap_remove(position),
        )
    });
    Ok(releases.collect())
}
