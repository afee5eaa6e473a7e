//! Uploads of several files in the dashboard. The report reaches the next page in the session of the user, because names of
//! files must not be in an address, which can be forged.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    asset::{AssetCreation, UploadReport},
    caller::Caller,
    ids::{AccountId, AssetId},
};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use tokio::task::spawn_blocking;
use tower_sessions::{Session, session};

use crate::{
    clock,
    service::{
        Services,
        assets::{AssetError, key, seal},
        sessions::short_lived,
    },
    store::{
        account_log,
        assets::{self, OnTakenName, Stored},
        tx,
    },
};

/// Key in the session's data.
const UPLOAD_REPORT: &str = "upload_report";
/// A browser follows a redirect at once.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

/// Creates an asset for each file that its examination allows, or replaces the content of the asset with its name: all of
/// them, or none. Adds the others to the report, and the number of those that are stored.
pub async fn store(
    app: &Services,
    caller: &Caller,
    files: Vec<AssetCreation>,
    report: &mut UploadReport,
) -> Result<(), AssetError> {
    let (account, actor, now) = (caller.account, Actor::of_caller(caller), clock::now());
    let contents = files.iter().map(|file| (file.content_type, file.content.as_slice()));
    let examined = app.drawing.examine(account, &contents.collect::<Vec<_>>()).await?;
    let mut allowed = Vec::with_capacity(files.len());
    for (file, examined) in files.into_iter().zip(examined) {
        match examined {
            Ok(properties) => allowed.push((file, properties)),
            Err(reason) => report.leave_out(&file.name, reason),
        }
    }
    let count = allowed.len();
    let key = key(app, account).await?;
    let sealing = move || {
        let files = allowed.into_iter();
        let sealed = files.map(|(file, properties)| seal(&key, account, AssetId::generate(), file, properties, now));
        sealed.collect::<Result<Vec<_>, _>>()
    };
    let mut sealed = spawn_blocking(sealing).await??;
    // Two uploads lock common names in the same order.
    sealed.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let mut transaction = tx::begin(&app.db).await?;
    for (asset, content) in sealed {
        let stored = assets::store(&mut transaction, account, &asset, &content, OnTakenName::Replace).await?;
        let event = match stored {
            Stored::New => AccountEvent::AssetCreated { name: asset.name },
            _ => AccountEvent::AssetReplaced { name: asset.name },
        };
        account_log::insert(&mut transaction, account, &actor, &event, now).await?;
    }
    tx::commit(transaction).await?;
    report.stored = count;
    Ok(())
}

#[derive(Serialize, Deserialize)]
struct ReportOfAccount {
    account: AccountId,
    report: UploadReport,
}

/// Stores a report in the session for the next page, and replaces an earlier one.
pub async fn keep_report(
    session: &Session,
    account: AccountId,
    report: UploadReport,
    now: OffsetDateTime,
) -> Result<(), session::Error> {
    let report = ReportOfAccount { account, report };
    short_lived::keep(session, UPLOAD_REPORT, report, now + SHOWN_WITHIN).await
}

/// Removes the report from the session and returns it, if it is of this account.
pub async fn take_report(
    session: &Session,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<UploadReport>, session::Error> {
    let stored: Option<ReportOfAccount> = short_lived::take(session, UPLOAD_REPORT, now).await?;
    Ok(stored
        .filter(|stored| stored.account == account)
        .map(|stored| stored.report))
}
