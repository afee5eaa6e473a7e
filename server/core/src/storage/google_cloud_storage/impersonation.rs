//! Service accounts of tenants, as which the service writes without a key.
//!
//! Google has no external ids: a grant to the service applies to all its accounts. `service::connections::buckets`
//! therefore reads from the bucket for which account it is open.

use google_cloud_auth::credentials::impersonated;
use google_cloud_gax::retry_policy::NeverRetry;
use percent_encoding::utf8_percent_encode;
use serde_json::json;

use crate::{
    config::storage::Impersonator,
    storage::google_cloud_storage::{BuildResult, SEGMENT, key_file},
};

impl Impersonator {
    /// Returns credentials of the service account, whose tokens are fetched and renewed on use.
    pub(super) fn credentials(&self, client_email: &str) -> BuildResult {
        let account = utf8_percent_encode(client_email, SEGMENT);
        let url = format!(
            "{}v1/projects/-/serviceAccounts/{account}:generateAccessToken",
            self.endpoint
        );
        let impersonation = json!({
            "type": "impersonated_service_account",
            "service_account_impersonation_url": url,
            "source_credentials": key_file(&self.identity),
        });
        impersonated::Builder::new(impersonation)
            .with_retry_policy(NeverRetry)
            .build()
    }
}
