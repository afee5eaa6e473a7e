//! Service accounts of others, as which the service writes without a key of theirs.
//!
//! Google knows no external id: whoever lets the service act as a service account lets it do so for every account of the
//! service. `service::connections::buckets` asks the bucket for which one it is open.

use google_cloud_auth::credentials::impersonated;
use google_cloud_gax::retry_policy::NeverRetry;
use percent_encoding::utf8_percent_encode;
use serde_json::json;
use url::Url;

use crate::{
    domain::connection::credentials::ServiceAccountKey,
    storage::google_cloud_storage::{BuildResult, SEGMENT, key_file},
};

/// Who acts as service accounts of others, and where it asks for that.
#[derive(Debug, Clone)]
pub struct Impersonator {
    /// The service itself, at Google.
    pub identity: ServiceAccountKey,
    /// Google's IAM service account credentials.
    pub endpoint: Url,
}

impl Impersonator {
    /// Tokens of the account, got and renewed as they are used.
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
