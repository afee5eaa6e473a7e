//! Tests a storage connection: writes, reads and deletes an object, and advises on failures.

use std::{collections::HashMap, time::Instant};

use bytes::Bytes;
use platen_domain::{
    connection::{Connection, ConnectionTest, Settings, TestAction, TestStep, credentials::Credentials},
    destination::Provider,
    ids::{AccountId, ConnectionId},
    sentence::sentence,
};
use sqlx::PgPool;
use url::Url;
use uuid::Uuid;

use crate::{
    clock,
    service::connections::{
        ConnectionError,
        buckets::{Buckets, BucketsError},
        get,
    },
    storage::bucket::{Bucket, BucketError, LONGEST_ANSWER, Obstacle},
    store::{connection_tests, error::StoreError},
};

const CONTENT: &[u8] = b"Platen checks whether it can write here.\n";

/// Tests a connection and stores the result. If writing fails, the other steps are skipped.
pub async fn test(buckets: &Buckets, account: AccountId, id: ConnectionId) -> Result<ConnectionTest, ConnectionError> {
    let connection = get(buckets.db(), account, id).await?;
    let test = run(buckets, account, &connection, None).await?;
    connection_tests::replace(buckets.db(), account, id, &test).await?;
    Ok(test)
}

/// Returns the latest test of each of the account's connections.
pub async fn last_tests(db: &PgPool, account: AccountId) -> Result<HashMap<ConnectionId, ConnectionTest>, StoreError> {
    connection_tests::list(db, account).await
}

/// Tests a connection with its own credentials, or with others.
pub(super) async fn run(
    buckets: &Buckets,
    account: AccountId,
    connection: &Connection,
    credentials: Option<&Credentials>,
) -> Result<ConnectionTest, ConnectionError> {
    let began = Instant::now();
    let opened = match credentials {
        Some(credentials) => buckets.open_with(account, &connection.settings, credentials).await,
        None => buckets.open(account, connection).await,
    };
    let steps = match opened {
        Ok(bucket) => steps(&bucket, connection).await,
        Err(BucketsError::Gone) => return Err(ConnectionError::NotFound),
        Err(BucketsError::Bucket(error)) => vec![step(TestAction::Write, connection, Err(error))],
        Err(error @ BucketsError::NotOpened { .. }) => vec![TestStep {
            action: TestAction::Write,
            advice: Some(sentence(&error.to_string())),
            response: None,
        }],
        Err(error) => return Err(error.into()),
    };
    Ok(ConnectionTest {
        tested_at: clock::now(),
        milliseconds: i32::try_from(began.elapsed().as_millis()).unwrap_or(i32::MAX),
        steps,
    })
}

async fn steps(bucket: &Bucket, connection: &Connection) -> Vec<TestStep> {
    let path = format!(
        "{}platen-connection-test-{}",
        connection.settings.path_prefix,
        Uuid::new_v4()
    );
    let written = bucket.put(&path, Bytes::from_static(CONTENT)).await.map(drop);
    let mut steps = vec![step(TestAction::Write, connection, written)];
    if steps[0].passed() {
        steps.push(step(TestAction::Read, connection, read(bucket, &path).await));
        steps.push(step(TestAction::Delete, connection, bucket.delete(&path).await));
    }
    steps
}

async fn read(bucket: &Bucket, path: &str) -> Result<(), BucketError> {
    if bucket.get(path, LONGEST_ANSWER).await? == CONTENT {
        Ok(())
    } else {
        let message = "the content read differs from the content written: another object has this name".into();
        Err(BucketError::Silent(message))
    }
}

