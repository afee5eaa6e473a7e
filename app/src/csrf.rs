//! The token by which the server recognizes forms of its own pages. It belongs to a session. It changes with every log-in,
//! which therefore reloads the page.

use std::future::Future;

use futures::{Sink, Stream};
use leptos::{
    prelude::*,
    server_fn::{
        Bytes,
        client::{Client, browser::BrowserClient},
        error::FromServerFnError,
        request::browser::BrowserRequest,
        response::browser::BrowserResponse,
    },
};

/// Name of the form field.
pub const FIELD: &str = "csrf";
/// Name of the request header.
pub const HEADER: &str = "x-csrf-token";
/// Name of the document's `meta` element.
pub(crate) const META: &str = "csrf-token";

/// Returns the token of the visitor's session, or `None` without a session.
#[cfg(feature = "ssr")]
pub fn token() -> Option<String> {
    use_context::<std::sync::Arc<dyn crate::backend::Backend>>()?.csrf_token()
}

/// Returns the token of the session for which the server rendered the page, or `None` without a session.
#[cfg(not(feature = "ssr"))]
pub fn token() -> Option<String> {
    let element = document().query_selector(&format!("meta[name={META}]")).ok()??;
    element.get_attribute("content")
}

/// The hidden token field of every form that changes something.
#[component]
pub fn CsrfField() -> impl IntoView {
    token().map(|token| view! { <input type="hidden" name=FIELD value=token /> })
}

/// Calls server functions from the browser, with the token in a header.
pub struct PageClient;

impl<E, I, O> Client<E, I, O> for PageClient
where
    E: FromServerFnError,
    I: FromServerFnError,
    O: FromServerFnError,
{
    type Request = BrowserRequest;
    type Response = BrowserResponse;

    fn send(request: BrowserRequest) -> impl Future<Output = Result<BrowserResponse, E>> + Send {
        if let Some(token) = token() {
            request.headers().set(HEADER, &token);
        }
        <BrowserClient as Client<E, I, O>>::send(request)
    }

    fn open_websocket(
        path: &str,
    ) -> impl Future<
        Output = Result<
            (
                impl Stream<Item = Result<Bytes, Bytes>> + Send + 'static,
                impl Sink<Bytes> + Send + 'static,
            ),
            E,
        >,
    > + Send {
        <BrowserClient as Client<E, I, O>>::open_websocket(path)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        <BrowserClient as Client<E, I, O>>::spawn(future);
    }
}
