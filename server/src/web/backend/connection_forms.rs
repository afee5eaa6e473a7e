//! Forms of storage connections.

use platen_app::{
    error::AppError,
    model::{
        connection::{AMAZON, ConnectionEdit, ConnectionForm, GOOGLE, IMPERSONATION, ROLE},
        rejection::{Field, page::PageReason},
    },
};
use platen_core::{
    clock,
    service::connections::{ConnectionError, rejected_credentials},
};
use platen_domain::{
    connection::{Connection, NewConnection, TestStep},
    ids::{AccountId, ConnectionId},
    validation::{
        Problem, Problems,
        json::{self as strict_json, Layout},
    },
};
use serde_json::{Map, Value, json};
use strum::VariantArray;
use url::Url;

use super::{
    RequestBackend,
    visitor_errors::{invalid, rejected},
};

impl RequestBackend {
    /// Parses a form by the rules of the API.
    pub(super) fn new_connection(&self, form: &ConnectionForm) -> Result<NewConnection, AppError> {
        let body = body(form)?.to_string();
        let new = NewConnection::parse(body.as_bytes(), |url| self.app.buckets.stores().check_endpoint(url));
        new.map_err(|problems| invalid(fields(&problems, form)))
    }

    /// As [`Self::answer`], with validation errors at the fields of a form.
    pub(super) fn answer_about<T>(
        &self,
        form: &ConnectionForm,
        result: Result<T, ConnectionError>,
    ) -> Result<T, AppError> {
        match result {
            Err(ConnectionError::Invalid(problems)) => Err(invalid(fields(&problems, form))),
            result => self.answer(result),
        }
    }

    /// Returns the error for new credentials that failed the test, and stores the steps for the page that explains it.
    pub(super) async fn rejected_credentials(
        &self,
        account: AccountId,
        id: ConnectionId,
        steps: Vec<TestStep>,
    ) -> AppError {
        let stored = rejected_credentials::keep(&self.session, account, id, steps, clock::now()).await;
        match self.answer(stored) {
            Ok(()) => rejected(PageReason::CredentialsRejected),
            Err(error) => error,
        }
    }
}

/// Builds the body of the equivalent API request, so that the same rules apply.
fn body(form: &ConnectionForm) -> Result<Value, AppError> {
    let mut connection = Map::new();
    let mut add = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            connection.insert(name.to_owned(), value.trim().into());
        }
    };
    add("provider", &form.provider);
    add("name", &form.connection_name);
    add("bucket", &form.bucket);
    add("path_prefix", &form.path_prefix);
    let credentials = match form.provider.as_str() {
        AMAZON => {
            add("region", &form.region);
            add("endpoint", &form.endpoint);
            if form.amazon_access == ROLE {
                json!({"role_arn": form.role_arn.trim()})
            } else {
                json!({
                    "access_key_id": form.access_key_id.trim(),
                    "secret_access_key": form.secret_access_key.trim(),
                })
            }
        }
        GOOGLE if form.google_access == IMPERSONATION => {
            json!({"type": "impersonated_service_account", "client_email": form.client_email.trim()})
        }
        // Invalid JSON gets the same validation error as JSON that isn't a key.
        GOOGLE => {
            let file = strict_json::parse(form.key_file.as_bytes(), &Layout::PLAIN, &mut Problems::default());
            file.map_or_else(|| json!({}), |file| file.value)
        }
        _ => return Err(AppError::Malformed),
    };
    connection.insert("credentials".to_owned(), credentials);
    Ok(json!({"connection": connection}))
}

/// Returns the form that would create the connection as it is, with the credentials of `form`.
pub(super) fn with_settings(connection: &Connection, form: ConnectionForm) -> ConnectionForm {
    let settings = &connection.settings;
    ConnectionForm {
        provider: settings.provider.into_str().to_owned(),
        connection_name: settings.name.clone(),
        bucket: settings.bucket.clone(),
        path_prefix: settings.path_prefix.clone(),
        region: settings.region.clone().unwrap_or_default(),
        endpoint: settings.endpoint.as_ref().map(Url::to_string).unwrap_or_default(),
        ..form
    }
}

/// Returns the form that would create the connection as changed. Its credentials are placeholders that pass validation.
pub(super) fn edited(connection: &Connection, edit: ConnectionEdit) -> ConnectionForm {
    let credentials = ConnectionForm {
        amazon_access: ROLE.to_owned(),
        role_arn: "arn:aws:iam::123456789012:role/unchanged".to_owned(),
        google_access: IMPERSONATION.to_owned(),
        client_email: "unchanged@platen.iam.gserviceaccount.com".to_owned(),
        ..ConnectionForm::default()
    };
    ConnectionForm {
        connection_name: edit.connection_name,
        region: edit.region,
        endpoint: edit.endpoint,
        ..with_settings(connection, credentials)
    }
}

