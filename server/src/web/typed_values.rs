//! Values that were typed into a rejected form. They travel to the page that shows them again in a cookie that expires
//! soon: addresses are stored in histories and logs.

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use platen_app::{cookies, model::rejection::Field, outcome::TypedValues};
use url::form_urlencoded::{self, Serializer};

use crate::web::Web;

const COOKIE: &str = "platen-typed";
/// Member with the path of the form's function.
const FUNCTION: &str = "function";
/// Time for which the page can be reloaded, in seconds.
const LIFETIME: u32 = 600;
/// Maximum size of the cookie's value, in bytes. Browsers allow 4,096 for name, value and attributes (RFC 6265, 6.1).
const LONGEST: usize = 3500;

/// Adds the values of a rejected form that its page shows again to the redirect to this page. Values that don't fit have to
/// be typed again.
pub(super) fn remember(redirect: &mut Response, web: &Web, function: &str, form: &[u8]) {
    let secure = web.app.base_url.scheme() == "https";
    if let Some(cookie) = cookie_of(function, form, secure) {
        redirect.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

fn cookie_of(function: &str, form: &[u8], secure: bool) -> Option<HeaderValue> {
    let mut value = Serializer::new(String::new()).append_pair(FUNCTION, function).finish();
    for (field, typed) in shown_again(form) {
        let pair = Serializer::new(String::new())
            .append_pair(field.into_str(), &typed)
            .finish();
        if value.len() + pair.len() < LONGEST {
            value = format!("{value}&{pair}");
        }
    }
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={LIFETIME}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).ok()
}

/// Returns the values in the cookie of a request.
pub(super) fn of_request(headers: &HeaderMap) -> Option<TypedValues> {
    let value = cookies::find(headers, COOKIE)?.as_bytes();
    let (_, function) = form_urlencoded::parse(value).find(|(name, _)| name == FUNCTION)?;
    Some(TypedValues {
        function: function.into_owned(),
        values: shown_again(value),
    })
}

/// Returns the values of a form that its page shows again.
fn shown_again(form: &[u8]) -> Vec<(Field, String)> {
    let mut typed: Vec<(Field, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(form) {
        // Lists are submitted as `scopes[0]`, `scopes[1]`.
        let name = name.split_once('[').map_or(&*name, |(name, _)| name);
        let Some(field) = name.parse().ok().filter(|field: &Field| field.is_shown_again()) else {
            continue;
        };
        match typed.iter_mut().find(|(known, _)| *known == field) {
            Some((_, values)) => *values = format!("{values} {value}"),
            None => typed.push((field, value.into_owned())),
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(form: &[u8]) -> TypedValues {
        let cookie = cookie_of("/web/create-key", form, true).expect("a cookie");
        let headers = HeaderMap::from_iter([(header::COOKIE, cookie)]);
        of_request(&headers).expect("values")
    }

    #[test]
    fn a_page_shows_typed_values_but_no_secrets() {
        let form =
            b"csrf=a&email=ada%40example.org&password=secret&scopes%5B0%5D=render&scopes[3]=usage%3Aread&content=b";
        let typed = TypedValues {
            function: "/web/create-key".to_owned(),
            values: vec![
                (Field::Email, "ada@example.org".to_owned()),
                (Field::Scopes, "render usage:read".to_owned()),
            ],
        };
        assert_eq!(returned(form), typed);
    }

    #[test]
    fn values_beyond_the_size_of_a_cookie_are_left_out() {
        let form = format!("networks={}&key_name=%C3%84%3B", "%0A".repeat(2000));
        assert_eq!(returned(form.as_bytes()).values, [(Field::KeyName, "Ä;".to_owned())]);
    }
}
