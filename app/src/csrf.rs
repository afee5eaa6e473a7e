//! The token by which the server knows forms of its own pages. It belongs to a session, so that only those who have logged in
//! have one; it changes with every log-in, which therefore loads the next page anew.

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

/// The field of a form that holds the token.
pub const FIELD: &str = "csrf";
/// The header that holds it, of requests that the app makes.
pub const HEADER: &str = "x-csrf-token";
/// The `meta` element of the document that holds it.
pub(crate) const META: &str = "csrf-token";

/// The token of the visitor's session; `None`: nobody is logged in.
#[cfg(feature = "ssr")]
pub fn token() -> Option<String> {
    use_context::<std::sync::Arc<dyn crate::backend::Backend>>()?.csrf_token()
}

/// The token of the session for which the server has written the page; `None`: nobody is logged in.
#[cfg(not(feature = "ssr"))]
pub fn token() -> Option<String> {
    let element = document().query_selector(&format!("meta[name={META}]")).ok()??;
    element.get_attribute("content")
}

/// What every form that changes something begins with.
#[component]
pub fn CsrfField() -> impl IntoView {
    token().map(|token| view! { <input type="hidden" name=FIELD value=token /> })
}

/// Calls server functions from the browser, with the token.
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
