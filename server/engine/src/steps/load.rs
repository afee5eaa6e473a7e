//! Loads a part into the page and waits until it is complete.

use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::{
    network::SetCookieParams,
    page::{FrameId, NavigateParams, SetDocumentContentParams, SetDocumentContentReturns, StopLoadingParams},
};
use chromiumoxide_types::{Command, Method, MethodId};
use platen_egress::log::Outcome;
use serde::Serialize;
use url::Url;

use super::StepError;
use crate::{
    devtools::DevToolsError,
    error::RenderProblem,
    job::{Cookie, Warning},
    network,
    observer::DocumentResponse,
    session::Session,
};

/// Time limit for sub-resources; exceeding it causes a warning, not an error.
pub(crate) const RESOURCE_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of redirects by script or `<meta http-equiv=refresh>` that are followed.
pub(crate) const CLIENT_REDIRECT_LIMIT: usize = 10;

/// `Page.setDocumentContent` like [`SetDocumentContentParams`], but borrowing the HTML, which may have 50 MB.
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

/// Loads HTML into the page, with an opaque origin and without a change of process. Returns once the command is sent;
/// the returned future resolves once the page has accepted it.
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

/// Sets the cookie for `url`. Returns `false` if its domain doesn't match, or the browser refuses the cookie.
pub(crate) async fn set_cookie(session: &Session, cookie: &Cookie, url: &Url) -> Result<bool, StepError> {
    if !domain_matches(&cookie.domain, url) {
        return Ok(false);
    }
    let mut set = SetCookieParams::new(cookie.name.as_str(), cookie.value.as_str());
    set.url = Some(url.to_string());
    // IP addresses have no subdomains, and the browser accepts them only as a host.
    if url.domain().is_some() {
        set.domain = Some(cookie.domain.clone());
    }
    match session.execute(&set).await {
        Ok(_) => Ok(true),
        Err(DevToolsError::Refused { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Navigates to `url` and returns once the document has begun to arrive.
pub(crate) async fn navigate(session: &Session, url: &Url) -> Result<(), StepError> {
    let answer = match session.execute(&NavigateParams::new(url.as_str())).await {
        Err(DevToolsError::Refused { message, .. }) => {
            return Err(RenderProblem::Unreachable { reason: message }.into());
        }
        answer => answer?,
    };
    let Some(error) = answer.error_text else { return Ok(()) };
    // For a download or a 204, the browser only reports an abort; the response contains the reason.
    if let Some(document) = session.observer.look(|page| page.document.clone()) {
        check_document(session, &document)?;
        if error == "net::ERR_ABORTED" {
            return Err(RenderProblem::NotHtml {
                content_type: "a download".to_owned(),
            }
            .into());
        }
    }
    Err(why_unreachable(session, error).into())
}

/// Waits for the load event and, if `follows_redirects`, for documents that the page redirects to. Returns a warning if
/// it stops waiting for resources after [`RESOURCE_LIMIT`].
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
                    // The page is navigating to another document.
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
        // The page requested a navigation, so the next load event belongs to the next document.
        let moved = session
            .observer
            .wait_until(|page| (page.lost || page.navigation_pending.is_none()).then_some(()));
        if tokio::time::timeout(RESOURCE_LIMIT, moved).await.is_err() {
            return Ok(Some(unanswered(session)));
        }
    }
    Ok(None)
}

/// Checks the response to the main request. Passes if no document was requested.
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
        return Err(RenderProblem::AddressRefused { reason }.into());
    }
    if let Some(reason) = document.failed.clone() {
        return Err(why_unreachable(session, reason).into());
    }
    if *status >= 400 {
        return Err(RenderProblem::HttpStatus { status: *status }.into());
    }
    if *status == 204 || *status == 205 {
        let content_type = format!("status {status} and no content");
        return Err(RenderProblem::NotHtml { content_type }.into());
    }
    if !matches!(mime_type.as_str(), "text/html" | "application/xhtml+xml" | "") {
        let content_type = mime_type.clone();
        return Err(RenderProblem::NotHtml { content_type }.into());
    }
    Ok(())
}

/// Returns why the main request failed according to the guard, or else `error`, the browser's reason. The guard knows
/// more about tunnels.
fn why_unreachable(session: &Session, error: String) -> RenderProblem {
    let url = session.observer.look(|page| page.document_url.clone());
    let log = session.proxy.take_log();
    let mut records = log.records.into_iter().rev();
    let record = url.and_then(|url| records.find(|record| network::is_for(&url, record)));
    let outcome = record.map(|record| record.outcome);
    if let Some(Outcome::Refused(reason)) = outcome {
        return RenderProblem::AddressRefused { reason };
    }
    let reason = outcome.as_ref().and_then(network::why_unreachable);
    RenderProblem::Unreachable {
        reason: reason.map_or(error, ToOwned::to_owned),
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

/// Matches domains as in RFC 6265, 5.1.3: the domain itself or a subdomain; an IP address only itself.
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