fn step(action: TestAction, connection: &Connection, outcome: Result<(), BucketError>) -> TestStep {
    let Err(error) = outcome else {
        return TestStep {
            action,
            advice: None,
            response: None,
        };
    };
    let (advice, response) = match &error {
        BucketError::Refused(refusal) => match refusal.response() {
            Some(response) => (after_refusal(action, connection, &response.code), Some(response)),
            // Google's client library drops the status of the responses that it gets for a token.
            None if refusal.code() == "authError" => {
                let advice = after_refusal(action, connection, refusal.code());
                (format!("{advice} {}", sentence(refusal.message())), None)
            }
            None => (sentence(refusal.message()), None),
        },
        BucketError::Blocked(refusal) => {
            let advice = "Enter a public address as the endpoint, or ask the operator to allow this one.";
            (format!("{} {advice}", sentence(refusal.message())), None)
        }
        BucketError::Busy(refusal) => {
            let advice = "The store is busy or unavailable. Test again in a few minutes.";
            (advice.to_owned(), refusal.response())
        }
        BucketError::Unreachable(obstacle, reason) => {
            let advice = after_obstacle(*obstacle, connection.settings.endpoint.as_ref());
            (format!("{} {advice}", sentence(reason)), None)
        }
        BucketError::Silent(reason) => (format!("{} Test again in a few minutes.", sentence(reason)), None),
    };
    let advice = match action {
        TestAction::Write => advice,
        // The write has succeeded.
        TestAction::Read => format!("{advice} Documents can still be delivered."),
        TestAction::Delete => format!("{advice} Documents can still be delivered; the test's object remains."),
    };
    TestStep {
        action,
        advice: Some(advice),
        response,
    }
}

fn after_obstacle(obstacle: Obstacle, endpoint: Option<&Url>) -> String {
    let Some(endpoint) = endpoint else {
        // Only tenants mistype addresses.
        return "Test again in a few minutes.".to_owned();
    };
    let endpoint = endpoint.origin().ascii_serialization();
    match obstacle {
        Obstacle::Name => format!("Check the host name of the endpoint {endpoint}."),
        Obstacle::Connection => format!("Check the host and port of the endpoint {endpoint}."),
        Obstacle::Tls => format!(
            "Check that {endpoint} has a valid certificate from a public authority, and that the endpoint begins with \
             http:// if the store has no certificate."
        ),
        Obstacle::Timeout => {
            format!("Check that the store at {endpoint} is running and that its firewall admits this service.")
        }
    }
}

