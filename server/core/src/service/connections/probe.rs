//! Tests a storage connection: writes, reads and deletes an object, and advises on failures.

use std::{collections::HashMap, time::Instant};

use bytes::Bytes;
use platen_domain::{
    connection::{Connection, Settings},
    destination::Provider,
    ids::{AccountId, ConnectionId},
    sentence::sentence,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use strum::IntoStaticStr;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    clock,
    service::connections::{
        ConnectionError,
        buckets::{Buckets, BucketsError},
        get,
    },
    storage::bucket::{Bucket, BucketError, Refusal},
    store::{
        connection_tests::{self, StoredTest},
        error::StoreError,
    },
};

const CONTENT: &[u8] = b"Platen checks whether it can write here.\n";

/// Steps of a test, in this order. The names are used in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Writes an object. Deliveries need only this.
    Write,
    /// Reads the object back.
    Read,
    /// Deletes the object, so that the test leaves nothing behind.
    Delete,
}

impl Action {
    /// Name of the required permission at AWS.
    fn permission(self) -> &'static str {
        match self {
            Self::Write => "s3:PutObject",
            Self::Read => "s3:GetObject",
            Self::Delete => "s3:DeleteObject",
        }
    }
}

/// Result of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub action: Action,
    /// What failed and how to fix it; `None` if the step succeeded.
    pub advice: Option<String>,
}

/// Latest test of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastTest {
    /// Time at which the test ended.
    pub tested_at: OffsetDateTime,
    /// Duration.
    pub milliseconds: i32,
    /// Steps that were run.
    pub steps: Vec<Step>,
}

/// Tests a connection and stores the result. If writing fails, the other steps are skipped.
pub async fn test(buckets: &Buckets, account: AccountId, id: ConnectionId) -> Result<Vec<Step>, ConnectionError> {
    let connection = get(buckets.db(), account, id).await?;
    let began = Instant::now();
    let steps = run(buckets, account, &connection).await?;
    let kept = StoredTest {
        tested_at: clock::now(),
        milliseconds: i32::try_from(began.elapsed().as_millis()).unwrap_or(i32::MAX),
        steps: serde_json::json!(steps),
    };
    connection_tests::replace(buckets.db(), account, id, &kept).await?;
    Ok(steps)
}

/// Returns the latest test of each of the account's connections.
pub async fn last_tests(db: &PgPool, account: AccountId) -> Result<HashMap<ConnectionId, LastTest>, StoreError> {
    let tests = connection_tests::list(db, account).await?;
    let tests = tests.into_iter().filter_map(|(id, kept)| {
        let test = LastTest {
            tested_at: kept.tested_at,
            milliseconds: kept.milliseconds,
            // Another release may have stored it in a form that this one can't read; then there is no test.
            steps: serde_json::from_value(kept.steps).ok()?,
        };
        Some((id, test))
    });
    Ok(tests.collect())
}

async fn run(buckets: &Buckets, account: AccountId, connection: &Connection) -> Result<Vec<Step>, ConnectionError> {
    let bucket = match buckets.open(account, connection).await {
        Ok(bucket) => bucket,
        Err(BucketsError::Gone) => return Err(ConnectionError::NotFound),
        Err(BucketsError::Bucket(error)) => return Ok(vec![step(Action::Write, connection, Err(error))]),
        Err(error @ BucketsError::NotOpened { .. }) => {
            return Ok(vec![Step {
                action: Action::Write,
                advice: Some(sentence(&error.to_string())),
            }]);
        }
        Err(error) => return Err(error.into()),
    };
    let path = format!(
        "{}platen-connection-test-{}",
        connection.settings.path_prefix,
        Uuid::new_v4()
    );
    let written = bucket.put(&path, Bytes::from_static(CONTENT)).await.map(drop);
    let mut steps = vec![step(Action::Write, connection, written)];
    if steps[0].advice.is_none() {
        steps.push(step(Action::Read, connection, read(&bucket, &path).await));
        steps.push(step(Action::Delete, connection, bucket.delete(&path).await));
    }
    Ok(steps)
}

async fn read(bucket: &Bucket, path: &str) -> Result<(), BucketError> {
    if bucket.get(path).await? == CONTENT {
        Ok(())
    } else {
        let message = "the content read differs from the content written: another object has this name".into();
        Err(BucketError::Silent(message))
    }
}

fn step(action: Action, connection: &Connection, outcome: Result<(), BucketError>) -> Step {
    let advice = outcome.err().map(|error| {
        let advice = match &error {
            BucketError::Silent(reason) => passing(&connection.settings, reason),
            BucketError::Busy(refusal) => with_error("The store is busy or unavailable; try again later.", refusal),
            BucketError::Refused(refusal) => with_error(&lasting(action, connection, refusal), refusal),
        };
        match action {
            Action::Write => advice,
            // The write has succeeded.
            Action::Read => format!("{advice} Documents can still be delivered."),
            Action::Delete => format!("{advice} Documents can still be delivered; the test's object remains."),
        }
    });
    Step { action, advice }
}

