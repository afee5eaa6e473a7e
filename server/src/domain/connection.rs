//! Storage connections: which buckets of an account the service may write to, and as whom.

pub mod credentials;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use platen_egress::policy::AddressPolicy;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use url::{Host, Url};

use crate::domain::{
    connection::credentials::Credentials,
    destination::Provider,
    ids::ConnectionId,
    validation::{
        Fault, Faults,
        json::{self, Body, Layout},
        member, quote,
        schema::Schema,
    },
};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::named("ConnectionCreation"));

/// Does at start what the first request would else wait for.
pub fn compile_schema() {
    LazyLock::force(&SCHEMA);
}

/// What a connection is, but for its credentials.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Settings {
    /// Kind of store.
    pub provider: Provider,
    /// For people; unique in the account.
    pub name: String,
    /// Name of the bucket.
    pub bucket: String,
    /// What the names of its objects begin with: empty, or whole segments with a slash at the end.
    #[serde(default)]
    pub path_prefix: String,
    /// Where the bucket lies; Amazon needs it.
    pub region: Option<String>,
    /// Address of a store that speaks S3 and is not Amazon's.
    pub endpoint: Option<Url>,
}

/// A connection, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Identifier.
    pub id: ConnectionId,
    /// What it is.
    pub settings: Settings,
    /// Whose credentials it has: the id of an access key, the name of a role, the address of a service account.
    pub identity: String,
    /// When it was made.
    pub inserted_at: OffsetDateTime,
}

impl Connection {
    /// Whether it is a role that the service writes in.
    pub fn in_role(&self) -> bool {
        self.settings.provider == Provider::AwsS3 && self.identity.starts_with("arn:")
    }
}

/// A connection to be.
#[derive(Debug)]
pub struct NewConnection {
    /// What it is.
    pub settings: Settings,
    /// What proves to the store who writes.
    pub credentials: Credentials,
}

impl NewConnection {
    /// Reads a body. Fails with every fault, in the order of the document. `policy` says which endpoints may be reached.
    pub fn parse(body: &[u8], policy: &AddressPolicy) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let Some(Body { value: mut body, .. }) = json::parse(body, &Layout::PLAIN, &mut faults) else {
            return Err(faults.sorted(&Value::Null));
        };
        SCHEMA.check(&body, &mut faults);
        check_amazon_only(&body, &mut faults);
        check_region(&body, &mut faults);
        check_endpoint(&body, policy, &mut faults);
        credentials::check_private_key(&body, &mut faults);
        if !faults.is_empty() {
            return Err(faults.sorted(&body));
        }
        let mut connection = body["connection"].take();
        let credentials = connection["credentials"].take();
        let read = || {
            let settings: Settings = serde_json::from_value(connection)?;
            let credentials = Credentials::from_value(settings.provider, credentials)?;
            Ok(Self { settings, credentials })
        };
        read().map_err(|error: serde_json::Error| vec![Fault::invalid("", error.to_string())])
    }
}

/// Google's buckets are found by their name alone.
fn check_amazon_only(body: &Value, faults: &mut Faults) {
    let connection = &body["connection"];
    if connection["provider"] != Provider::GoogleCloudStorage.as_str() {
        return;
    }
    for name in ["region", "endpoint"] {
        if connection.get(name).is_some() {
            faults.add(Fault {
                pointer: member("/connection", name),
                title: "Unknown field".into(),
                detail: format!("{name} is for the provider aws_s3 only"),
            });
        }
    }
}

/// Amazon's addresses name the region; other stores are content with any.
fn check_region(body: &Value, faults: &mut Faults) {
    let connection = &body["connection"];
    let amazon = connection["provider"] == Provider::AwsS3.as_str() && connection.get("endpoint").is_none();
    if amazon && connection.get("region").is_none() {
        faults.add(Fault {
            pointer: "/connection/region".into(),
            title: "Missing field".into(),
            detail: "region is required, unless an endpoint says that the store is not Amazon's".into(),
        });
    }
}

fn check_endpoint(body: &Value, policy: &AddressPolicy, faults: &mut Faults) {
    const POINTER: &str = "/connection/endpoint";
    let Some(text) = body["connection"]["endpoint"].as_str() else {
        return;
    };
    if let Err(reason) = endpoint(text, policy) {
        faults.add(Fault::invalid(
            POINTER,
            format!("Must be the address of a store: {reason}; got {}", quote(text)),
        ));
    }
}

/// Why an address is no endpoint.
fn endpoint(text: &str, policy: &AddressPolicy) -> Result<(), String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it has to begin with https:// or http://".into());
    }
    if matches!(url.host(), None | Some(Host::Domain(""))) {
        return Err("it has no host".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("credentials have a place of their own".into());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("it has to end with the host or the port".into());
    }
    policy
        .check_literal(&url)
        .map_err(|refusal| format!("{refusal} can't be reached"))
}
