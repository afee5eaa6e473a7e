//! Puts the part into the page and waits until it is loaded.

use std::time::Duration;

use chromiumoxide::{
    cdp::browser_protocol::{
        network::SetCookieParams,
        page::{FrameId, NavigateParams, SetDocumentContentParams, SetDocumentContentReturns, StopLoadingParams},
    },
    types::{Command, Method, MethodId},
};
use platen_egress::log::Outcome;
use serde::Serialize;
use url::Url;

use super::StepError;
use crate::{
    devtools::DevToolsError,
    error::RenderFault,
    job::{Cookie, Warning},
    network,
    observer::DocumentResponse,
    session::Session,
};

/// A sub-resource that has not answered after this is a warning, not a failure.
pub(crate) const RESOURCE_LIMIT: Duration = Duration::from_secs(10);
/// A page that leads on to another by script or `<meta http-equiv=refresh>` is followed so often.
pub(crate) const CLIENT_REDIRECT_LIMIT: usize = 10;

/// `Page.setDocumentContent`, as [`SetDocumentContentParams`] but for the HTML, which is not copied: it may have 50 MB.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetDocumentContent<'a> {
    frame_id: FrameId,
    html: &'a str,
}

impl Method for SetDocumentContent<'_> {
    fn identifier(&self) -> MethodId {
        SetDocumentContentParams::IDENTIFIER.into()
    }
}

impl Command for SetDocumentContent<'_> {
    type Response = SetDocumentContentReturns;
}

/// Puts HTML into the page: opaque origin, no change of process. Returns once the command is on its way; what comes back
/// waits until the page has taken it.
pub(crate) async fn put_content<'a>(
    session: &Session,
    html: &'a str,
) -> Result<impl Future<Output = Result<(), StepError>> + use<'a>, StepError> {
    let put = SetDocumentContent {
        frame_id: session.frame.clone(),
        html,
    };
    let put = session.start(&put).await?;
    Ok(async { Ok(put.await.map(drop)?) })
}

/// Sets the cookie where its domain matches the address; `false` where it does not, or where no page could set it.
pub(crate) async fn set_cookie(session: &Session, cookie: &Cookie, url: &Url) -> Result<bool, StepError> {
    if !domain_matches(&cookie.domain, url) {
        return Ok(false);
    }
    let mut set = SetCookieParams::new(cookie.name.as_str(), cookie.value.as_str());
    set.url = Some(url.to_string());
    // Below an address there is nothing; the browser takes it as a host only.
    if url.domain().is_some() {
        set.domain = Some(cookie.domain.clone());
    }
    match session.execute(&set).await {
        Ok(_) => Ok(true),
        Err(DevToolsError::Refused { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Goes to an address and returns once its document has begun to arrive.
pub(crate) async fn navigate(session: &Session, url: &Url) -> Result<(), StepError> {
    let answer = match session.execute(&NavigateParams::new(url.as_str())).await {
        Err(DevToolsError::Refused { message, .. }) => {
            return Err(RenderFault::Unreachable { reason: message }.into());
        }
        answer => answer?,
    };
    let Some(error) = answer.error_text else { return Ok(()) };
    // Of a download or a 204 the browser only says that it was aborted; the answer itself tells more.
    if let Some(document) = session.observer.look(|page| page.document.clone()) {
        check_document(session, &document)?;
        if error == "net::ERR_ABORTED" {
            return Err(RenderFault::NotHtml {
                content_type: "a download".to_owned(),
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
            .wait_until(|page| (page.lost || page.loaded).then_some(page.lost));
        match tokio::time::timeout(RESOURCE_LIMIT, loaded).await {
            Ok(true) => return Err(session.loss().into()),
            Ok(false) => {}
            Err(_) => {
                let unanswered = unanswered(session);
                match session.execute(&StopLoadingParams::default()).await {
                    // The page is on its way to another document.
                    Err(DevToolsError::Refused { .. }) => {}
                    stopped => {
                        stopped?;
                    }
                }
                return Ok(Some(unanswered));
            }
        }
        if !follows_redirects || !session.observer.look(|page| page.navigation_pending.is_some()) {
            return Ok(None);
        }
        // The page asked to go elsewhere: the next load event belongs to the next document.
        let moved = session
            .observer
            .wait_until(|page| (page.lost || page.navigation_pending.is_none()).then_some(()));
        if tokio::time::timeout(RESOURCE_LIMIT, moved).await.is_err() {
            return Ok(Some(unanswered(session)));
        }
    }
    Ok(None)
}

/// Judges the answer to the main request, once a document is there.
pub(crate) fn check_answer(session: &Session) -> Result<(), StepError> {
    if let Some(error) = session.observer.look(|page| page.document_error.clone()) {
        return Err(why_unreachable(session, error).into());
    }
    match session.observer.look(|page| page.document.clone()) {
        Some(document) => check_document(session, &document),
        None => Ok(()),
    }
}

fn check_document(session: &Session, document: &DocumentResponse) -> Result<(), StepError> {
    let DocumentResponse { status, mime_type, .. } = document;
    if let Some(reason) = document.refused.clone() {
        return Err(RenderFault::AddressRefused { reason }.into());
    }
    if let Some(reason) = document.failed.clone() {
        return Err(why_unreachable(session, reason).into());
    }
    if *status >= 400 {
        return Err(RenderFault::HttpStatus { status: *status }.into());
    }
    if *status == 204 || *status == 205 {
        let content_type = format!("status {status} and no content");
        return Err(RenderFault::NotHtml { content_type }.into());
    }
    if !matches!(mime_type.as_str(), "text/html" | "application/xhtml+xml" | "") {
        let content_type = mime_type.clone();
        return Err(RenderFault::NotHtml { content_type }.into());
    }
    Ok(())
}

/// What the guard said to the main request; else the browser's own word. Of a tunnel the browser tells nothing more.
fn why_unreachable(session: &Session, error: String) -> RenderFault {
    let url = session.observer.look(|page| page.document_url.clone());
    let log = session.proxy.take_log();
    let mut records = log.records.into_iter().rev();
    let record = url.and_then(|url| records.find(|record| network::is_for(&url, record)));
    match record.map(|record| record.outcome) {
        Some(Outcome::Refused(reason)) => RenderFault::AddressRefused { reason },
        Some(Outcome::ResolveFailed) => RenderFault::Unreachable {
            reason: "the host has no address".to_owned(),
        },
        Some(Outcome::ConnectFailed(reason)) => RenderFault::Unreachable { reason },
        Some(Outcome::TimedOut) => RenderFault::Unreachable {
            reason: "no answer in time".to_owned(),
        },
        Some(Outcome::OverLimit) => RenderFault::Unreachable {
            reason: "more bytes than a render may load".to_owned(),
        },
        Some(Outcome::Pending | Outcome::Connected) | None => RenderFault::Unreachable { reason: error },
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

/// RFC 6265, 5.1.3: the domain itself, or a name below it; of an address, only itself.
fn domain_matches(domain: &str, url: &Url) -> bool {
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    let Some(host) = url.host_str() else { return false };
    let below = url.domain().and_then(|name| name.strip_suffix(&domain));
    host == domain || below.is_some_and(|below| !domain.is_empty() && below.ends_with('.'))
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
            (".", false),
        ] {
            assert_eq!(domain_matches(domain, &url), expected, "{domain}");
        }
        let url = Url::parse("http://127.0.0.1/x").unwrap();
        assert!(domain_matches("127.0.0.1", &url));
        assert!(!domain_matches("0.0.1", &url));
    }
}
