//! Tests a storage connection: writes, reads and deletes an object, and advises on failures.

use std::{collections::HashMap, time::Instant};

use bytes::Bytes;
use platen_domain::{
    connection::{Connection, ConnectionTest, Settings, TestAction, TestStep},
    destination::Provider,
    ids::{AccountId, ConnectionId},
    sentence::sentence,
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    clock,
    service::connections::{
        ConnectionError,
        buckets::{Buckets, BucketsError},
        get,
    },
    storage::bucket::{Bucket, BucketError, Refusal},
    store::{connection_tests, error::StoreError},
};

const CONTENT: &[u8] = b"Platen checks whether it can write here.\n";

/// Returns the name of the permission that an action requires at AWS.
fn permission(action: TestAction) -> &'static str {
    match action {
        TestAction::Write => "s3:PutObject",
        TestAction::Read => "s3:GetObject",
        TestAction::Delete => "s3:DeleteObject",
    }
}

/// Tests a connection and stores the result. If writing fails, the other steps are skipped.
pub async fn test(buckets: &Buckets, account: AccountId, id: ConnectionId) -> Result<Vec<TestStep>, ConnectionError> {
    let connection = get(buckets.db(), account, id).await?;
    let began = Instant::now();
    let steps = run(buckets, account, &connection).await?;
    let test = ConnectionTest {
        tested_at: clock::now(),
        milliseconds: i32::try_from(began.elapsed().as_millis()).unwrap_or(i32::MAX),
        steps,
    };
    connection_tests::replace(buckets.db(), account, id, &test).await?;
    Ok(test.steps)
}

/// Returns the latest test of each of the account's connections.
pub async fn last_tests(db: &PgPool, account: AccountId) -> Result<HashMap<ConnectionId, ConnectionTest>, StoreError> {
    connection_tests::list(db, account).await
}

async fn run(buckets: &Buckets, account: AccountId, connection: &Connection) -> Result<Vec<TestStep>, ConnectionError> {
    let bucket = match buckets.open(account, connection).await {
        Ok(bucket) => bucket,
        Err(BucketsError::Gone) => return Err(ConnectionError::NotFound),
        Err(BucketsError::Bucket(error)) => return Ok(vec![step(TestAction::Write, connection, Err(error))]),
        Err(error @ BucketsError::NotOpened { .. }) => {
            return Ok(vec![TestStep {
                action: TestAction::Write,
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
    let mut steps = vec![step(TestAction::Write, connection, written)];
    if steps[0].advice.is_none() {
        steps.push(step(TestAction::Read, connection, read(&bucket, &path).await));
        steps.push(step(TestAction::Delete, connection, bucket.delete(&path).await));
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

fn step(action: TestAction, connection: &Connection, outcome: Result<(), BucketError>) -> TestStep {
    let advice = outcome.err().map(|error| {
        let advice = match &error {
            BucketError::Silent(reason) => passing(&connection.settings, reason),
            BucketError::Busy(refusal) => with_error("The store is busy or unavailable; try again later.", refusal),
            BucketError::Refused(refusal) => with_error(&lasting(action, connection, refusal), refusal),
        };
        match action {
            TestAction::Write => advice,
            // The write has succeeded.
            TestAction::Read => format!("{advice} Documents can still be delivered."),
            TestAction::Delete => format!("{advice} Documents can still be delivered; the test's object remains."),
        }
    });
    TestStep { action, advice }
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

fn lasting(action: TestAction, connection: &Connection, refusal: &Refusal) -> String {
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
                permission(action)
            ),
            Provider::AwsS3 => format!(
                "The access key {identity} may not {} objects: allow it {} on arn:aws:s3:::{bucket}/{path_prefix}*.",
                action.into_str(),
                permission(action)
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

    fn advice(action: TestAction, connection: &Connection, error: BucketError) -> String {
        step(action, connection, Err(error)).advice.expect("something is wrong")
    }

    #[test]
    fn what_works_needs_no_advice() {
        let connection = connection(Provider::AwsS3, None);
        assert_eq!(step(TestAction::Write, &connection, Ok(())).advice, None);
    }

    #[test]
    fn a_refusal_says_what_to_allow() {
        let amazon = connection(Provider::AwsS3, None);
        let denied = || BucketError::Refused(Refusal::by_s3("AccessDenied", "Access Denied"));
        assert_eq!(
            advice(TestAction::Write, &amazon, denied()),
            "The access key AKIAEXAMPLE may not write objects: allow it s3:PutObject on \
             arn:aws:s3:::documents/invoices/*. The store says: Access Denied. (AccessDenied)"
        );
        assert!(advice(TestAction::Delete, &amazon, denied()).ends_with("the test's object remains."));
        let google = connection(Provider::GoogleCloudStorage, None);
        let forbidden = BucketError::Refused(Refusal::by_google("forbidden", "no access"));
        assert!(advice(TestAction::Write, &google, forbidden).contains("roles/storage.objectUser"));
    }

    #[test]
    fn what_cannot_be_reached_says_where_to_look() {
        let own = connection(Provider::AwsS3, Some("https://minio.example.org"));
        let unreachable = BucketError::Silent("the store can't be reached: connection refused".into());
        assert_eq!(
            advice(TestAction::Write, &own, unreachable),
            "The store can't be reached: connection refused. Please check that https://minio.example.org is the address \
             of the store, and try again."
        );
    }
}
