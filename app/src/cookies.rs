//! Cookies of requests.

use http::{HeaderMap, header};

/// Returns the value of a cookie, as the browser sent it.
pub fn find<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).into_iter();
    cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}
