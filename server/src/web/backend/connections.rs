//! The account's storage connections.

use async_trait::async_trait;
use platen_app::{
    backend::connections::{AMAZON, ConnectionBackend, ConnectionForm, GOOGLE, IMPERSONATION, ROLE},
    error::AppError,
    model::{
        connection::{ConnectionTest, Connections, TestStep},
        rejection::Field,
    },
};
use platen_core::{
    clock,
    service::connections::{self, ConnectionError, probe},
};
use platen_domain::{
    account_log::Actor,
    connection::{self, NewConnection},
    ids::{AccountId, ConnectionId},
    page::PageRequest,
    role::Permission,
    validation::{
        Problem, Problems,
        json::{self as strict_json, Layout},
    },
};
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::{RequestBackend, invalid};

#[async_trait]
impl ConnectionBackend for RequestBackend {
    async fn connections(&self) -> Result<Connections, AppError> {
        let account = self.caller_who_may(Permission::ManageDestinations).await?.account;
        let found = connections::list(&self.app.db, account, PageRequest::ALL).await;
        let found = found.map_err(|error| self.not_connected(error))?;
        let tests = probe::last_tests(&self.app.db, account).await;
        let mut tests = tests.map_err(|error| self.internal(&error))?;
        let stores = self.app.buckets.stores();
        Ok(Connections {
            now: clock::now(),
            account: account.to_string(),
            roles: stores.can_assume_roles(),
            impersonation: stores.can_impersonate(),
            connections: found
                .items
                .into_iter()
                .map(|connection| {
                    let test = tests.remove(&connection.id).map(shown);
                    (connection, test)
                })
                .collect(),
        })
    }

    async fn connect_bucket(&self, form: ConnectionForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManageDestinations).await?;
        let body = body(&form)?;
        let new = NewConnection::parse(body.to_string().as_bytes(), |url| {
            self.app.buckets.stores().check_endpoint(url)
        });
        let new = new.map_err(|problems| invalid(fields(&problems, &form)))?;
        let created = connections::create(&self.app.buckets, caller.account, &Actor::of_caller(&caller), new).await;
        let created = created.map_err(|error| match error {
            ConnectionError::Invalid(problems) => invalid(fields(&problems, &form)),
            other => self.not_connected(other),
        })?;
        self.test(caller.account, created.id).await
    }

    async fn test_connection(&self, id: String) -> Result<(), AppError> {
        let account = self.caller_who_may(Permission::ManageDestinations).await?.account;
        let id = ConnectionId::parse(&id).ok_or(AppError::NotFound)?;
        self.test(account, id).await
    }

    async fn delete_connection(&self, id: String, name: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::ManageDestinations).await?;
        let id = ConnectionId::parse(&id).ok_or(AppError::NotFound)?;
        let connection = connections::get(&self.app.db, caller.account, id).await;
        let connection = connection.map_err(|error| self.not_connected(error))?;
        // Connections are immutable, so the name can't have changed in the meantime.
        if connection.settings.name.trim() != name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        let deleted = connections::delete(&self.app.db, caller.account, &Actor::of_caller(&caller), id).await;
        deleted.map_err(|error| self.not_connected(error))
    }
}

impl RequestBackend {
    async fn test(&self, account: AccountId, id: ConnectionId) -> Result<(), AppError> {
        let tested = probe::test(&self.app.buckets, account, id).await;
        tested.map(drop).map_err(|error| self.not_connected(error))
    }

    fn not_connected(&self, error: ConnectionError) -> AppError {
        match error {
            ConnectionError::NotFound => AppError::NotFound,
            error => self.internal(&error),
        }
    }
}

fn shown(test: connection::ConnectionTest) -> ConnectionTest {
    let steps = test.steps.into_iter().map(|step| TestStep {
        action: step.action.into_str(),
        advice: step.advice,
    });
    ConnectionTest {
        at: test.tested_at,
        milliseconds: test.milliseconds,
        steps: steps.collect(),
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
    use platen_app::backend::connections::{ACCESS_KEY, KEY_FILE};
    use platen_egress::policy::AddressPolicy;

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
    fn whatever_is_no_key_of_google_is_one_fault() {
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
    fn a_store_that_is_unknown_is_no_form_of_ours() {
        let form = ConnectionForm {
            provider: "ftp".to_owned(),
            ..amazon()
        };
        assert_eq!(body(&form), Err(AppError::Malformed));
    }
}