/// Returns the form fields that validation errors of the body refer to, in the order of the form.
fn fields(problems: &[Problem], form: &ConnectionForm) -> Vec<Field> {
    let named = |problem: &Problem| {
        let member = problem.pointer.strip_prefix("/connection/").unwrap_or_default();
        match member {
            "name" => Field::ConnectionName,
            "bucket" => Field::Bucket,
            "path_prefix" => Field::PathPrefix,
            "region" => Field::Region,
            "endpoint" => Field::Endpoint,
            "credentials/role_arn" => Field::RoleArn,
            "credentials/access_key_id" => Field::AccessKeyId,
            "credentials/secret_access_key" => Field::SecretAccessKey,
            _ if form.google_access == IMPERSONATION => Field::ClientEmail,
            _ => Field::KeyFile,
        }
    };
    let found: Vec<_> = problems.iter().map(named).collect();
    Field::VARIANTS
        .iter()
        .copied()
        .filter(|field| found.contains(field))
        .collect()
}

#[cfg(test)]
mod tests {
    use platen_app::model::connection::{ACCESS_KEY, KEY_FILE};
    use platen_domain::{connection::Settings, destination::Provider};
    use platen_egress::policy::AddressPolicy;
    use time::OffsetDateTime;

    use super::*;

    fn amazon() -> ConnectionForm {
        ConnectionForm {
            provider: AMAZON.to_owned(),
            connection_name: " Archive ".to_owned(),
            bucket: "documents".to_owned(),
            path_prefix: "invoices/".to_owned(),
            region: "eu-central-1".to_owned(),
            amazon_access: ACCESS_KEY.to_owned(),
            access_key_id: "AKIA".to_owned(),
            secret_access_key: "hunter2 ".to_owned(),
            // Hidden, and ignored.
            key_file: "{".to_owned(),
            ..ConnectionForm::default()
        }
    }

    fn google(access: &str) -> ConnectionForm {
        ConnectionForm {
            provider: GOOGLE.to_owned(),
            google_access: access.to_owned(),
            client_email: "platen@acme.example".to_owned(),
            endpoint: "https://minio.example".to_owned(),
            ..amazon()
        }
    }

    fn faulty(form: &ConnectionForm) -> Vec<Field> {
        let body = body(form).expect("a known store").to_string();
        let parsed = NewConnection::parse(body.as_bytes(), |url| AddressPolicy::default().check_literal(url));
        parsed.err().map(|problems| fields(&problems, form)).unwrap_or_default()
    }

    #[test]
    fn a_form_is_held_against_the_rules_of_the_api() {
        assert_eq!(faulty(&amazon()), []);
        assert_eq!(faulty(&google(IMPERSONATION)), []);
        let role = |role_arn: &str| ConnectionForm {
            amazon_access: ROLE.to_owned(),
            role_arn: role_arn.to_owned(),
            ..amazon()
        };
        assert_eq!(faulty(&role("arn:aws:iam::123456789012:role/platen")), []);
        assert_eq!(faulty(&role("platen")), [Field::RoleArn]);
        let wrong = ConnectionForm {
            connection_name: "  ".to_owned(),
            bucket: "a/b".to_owned(),
            path_prefix: "invoices".to_owned(),
            region: String::new(),
            endpoint: "http://127.0.0.1:9000".to_owned(),
            access_key_id: String::new(),
            secret_access_key: String::new(),
            ..amazon()
        };
        let expected = [
            Field::ConnectionName,
            Field::Bucket,
            Field::PathPrefix,
            Field::Endpoint,
            Field::AccessKeyId,
            Field::SecretAccessKey,
        ];
        assert_eq!(faulty(&wrong), expected);
    }

    #[test]
    fn text_that_is_no_google_key_is_one_error() {
        for file in ["", "{", "[]", "{}", r#"{"type": "authorized_user"}"#] {
            let form = ConnectionForm {
                key_file: file.to_owned(),
                ..google(KEY_FILE)
            };
            assert_eq!(faulty(&form), [Field::KeyFile], "{file}");
        }
        let without_client = ConnectionForm {
            client_email: String::new(),
            ..google(IMPERSONATION)
        };
        assert_eq!(faulty(&without_client), [Field::ClientEmail]);
    }

    #[test]
    fn an_edit_keeps_the_bucket_and_needs_no_credentials() {
        let of_bucket = Connection {
            id: ConnectionId::generate(),
            settings: Settings {
                provider: Provider::AwsS3,
                name: "Archive".to_owned(),
                bucket: "documents".to_owned(),
                path_prefix: "invoices/".to_owned(),
                region: Some("eu-central-1".to_owned()),
                endpoint: None,
            },
            identity: "AKIA".to_owned(),
            revision: 1,
            inserted_at: OffsetDateTime::UNIX_EPOCH,
        };
        let edit = ConnectionEdit {
            connection_name: "Invoices".to_owned(),
            region: "eu-west-1".to_owned(),
            endpoint: String::new(),
        };
        let form = edited(&of_bucket, edit);
        assert_eq!(faulty(&form), []);
        let texts = [form.bucket, form.path_prefix, form.connection_name, form.region];
        assert_eq!(texts, ["documents", "invoices/", "Invoices", "eu-west-1"]);
    }

    #[test]
    fn a_store_that_is_unknown_is_no_form_of_ours() {
        let form = ConnectionForm {
            provider: "ftp".to_owned(),
            ..amazon()
        };
        assert_eq!(body(&form), Err(AppError::Malformed));
    }
}
