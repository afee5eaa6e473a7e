//! Untrusted Markdown, converted to harmless HTML.

use std::{borrow::Cow, sync::LazyLock};

use minijinja::{Error, State, Value};
use pulldown_cmark::{Options, Parser, html};

use super::arguments::is_empty;

/// Removes scripts, styles, frames and forms; pictures may come from the web or be embedded.
static SANITISER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::default();
    builder
        .add_url_schemes(["data"])
        .attribute_filter(|element, attribute, value| {
            // `data:` only for pictures: a link to `data:text/html` would open a page of its own.
            let is_data = value
                .trim_start()
                .get(..5)
                .is_some_and(|start| start.eq_ignore_ascii_case("data:"));
            let is_picture = element == "img" && attribute == "src" && value.starts_with("data:image/");
            (!is_data || is_picture).then_some(Cow::Borrowed(value))
        });
    builder
});

pub(super) fn markdown(state: &State, text: &Value) -> Result<Value, Error> {
    if is_empty(state, text)? {
        return Ok(Value::from(""));
    }
    let text = text.to_str().unwrap_or_else(|| text.to_string().into());
    let mut unsafe_html = String::new();
    html::push_html(
        &mut unsafe_html,
        Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH),
    );
    Ok(Value::from_safe_string(SANITISER.clean(&unsafe_html).to_string()))
}
