//! Forms of storage connections.

use platen_app::{
    error::AppError,
    model::{
        connection::{AMAZON, ConnectionForm, GOOGLE, IMPERSONATION, ROLE},
        rejection::Field,
    },
};
use platen_domain::validation::{
    Problem, Problems,
    json::{self as strict_json, Layout},
};
use serde_json::{Map, Value, json};
use strum::VariantArray;

/// Builds the body of the equivalent API request, so that the same rules apply.
pub(super) fn body(form: &ConnectionForm) -> Result<Value, AppError> {
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
pub(super) fn fields(problems: &[Problem], form: &ConnectionForm) -> Vec<Field> {
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
    use platen_domain::connection::NewConnection;
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
