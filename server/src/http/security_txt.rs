//! `/.well-known/security.txt`: the contact for vulnerability reports (RFC 9116).

use std::fmt::Write;

use axum::{
    Router,
    extract::{FromRef, State},
    http::header,
    response::IntoResponse,
    routing::get,
};
use platen_core::{clock, config::disclosure::DisclosureConfig, service::Services};
use time::{Duration, OffsetDateTime, Time, format_description::well_known::Rfc3339};
use url::Url;

const PATH: &str = "/.well-known/security.txt";
/// From the time of the request. The RFC allows a year.
const LIFETIME: Duration = Duration::days(90);

/// Returns the route, if a contact is configured.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(config: &DisclosureConfig) -> Router<S>
where
    Services: FromRef<S>,
{
    match config.contact {
        Some(_) => Router::new().route(PATH, get(show)),
        None => Router::new(),
    }
}

async fn show(State(app): State<Services>) -> impl IntoResponse {
    let text = write(&app.config.disclosure, &app.base_url, clock::now());
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text)
}

/// Writes the file. Parsed URLs contain no line breaks, so they can't inject fields.
fn write(config: &DisclosureConfig, base_url: &Url, now: OffsetDateTime) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &str| {
        // Writing to a string doesn't fail.
        let _ = writeln!(text, "{name}: {value}");
    };
    if let Some(contact) = &config.contact {
        field("Contact", contact.as_str());
    }
    let expires = (now + LIFETIME).replace_time(Time::MIDNIGHT);
    field("Expires", &expires.format(&Rfc3339).unwrap_or_default());
    field("Preferred-Languages", "en");
    if let Ok(canonical) = base_url.join(PATH) {
        field("Canonical", canonical.as_str());
    }
    if let Some(policy) = &config.policy {
        field("Policy", policy.as_str());
    }
    text
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn it_says_whom_to_tell_until_when_and_in_which_language() {
        let config = DisclosureConfig {
            contact: Url::parse("mailto:security@example.org").ok(),
            policy: Url::parse("https://example.org/policy").ok(),
        };
        let base_url = Url::parse("https://platen.example/below/").expect("an address");
        assert_eq!(
            write(&config, &base_url, datetime!(2026-11-22 14:06:40 UTC)),
            "Contact: mailto:security@example.org\n\
             Expires: 2027-02-20T00:00:00Z\n\
             Preferred-Languages: en\n\
             Canonical: https://platen.example/.well-known/security.txt\n\
             Policy: https://example.org/policy\n"
        );
    }
}
