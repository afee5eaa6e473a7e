//! Light and dark theme. The choice is stored in a cookie, so that the server renders it into the page from the first
//! byte, and a page without JavaScript can change it. Without a choice the browser's preference applies.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;

/// Name of the cookie that contains a [`Theme`].
pub const COOKIE: &str = "theme";

/// The visitor's choice of a theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Follows the browser's preference.
    #[default]
    Automatic,
    Light,
    Dark,
}

impl Theme {
    /// Returns the value of the cookie, which is also the label of the button.
    pub fn word(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Parses [`Self::word`]. Unknown values mean [`Theme::Automatic`].
    pub fn from_word(word: &str) -> Self {
        [Self::Light, Self::Dark]
            .into_iter()
            .find(|theme| theme.word() == word)
            .unwrap_or_default()
    }

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
        (self != Self::Automatic).then(|| self.word())
    }
}

/// Returns the theme in the cookie of the current request.
pub(crate) fn of_document() -> Theme {
    let request = use_context::<http::request::Parts>();
    request.map_or(Theme::Automatic, |request| of_request(&request.headers))
}

/// Returns the theme in the cookie of a request.
pub fn of_request(headers: &http::HeaderMap) -> Theme {
    let cookies = headers.get_all(http::header::COOKIE).into_iter();
    cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map_or(Theme::Automatic, |(_, word)| Theme::from_word(word))
}

/// Stores the choice in a cookie for a year. Anyone may call it: it changes only the visitor's own cookie.
#[server(prefix = "/web", endpoint = "theme")]
pub async fn set_theme(theme: Theme) -> Result<(), AppError> {
    let cookie = format!("{COOKIE}={}; Path=/; Max-Age=31536000; SameSite=Lax", theme.word());
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
            assert_eq!(Theme::from_word(theme.word()), theme);
        }
    }

    #[test]
    fn words_of_others_mean_no_choice() {
        for word in ["", "Dark", "dark\"", "<script>"] {
            assert_eq!(Theme::from_word(word), Theme::Automatic, "{word}");
        }
    }
}
