//! Storage connections: buckets that the service may write to for an account, and the identity it uses.

pub mod credentials;
#[cfg(test)]
mod tests;

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;
use time::OffsetDateTime;
use url::{Host, Url};

use crate::{
    connection::credentials::Credentials,
    destination::Provider,
    ids::ConnectionId,
    sentence::sentence,
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        member, quote,
        schema::RequestBody,
    },
};

/// The settings of a storage connection, without its credentials.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Settings {
    pub provider: Provider,
    /// The display name; unique in the account.
    pub name: String,
    pub bucket: String,
    /// The prefix of its objects' names: empty, or whole segments that end with a slash.
    #[serde(default)]
    pub path_prefix: String,
    /// The bucket's region; required by Amazon.
    pub region: Option<String>,
    /// The address of an S3-compatible store other than Amazon's.
    pub endpoint: Option<Url>,
}

/// A storage connection, as shown in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub id: ConnectionId,
    pub settings: Settings,
    /// The identity of its credentials: the id of an access key, the ARN of a role, or the email address of a service
    /// account.
    pub identity: String,
    /// Increases with each change of the settings or the credentials.
    pub revision: i32,
    pub inserted_at: OffsetDateTime,
}

/// The result of a test of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionTest {
    /// When the test ended.
    pub tested_at: OffsetDateTime,
    /// Duration of the test.
    pub milliseconds: i32,
    /// The steps that were run, in order.
    pub steps: Vec<TestStep>,
}

/// The result of one step of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestStep {
    pub action: TestAction,
    /// How to fix the failure; `None` if the step succeeded.
    pub advice: Option<String>,
    /// The store's response, if the step failed with one. Earlier releases stored it as part of the advice.
    #[serde(default)]
    pub response: Option<ErrorResponse>,
}

/// A store's error response, with printable characters only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// The HTTP status.
    pub status: u16,
    /// The error code of S3, or Google's reason.
    pub code: String,
    pub message: String,
}

impl ConnectionTest {
    /// Returns whether all steps succeeded.
    pub fn passed(&self) -> bool {
        self.delivers() && self.steps.iter().all(TestStep::passed)
    }

    /// Returns whether documents can be written. The other steps only clean up and confirm.
    pub fn delivers(&self) -> bool {
        self.steps.first().is_some_and(TestStep::passed)
    }
}

impl TestStep {
    pub fn passed(&self) -> bool {
        self.advice.is_none()
    }

    /// Returns advice and response in one text, or `None` if the step succeeded.
    pub fn message(&self) -> Option<String> {
        let advice = self.advice.as_ref()?;
        Some(match &self.response {
            Some(response) => format!(
                "{advice} The store says: {} ({})",
                sentence(&response.message),
                response.code
            ),
            None => advice.clone(),
        })
    }
}

/// Steps of a test, in this order. The names are used in the database and in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum TestAction {
    /// Writes an object. Deliveries need only this.
    Write,
    /// Reads the object back.
    Read,
    /// Deletes the object, so that the test leaves nothing behind.
    Delete,
}

impl TestAction {
    /// Returns the name of the operation in the store's API.
    pub fn operation(self, provider: Provider) -> &'static str {
        match (provider, self) {
            (Provider::AwsS3, Self::Write) => "PutObject",
            (Provider::AwsS3, Self::Read) => "GetObject",
            (Provider::AwsS3, Self::Delete) => "DeleteObject",
            (Provider::GoogleCloudStorage, Self::Write) => "objects.insert",
            (Provider::GoogleCloudStorage, Self::Read) => "objects.get",
            (Provider::GoogleCloudStorage, Self::Delete) => "objects.delete",
        }
    }
}

impl Connection {
    /// Returns whether the service assumes a role to write.
    pub fn in_role(&self) -> bool {
        self.settings.provider == Provider::AwsS3 && self.identity.starts_with("arn:")
    }

    /// Returns the URI of bucket and prefix, as the store's tools write it.
    pub fn covers(&self) -> String {
        let scheme = match self.settings.provider {
            Provider::AwsS3 => "s3",
            Provider::GoogleCloudStorage => "gs",
        };
        format!("{scheme}://{}/{}", self.settings.bucket, self.settings.path_prefix)
    }
}

/// A validated request to create a storage connection.
#[derive(Debug)]
pub struct NewConnection {
    pub settings: Settings,
    pub credentials: Credentials,
}

impl NewConnection {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    /// `check_address` refuses endpoints that may not be reached.
    pub fn parse<Refusal: Display>(
        body: &[u8],
        check_address: impl Fn(&Url) -> Result<(), Refusal>,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: mut body, .. }) = json::parse(body, &Layout::PLAIN, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::ConnectionCreation.check(&body, &mut problems);
        check_amazon_only(&body, &mut problems);
        check_region(&body, &mut problems);
        check_endpoint(&body, check_address, &mut problems);
        credentials::check_private_key(&body, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        let mut connection = body["connection"].take();
        let credentials = connection["credentials"].take();
        let read = || {
            let settings: Settings = serde_json::from_value(connection)?;
            let credentials = Credentials::from_value(settings.provider, credentials)?;
            Ok(Self { settings, credentials })
        };
        read().map_err(|error: serde_json::Error| vec![Problem::invalid("", error.to_string())])
    }
}

/// Google's buckets are identified by name alone.
fn check_amazon_only(body: &Value, problems: &mut Problems) {
    let connection = &body["connection"];
    if connection["provider"] != Provider::GoogleCloudStorage.into_str() {
        return;
    }
    for name in ["region", "endpoint"] {
        if connection.get(name).is_some() {
            problems.add(Problem {
                pointer: member("/connection", name),
                title: "Unknown field".into(),
                detail: format!("{name} is allowed only for the provider aws_s3"),
            });
        }
    }
}

/// Amazon's addresses contain the region; other stores accept any region.
fn check_region(body: &Value, problems: &mut Problems) {
    let connection = &body["connection"];
    let amazon = connection["provider"] == Provider::AwsS3.into_str() && connection.get("endpoint").is_none();
    if amazon && connection.get("region").is_none() {
        problems.add(Problem {
            pointer: "/connection/region".into(),
            title: "Missing field".into(),
            detail: "region is required unless endpoint specifies a store other than Amazon S3".into(),
        });
    }
}

fn check_endpoint<Refusal: Display>(
    body: &Value,
    check_address: impl Fn(&Url) -> Result<(), Refusal>,
    problems: &mut Problems,
) {
    const POINTER: &str = "/connection/endpoint";
    let Some(text) = body["connection"]["endpoint"].as_str() else {
        return;
    };
    if let Err(reason) = endpoint(text, check_address) {
        problems.add(Problem::invalid(
            POINTER,
            format!("Must be the address of a store: {reason}; got {}", quote(text)),
        ));
    }
}

/// Returns why an address is not a valid endpoint, as a phrase.
fn endpoint<Refusal: Display>(text: &str, check_address: impl Fn(&Url) -> Result<(), Refusal>) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it must begin with https:// or http://".into());
    }
    if matches!(url.host(), None | Some(Host::Domain(""))) {
        return Err("it has no host".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("credentials must be given in the field credentials".into());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("it must end with the host or the port".into());
    }
    check_address(&url).map_err(|refusal| format!("{refusal} can't be reached"))
}
