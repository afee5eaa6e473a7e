//! Puts the part into the page and waits until it is loaded.

use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::{
    network::SetCookieParams,
    page::{NavigateParams, SetDocumentContentParams, StopLoadingParams},
};
use platen_egress::log::Outcome;
use url::Url;

use super::StepError;
use crate::{
    job::{Cookie, RenderFault, Warning},
    session::Session,
};

/// A sub-resource that has not answered after this is a warning, not a failure.
pub(crate) const RESOURCE_LIMIT: Duration = Duration::from_secs(10);
/// A page that leads on to another by script or `<meta http-equiv=refresh>` is followed so often.
const CLIENT_REDIRECT_LIMIT: usize = 10;

/// Puts HTML into the page: opaque origin, no change of process.
pub(crate) async fn put_content(session: &Session, html: String) -> Result<(), StepError> {
    session
        .execute(&SetDocumentContentParams::new(session.frame.clone(), html))
        .await?;
    Ok(())
}

/// Sets the cookie where its domain matches the address; `false` where it does not.
pub(crate) async fn set_cookie(session: &Session, cookie: &Cookie, url: &Url) -> Result<bool, StepError> {
    if !domain_matches(&cookie.domain, url) {
        return Ok(false);
    }
    let mut set = SetCookieParams::new(cookie.name.as_str(), cookie.value.as_str());
    set.url = Some(url.to_string());
    set.domain = Some(cookie.domain.clone());
    session.execute(&set).await?;
    Ok(true)
}

/// Goes to an address and returns once its document has begun to arrive.
pub(crate) async fn navigate(session: &Session, url: &Url) -> Result<(), StepError> {
    let answer = session.execute(&NavigateParams::new(url.as_str())).await?;
    let Some(error) = answer.error_text else { return Ok(()) };
    // Of a download or a 204 the browser only says that it was aborted; the answer itself tells more.
    if let Some(document) = session.observer.look(|page| page.document.clone()) {
        check_document(&document.mime_type, document.status)?;
        if error == "net::ERR_ABORTED" {
            return Err(RenderFault::NotHtml {
                content_type: document.mime_type,
            }
            .into());
        }
    }
    Err(why_unreachable(session, error).into())
}

/// Waits for the load event, and for the documents that the page leads on to. Gives up waiting, with a warning, for
/// sub-resources that do not answer.
pub(crate) async fn wait_until_loaded(
    session: &Session,
    follows_redirects: bool,
) -> Result<Option<Warning>, StepError> {
    for _ in 0..CLIENT_REDIRECT_LIMIT {
        let loaded = session
            .observer
            .wait_until(|page| (page.crashed || page.loaded).then_some(page.crashed));
        match tokio::time::timeout(RESOURCE_LIMIT, loaded).await {
            Ok(true) => return Err(RenderFault::Crashed.into()),
            Ok(false) => {}
            Err(_) => {
                session.execute(&StopLoadingParams::default()).await?;
                return Ok(Some(unanswered(session)));
            }
        }
        if !follows_redirects || !session.observer.look(|page| page.navigation_pending.is_some()) {
            return Ok(None);
        }
        // The page asked to go elsewhere: the next load event belongs to the next document.
        let moved = session
            .observer
            .wait_until(|page| (page.crashed || page.navigation_pending.is_none()).then_some(()));
        if tokio::time::timeout(RESOURCE_LIMIT, moved).await.is_err() {
            return Ok(Some(unanswered(session)));
        }
    }
    Ok(None)
}

/// Judges the answer to the main request, once a document is there.
pub(crate) fn check_answer(session: &Session) -> Result<(), StepError> {
    let Some(document) = session.observer.look(|page| page.document.clone()) else {
        return Ok(());
    };
    // The guard's own refusal looks like an answer of the server.
    if document.status >= 400
        && let Some(fault) = refusal(session)
    {
        return Err(fault.into());
    }
    check_document(&document.mime_type, document.status)
}

fn check_document(mime_type: &str, status: u16) -> Result<(), StepError> {
    if status >= 400 {
        return Err(RenderFault::HttpStatus { status }.into());
    }
    if !matches!(mime_type, "text/html" | "application/xhtml+xml" | "") || status == 204 || status == 205 {
        let content_type = if mime_type.is_empty() {
            format!("status {status} and no content")
        } else {
            mime_type.to_owned()
        };
        return Err(RenderFault::NotHtml { content_type }.into());
    }
    Ok(())
}

fn why_unreachable(session: &Session, error: String) -> RenderFault {
    refusal(session).unwrap_or(RenderFault::Unreachable { reason: error })
}

/// What the guard said to the last request, if it did not let it through.
fn refusal(session: &Session) -> Option<RenderFault> {
    let log = session.proxy.take_log();
    match &log.records.last()?.outcome {
        Outcome::Refused(reason) => Some(RenderFault::AddressRefused { reason: reason.clone() }),
        Outcome::ResolveFailed => Some(RenderFault::Unreachable {
            reason: "the host has no address".to_owned(),
        }),
        Outcome::ConnectFailed(reason) => Some(RenderFault::Unreachable { reason: reason.clone() }),
        Outcome::TimedOut => Some(RenderFault::Unreachable {
            reason: "no answer in time".to_owned(),
        }),
        Outcome::OverLimit => Some(RenderFault::Unreachable {
            reason: "more bytes than a render may load".to_owned(),
        }),
        Outcome::Pending | Outcome::Connected => None,
    }
}

fn unanswered(session: &Session) -> Warning {
    let pending: Vec<String> = session
        .observer
        .look(|page| page.pending().take(5).map(ToOwned::to_owned).collect());
    let what = if pending.is_empty() {
        "the page".to_owned()
    } else {
        pending.join(", ")
    };
    Warning {
        code: "resource_timeout",
        message: format!("not loaded after {} s and left out: {what}", RESOURCE_LIMIT.as_secs()),
    }
}

fn domain_matches(domain: &str, url: &Url) -> bool {
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    let Some(host) = url.host_str() else { return false };
    host == domain || (host.ends_with(&domain) && host.as_bytes()[host.len() - domain.len() - 1] == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_reaches_its_domain_and_what_lies_below() {
        let url = Url::parse("https://app.example.com/x").unwrap();
        for (domain, expected) in [
            ("example.com", true),
            (".example.com", true),
            ("APP.example.com", true),
            ("ample.com", false),
            ("x.app.example.com", false),
        ] {
            assert_eq!(domain_matches(domain, &url), expected, "{domain}");
        }
    }
}
