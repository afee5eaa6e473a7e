//! Uploads of assets.

use platen_app::error::AppError;
use platen_core::{
    clock,
    service::assets::upload::{keep_report, store, take_report},
};
use platen_domain::{
    asset::{AssetCreation, UploadReport},
    ids::AccountId,
    role::Permission,
};

use super::RequestBackend;

impl RequestBackend {
    /// Stores files, and the completed report for the next page.
    pub(in crate::web) async fn upload_assets(
        &self,
        files: Vec<AssetCreation>,
        mut report: UploadReport,
    ) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        match self.answer(store(&self.app, &caller, files, &mut report).await) {
            Ok(()) => {}
            Err(AppError::Rejected(rejection)) => report.refused = Some(rejection.to_string()),
            Err(error) => return Err(error),
        }
        self.answer(keep_report(&self.session, caller.account, report, clock::now()).await)
    }

    /// Removes the report of the upload that led to this page from the session, and returns it.
    pub(super) async fn take_upload_report(&self, account: AccountId) -> Result<Option<UploadReport>, AppError> {
        self.answer(take_report(&self.session, account, clock::now()).await)
    }
}
