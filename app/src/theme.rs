//! Light and dark theme. The choice is stored in a cookie, so that the server renders it into the page from the first
//! byte, and a page without JavaScript can change it. Without a choice the browser's preference applies.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::{cookies, error::AppError};

/// Name of the cookie that contains a [`Theme`].
pub const COOKIE: &str = "theme";

/// The visitor's choice of a theme. The names are used in the cookie and on the button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Follows the browser's preference.
    #[default]
    Automatic,
    Light,
    Dark,
}

impl Theme {
    /// Returns the theme to which the button switches.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Automatic => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::Automatic,
        }
    }

    /// Returns the value of the document's `data-theme`.
    pub fn attribute(self) -> Option<&'static str> {
        (self != Self::Automatic).then(|| self.into_str())
    }
}

/// Returns the theme in the cookie of the current request.
pub(crate) fn of_document() -> Theme {
    let request = use_context::<http::request::Parts>();
    request.map_or(Theme::Automatic, |request| of_request(&request.headers))
}

/// Returns the theme in the cookie of a request.
pub fn of_request(headers: &http::HeaderMap) -> Theme {
    let word = cookies::find(headers, COOKIE);
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Stores the choice in a cookie for a year. Anyone may call it: it changes only the visitor's own cookie.
#[server(prefix = "/web", endpoint = "theme")]
pub async fn set_theme(theme: Theme) -> Result<(), AppError> {
    let cookie = format!("{COOKIE}={}; Path=/; Max-Age=31536000; SameSite=Lax", theme.into_str());
    expect_context::<leptos_axum::ResponseOptions>().append_header(
        http::header::SET_COOKIE,
        http::HeaderValue::try_from(cookie).expect("the cookie is a valid header value"),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_button_passes_every_theme() {
        let mut theme = Theme::Automatic;
        for expected in [Theme::Light, Theme::Dark, Theme::Automatic] {
            theme = theme.next();
            assert_eq!(theme, expected);
            assert_eq!(theme.into_str().parse(), Ok(theme));
        }
    }

    #[test]
    fn words_of_others_mean_no_choice() {
        for word in ["", "Dark", "dark\"", "<script>"] {
            assert!(word.parse::<Theme>().is_err(), "{word}");
        }
    }
}