fn with_error(advice: &str, refusal: &Refusal) -> String {
    format!(
        "{advice} The store says: {} ({})",
        sentence(refusal.message()),
        refusal.code()
    )
}

fn passing(settings: &Settings, reason: &str) -> String {
    let remedy = match &settings.endpoint {
        Some(endpoint) => format!(
            "check that {} is the address of the store, and try again",
            endpoint.origin().ascii_serialization()
        ),
        None => "try again later".to_owned(),
    };
    format!("{} Please {remedy}.", sentence(reason))
}

fn lasting(action: Action, connection: &Connection, refusal: &Refusal) -> String {
    let Settings {
        provider,
        bucket,
        path_prefix,
        region,
        ..
    } = &connection.settings;
    let identity = &connection.identity;
    match refusal.code() {
        "NoSuchBucket" | "notFound" => {
            format!("There is no bucket {bucket}: create it, or create a connection to an existing one.")
        }
        "AccessDenied" | "forbidden" => match provider {
            Provider::AwsS3 if connection.in_role() => format!(
                "The role {identity} can't be assumed, or may not {} objects: its trust policy must admit this service \
                 with the external id of the connection, and its permissions must allow {} on \
                 arn:aws:s3:::{bucket}/{path_prefix}*.",
                action.into_str(),
                action.permission()
            ),
            Provider::AwsS3 => format!(
                "The access key {identity} may not {} objects: allow it {} on arn:aws:s3:::{bucket}/{path_prefix}*.",
                action.into_str(),
                action.permission()
            ),
            Provider::GoogleCloudStorage => format!(
                "The service account {identity} may not {} objects: give it the role Storage Object User \
                 (roles/storage.objectUser) on the bucket {bucket}.",
                action.into_str()
            ),
        },
        "authError" => format!(
            "The service account {identity} can't be used: its key may be mistyped, disabled or deleted; without a \
             key, the service can't impersonate it and needs the role Service Account Token Creator \
             (roles/iam.serviceAccountTokenCreator) on it."
        ),
        "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" => format!(
            "The store does not accept the credentials of {identity}: they may be mistyped, disabled or deleted. \
             Create a connection with others."
        ),
        "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" => format!(
            "The bucket {bucket} is not in the region {}: create a connection with the right region.",
            region.as_deref().unwrap_or("that the store expects")
        ),
        _ => format!(
            "The store doesn't allow Platen to {} objects in the bucket {bucket}.",
            action.into_str()
        ),
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    fn connection(provider: Provider, endpoint: Option<&str>) -> Connection {
        Connection {
            id: ConnectionId::generate(),
            settings: Settings {
                provider,
                name: "Archive".into(),
                bucket: "documents".into(),
                path_prefix: "invoices/".into(),
                region: Some("eu-central-1".into()),
                endpoint: endpoint.map(|text| text.parse().expect("an address")),
            },
            identity: "AKIAEXAMPLE".into(),
            inserted_at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn advice(action: Action, connection: &Connection, error: BucketError) -> String {
        step(action, connection, Err(error)).advice.expect("something is wrong")
    }

    #[test]
    fn what_works_needs_no_advice() {
        let connection = connection(Provider::AwsS3, None);
        assert_eq!(step(Action::Write, &connection, Ok(())).advice, None);
    }

    #[test]
    fn a_refusal_says_what_to_allow() {
        let amazon = connection(Provider::AwsS3, None);
        let denied = || BucketError::Refused(Refusal::by_s3("AccessDenied", "Access Denied"));
        assert_eq!(
            advice(Action::Write, &amazon, denied()),
            "The access key AKIAEXAMPLE may not write objects: allow it s3:PutObject on \
             arn:aws:s3:::documents/invoices/*. The store says: Access Denied. (AccessDenied)"
        );
        assert!(advice(Action::Delete, &amazon, denied()).ends_with("the test's object remains."));
        let google = connection(Provider::GoogleCloudStorage, None);
        let forbidden = BucketError::Refused(Refusal::by_google("forbidden", "no access"));
        assert!(advice(Action::Write, &google, forbidden).contains("roles/storage.objectUser"));
    }

    #[test]
    fn what_cannot_be_reached_says_where_to_look() {
        let own = connection(Provider::AwsS3, Some("https://minio.example.org"));
        let unreachable = BucketError::Silent("the store can't be reached: connection refused".into());
        assert_eq!(
            advice(Action::Write, &own, unreachable),
            "The store can't be reached: connection refused. Please check that https://minio.example.org is the address \
             of the store, and try again."
        );
    }
}
