//! Server functions, called by forms or by islands.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use leptos::server_fn::{
    ServerFn,
    axum::get_server_fn_service,
    error::{FromServerFnError, SERVER_FN_ERROR_HEADER, ServerFnUrlError},
};
use platen_app::{
    csrf,
    error::AppError,
    model::{
        own_path::{CONFIRM, OwnPath, SECOND_FACTOR_FIRST},
        rejection::{Reason, Rejection, page::PageReason},
    },
    pages::auth::api::Confirm,
};
use platen_core::{
    clock,
    service::{
        people::refused_form::{self, RefusedForm},
        sessions::{self, LoggedIn},
    },
};
use tower_sessions::Session;
use url::{Position, Url, form_urlencoded};
use uuid::Uuid;

use crate::{
    http::{self, csrf::OutdatedForm},
    web::{Web, provide, typed_values, wants_page},
};

/// Functions that visitors may call without a log-in. Every function authorizes itself; in addition, requests of others
/// are rejected before their body is read.
const FOR_EVERYBODY: [&str; 10] = [
    "join-as-new",
    "log-in",
    "log-out",
    "request-password-reset",
    "reset-password",
    "send-sign-up-again",
    "show-second-factor",
    "sign-up",
    "theme",
    "verify-sign-up",
];
/// The forms among these whose pages show why they were rejected. The others are on every page.
const OF_PUBLIC_PAGES: [&str; 8] = [
    "join-as-new",
    "log-in",
    "request-password-reset",
    "reset-password",
    "send-sign-up-again",
    "show-second-factor",
    "sign-up",
    "verify-sign-up",
];
/// Leptos' name of the query parameter with the error of a rejected form.
const ERROR: &str = "__err";
/// Errors of the application are far smaller.
const LARGEST_ERROR: usize = 64 * 1024;

/// Calls the server function at the path.
pub(super) async fn call(State(web): State<Web>, request: Request) -> Response {
    if get_server_fn_service(request.uri().path(), request.method().clone()).is_none() {
        return http::no_such_path().await;
    }
    let logged_in = request.extensions().get::<LoggedIn>().is_some();
    if !logged_in && !is_for_everybody(request.uri().path()) {
        return log_in_first(request.headers());
    }
    if !wants_page(request.headers()) {
        let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web), request).await;
        return with_own_status(answer.into_response()).await;
    }
    let (parts, body) = without_former_outcome(request).into_parts();
    // Bounded by `body_limits`, which also responds if the form is incomplete.
    let form = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let call = Call { web: &web, parts, form };
    let answer = call.answer().await;
    if call.parts.uri.path() == Confirm::PATH
        && rejection(&answer).is_none()
        && let Some(refused) = call.refused_before().await
    {
        return refused.answer().await;
    }
    answer
}

/// Shows a form of a public page again, with a fresh token and the typed values, if the visitor's session is another one
/// than when the page was loaded: a sign-up in another tab begins one. The form itself is not submitted.
pub(super) async fn show_again(State(web): State<Web>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let page = request.headers().get(header::REFERER).cloned();
    let is_shown = wants_page(request.headers()) && is_among(&OF_PUBLIC_PAGES, uri.path());
    let answer = next.run(request).await;
    let form = answer.extensions().get::<OutdatedForm>().filter(|_| is_shown).cloned();
    let (Some(OutdatedForm(form)), Some(page)) = (form, page) else {
        return answer;
    };
    let Some(location) = page.to_str().ok().and_then(|page| outdated(uri.path(), page)) else {
        return answer;
    };
    let mut again = Redirect::to(&location.to_string()).into_response();
    typed_values::remember(&mut again, &web, uri.path(), &form);
    again
}

/// Returns the path of a form's page with the error that the form is out of date. `None` if it isn't a page of this
/// service.
fn outdated(function: &str, page: &str) -> Option<OwnPath> {
    let mut page = page.to_owned();
    ServerFnUrlError::<AppError>::strip_error_info(&mut page);
    let error = AppError::Rejected(Rejection {
        reason: Reason::Outdated,
        typed: Vec::new(),
    });
    let with_error = ServerFnUrlError::new(function, error)
        .to_url(page.trim_end_matches('?'))
        .ok()?;
    OwnPath::parse(&with_error[Position::BeforePath..])
}

/// A form that calls a server function.
struct Call<'w> {
    web: &'w Web,
    parts: Parts,
    form: Bytes,
}