/// Returns advice for an error code of S3 or a reason of Google.
fn after_refusal(action: TestAction, connection: &Connection, code: &str) -> String {
    let Settings {
        provider,
        bucket,
        path_prefix,
        region,
        ..
    } = &connection.settings;
    let (identity, verb) = (&connection.identity, action.into_str());
    let permission = format!("s3:{}", action.operation(Provider::AwsS3));
    match code {
        "NoSuchBucket" | "notFound" => {
            format!("There is no bucket {bucket}: create it, or create a connection to an existing one.")
        }
        "AccessDenied" | "forbidden" => match provider {
            Provider::AwsS3 if connection.in_role() => format!(
                "The role {identity} can't be assumed, or may not {verb} objects: its trust policy must admit this \
                 service with the external id of the connection, and its permissions must allow {permission} on \
                 arn:aws:s3:::{bucket}/{path_prefix}*."
            ),
            Provider::AwsS3 => format!(
                "The access key {identity} may not {verb} objects: allow it {permission} on \
                 arn:aws:s3:::{bucket}/{path_prefix}*."
            ),
            Provider::GoogleCloudStorage => format!(
                "The service account {identity} may not {verb} objects: give it the role Storage Object User \
                 (roles/storage.objectUser) on the bucket {bucket}."
            ),
        },
        "authError" => format!(
            "The service account {identity} can't be used. Check that its key is enabled, or without a key, that this \
             service has the role Service Account Token Creator (roles/iam.serviceAccountTokenCreator) on it."
        ),
        "SignatureDoesNotMatch" => format!(
            "The secret doesn't belong to the access key {identity}. Copy the secret again, and rotate the credentials."
        ),
        "InvalidAccessKeyId" => format!(
            "The store doesn't know the access key {identity}: it may be mistyped, disabled or deleted. Rotate the \
             credentials."
        ),
        "InvalidToken" | "InvalidClientTokenId" => {
            format!("The store doesn't accept the credentials of {identity}. Rotate the credentials.")
        }
        "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" => format!(
            "The bucket {bucket} is not in the region {}. Edit the connection, and enter the region of the bucket.",
            region.as_deref().unwrap_or("us-east-1")
        ),
        _ => format!("The store doesn't allow Platen to {verb} objects in the bucket {bucket}. Check its settings."),
    }
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;
    use crate::storage::bucket::Refusal;

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
            revision: 1,
            inserted_at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn failed(action: TestAction, connection: &Connection, error: BucketError) -> TestStep {
        step(action, connection, Err(error))
    }

    fn refused(code: &str) -> BucketError {
        BucketError::Refused(Refusal::by_s3(code, "The store refuses").with_status(403))
    }

    #[test]
    fn a_step_that_passed_has_no_message() {
        let connection = connection(Provider::AwsS3, None);
        assert_eq!(step(TestAction::Write, &connection, Ok(())).message(), None);
    }

    #[test]
    fn a_refusal_names_the_missing_permission_and_the_response() {
        let amazon = connection(Provider::AwsS3, None);
        let step = failed(TestAction::Write, &amazon, refused("AccessDenied"));
        assert_eq!(
            step.message().expect("a message"),
            "The access key AKIAEXAMPLE may not write objects: allow it s3:PutObject on \
             arn:aws:s3:::documents/invoices/*. The store says: The store refuses. (AccessDenied)"
        );
        assert_eq!(step.response.expect("a response").status, 403);
        let delete = failed(TestAction::Delete, &amazon, refused("AccessDenied"));
        assert!(delete.advice.expect("advice").ends_with("the test's object remains."));
        let google = connection(Provider::GoogleCloudStorage, None);
        let forbidden = BucketError::Refused(Refusal::by_google("forbidden", "no access").with_status(403));
        let step = failed(TestAction::Write, &google, forbidden);
        assert!(step.advice.expect("advice").contains("roles/storage.objectUser"));
    }

    #[test]
    fn each_error_code_has_its_advice() {
        let amazon = connection(Provider::AwsS3, None);
        for (code, expected) in [
            ("SignatureDoesNotMatch", "Copy the secret again"),
            ("InvalidAccessKeyId", "Rotate the credentials"),
            ("NoSuchBucket", "There is no bucket documents"),
            (
                "PermanentRedirect",
                "not in the region eu-central-1. Edit the connection",
            ),
            ("AuthorizationHeaderMalformed", "not in the region eu-central-1"),
            ("MethodNotAllowed", "Check its settings"),
        ] {
            let advice = failed(TestAction::Write, &amazon, refused(code))
                .advice
                .expect("advice");
            assert!(advice.contains(expected), "{code}: {advice}");
        }
    }

    #[test]
    fn each_obstacle_has_its_advice() {
        let own = connection(Provider::AwsS3, Some("https://minio.example.org"));
        for (obstacle, expected) in [
            (
                Obstacle::Name,
                "Check the host name of the endpoint https://minio.example.org.",
            ),
            (Obstacle::Connection, "Check the host and port of the endpoint"),
            (Obstacle::Tls, "has a valid certificate"),
            (Obstacle::Timeout, "its firewall admits this service"),
        ] {
            let error = BucketError::Unreachable(obstacle, "the store can't be reached".into());
            let message = failed(TestAction::Write, &own, error).message().expect("a message");
            assert!(message.starts_with("The store can't be reached. "), "{message}");
            assert!(message.contains(expected), "{obstacle:?}: {message}");
        }
        let blocked = BucketError::Blocked(Refusal::by_s3("AccessDenied", "The endpoint is private."));
        let message = failed(TestAction::Write, &own, blocked).message().expect("a message");
        assert!(message.contains("Enter a public address"), "{message}");
    }
}
