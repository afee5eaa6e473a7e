//! Roles at Amazon, in which the service writes without a key of the tenant.
//!
//! Assuming a role requires an external id, which identifies the beneficiary. It is the account's id, so no account can
//! have documents written in a role that another account's owner has opened to the service.

use std::time::SystemTime;

use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials, error::CredentialsError, future},
};
use aws_sdk_sts::{
    Client,
    config::{BehaviorVersion, Config, Region, SharedHttpClient, retry::RetryConfig, timeout::TimeoutConfig},
};
use platen_domain::ids::AccountId;
use secrecy::ExposeSecret;

use crate::{
    config::storage::TokenService,
    storage::{
        aws_s3::failure,
        bucket::{BucketError, CONNECT_TIMEOUT},
    },
};

/// The name of the session in Amazon's logs.
const SESSION_NAME: &str = "platen";

impl TokenService {
    /// Returns credentials of a role, which are fetched and renewed on use.
    pub(super) fn role(&self, http: SharedHttpClient, region: &str, arn: &str, account: AccountId) -> AssumedRole {
        let identity = &self.identity;
        let secret = identity.secret_access_key.expose_secret();
        let mut config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(region.to_owned()))
            .credentials_provider(Credentials::new(
                &identity.access_key_id,
                secret,
                None,
                None,
                "settings",
            ))
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).build())
            .http_client(http);
        config.set_endpoint_url(self.endpoint.as_ref().map(ToString::to_string));
        AssumedRole {
            client: Client::from_conf(config.build()),
            arn: arn.to_owned(),
            external_id: account.to_string(),
        }
    }
}

/// A role that the service assumes for an account.
#[derive(Debug)]
pub(super) struct AssumedRole {
    client: Client,
    arn: String,
    external_id: String,
}

impl AssumedRole {
    async fn assume(&self) -> Result<Credentials, BucketError> {
        let assume = self
            .client
            .assume_role()
            .role_arn(&self.arn)
            .external_id(&self.external_id)
            .role_session_name(SESSION_NAME);
        let answer = assume.send().await.map_err(failure)?;
        let given = answer
            .credentials
            .ok_or_else(|| BucketError::Silent("the token service returned no credentials".into()))?;
        let until = SystemTime::try_from(given.expiration).ok();
        Ok(Credentials::new(
            given.access_key_id,
            given.secret_access_key,
            Some(given.session_token),
            until,
            "role",
        ))
    }
}

impl ProvideCredentials for AssumedRole {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        // `failure` reports this error as one of the bucket.
        future::ProvideCredentials::new(async { self.assume().await.map_err(CredentialsError::provider_error) })
    }
}