impl Call<'_> {
    async fn answer(&self) -> Response {
        let request = Request::from_parts(self.parts.clone(), Body::from(self.form.clone()));
        let web = self.web.clone();
        let answer = leptos_axum::handle_server_fns_with_context(move || provide(&web), request).await;
        self.complete(answer.into_response()).await
    }

    /// Completes the redirect of a rejected form. It leads to the form's page, which shows the typed values again. If the
    /// user must do something else first, it leads there: to the confirmation of their identity, after which the form is
    /// submitted again, or to the setup of a second factor.
    async fn complete(&self, mut answer: Response) -> Response {
        let Some((page, error)) = rejection(&answer) else {
            return answer;
        };
        let function = self.parts.uri.path();
        let Ok(with_error) = ServerFnUrlError::new(function, error.clone()).to_url(&page) else {
            return answer;
        };
        let location = match error {
            AppError::Rejected(Rejection {
                reason: Reason::Page(PageReason::Unconfirmed),
                ..
            }) => self.confirmation(&page, &with_error).await,
            AppError::SecondFactorFirst => SECOND_FACTOR_FIRST.to_owned(),
            _ => with_error.into(),
        };
        if let Ok(location) = HeaderValue::try_from(location) {
            answer.headers_mut().insert(header::LOCATION, location);
        }
        typed_values::remember(&mut answer, self.web, function, &self.form);
        answer
    }

    /// Stores the form and returns the address of the page on which the user confirms their identity. If the form can't
    /// be stored, that page leads back to the form's page with its error.
    async fn confirmation(&self, page: &str, with_error: &Url) -> String {
        let confirmation = |next: &str| OwnPath::after_log_in(Some(next)).after(CONFIRM);
        match (Url::parse(page), self.store_refused(page).await) {
            (Ok(page), Some(id)) => format!("{}&form={id}", confirmation(&page[Position::BeforePath..])),
            _ => confirmation(&with_error[Position::BeforePath..]).to_string(),
        }
    }

    async fn store_refused(&self, page: &str) -> Option<Uuid> {
        let (session, person) = (self.parts.extensions.get()?, self.parts.extensions.get::<LoggedIn>()?);
        let refused = RefusedForm {
            function: self.parts.uri.path().to_owned(),
            page: page.to_owned(),
            form: String::from_utf8(self.form.to_vec()).ok()?,
        };
        if refused.form.len() > refused_form::LONGEST_FORM {
            return None;
        }
        let stored = refused_form::keep(&self.web.app.people, session, person.user, &refused, clock::now()).await;
        stored
            .inspect_err(|error| tracing::error!(%error, "a refused form could not be stored"))
            .ok()
    }

    /// After a confirmation, returns the call that was refused before it, if there is one.
    async fn refused_before(&self) -> Option<Self> {
        let id = Uuid::try_parse(&value_of(&self.form, "form")?).ok()?;
        let session: &Session = self.parts.extensions.get()?;
        let now = clock::now();
        let confirmed = sessions::current(session, now).await.ok()??;
        let taken = refused_form::take(&self.web.app.people, session, confirmed.user, id, now).await;
        let RefusedForm { function, page, form } = taken
            .inspect_err(|error| tracing::error!(%error, "a refused form could not be read"))
            .ok()??;
        // The token changes if the user has chosen another account meanwhile.
        if value_of(form.as_bytes(), csrf::FIELD) != http::csrf::token(session) {
            return None;
        }
        let mut parts = self.parts.clone();
        parts.uri = function.parse().ok()?;
        parts.headers.insert(header::REFERER, page.parse().ok()?);
        parts.headers.remove(header::CONTENT_LENGTH);
        parts.extensions.insert(confirmed);
        Some(Self {
            web: self.web,
            parts,
            form: form.into(),
        })
    }
}

/// Returns the value of a field of a form.
fn value_of(form: &[u8], name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form);
    fields
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}

/// Returns the page to which a rejected form redirects, and the error, which Leptos has added to its address.
fn rejection(answer: &Response) -> Option<(String, AppError)> {
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let address = Url::parse(location).ok()?;
    let (_, error) = address.query_pairs().find(|(name, _)| name == ERROR)?;
    let mut page = location.to_owned();
    ServerFnUrlError::<AppError>::strip_error_info(&mut page);
    Some((
        page.trim_end_matches('?').to_owned(),
        ServerFnUrlError::decode_err(&error),
    ))
}

fn is_for_everybody(path: &str) -> bool {
    is_among(&FOR_EVERYBODY, path)
}

fn is_among(functions: &[&str], path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| functions.contains(&name))
}

/// Redirects forms to the log-in; requests of islands get the error.
fn log_in_first(headers: &HeaderMap) -> Response {
    if wants_page(headers) {
        return Redirect::to("/log-in").into_response();
    }
    let error = AppError::LogInFirst;
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    (status, error.ser()).into_response()
}

/// Removes the result of an earlier submission from the page's address, to which Leptos adds the new one.
fn without_former_outcome(mut request: Request) -> Request {
    let headers = request.headers_mut();
    if let Some(Ok(page)) = headers.get(header::REFERER).map(HeaderValue::to_str) {
        let mut page = page.to_owned();
        ServerFnUrlError::<AppError>::strip_error_info(&mut page);
        if let Ok(page) = HeaderValue::try_from(page) {
            headers.insert(header::REFERER, page);
        }
    }
    request
}

/// Replaces the status 500, with which Leptos responds to all errors, by the status of the error in the body.
async fn with_own_status(answer: Response) -> Response {
    if answer.status() != StatusCode::INTERNAL_SERVER_ERROR || !answer.headers().contains_key(SERVER_FN_ERROR_HEADER) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let body = to_bytes(body, LARGEST_ERROR).await.unwrap_or_default();
    let error = AppError::de(body.clone());
    parts.status = StatusCode::from_u16(error.status()).unwrap_or(parts.status);
    Response::from_parts(parts, Body::from(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outdated_form_leads_to_its_own_page_only() {
        let location = |page| outdated("/web/log-in", page).map(|path| path.to_string());
        let again = location("https://platen.example/log-in?next=%2Fdocs&__err=old&__path=x").expect("a path");
        assert!(again.starts_with("/log-in?next=%2Fdocs&"), "{again}");
        assert_eq!(again.matches("__err=").count(), 1, "{again}");
        for foreign in [
            "https://platen.example//evil.example/log-in",
            "log-in",
            "about:blank",
            "",
        ] {
            assert_eq!(location(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn forms_of_public_pages_are_for_everybody() {
        assert!(OF_PUBLIC_PAGES.iter().all(|name| FOR_EVERYBODY.contains(name)));
    }

    #[test]
    fn what_is_not_listed_is_for_people() {
        assert!(is_for_everybody("/web/log-in"));
        for path in ["/web/confirm-email", "/web/log-in-not", "/web/"] {
            assert!(!is_for_everybody(path), "{path}");
        }
    }
}
