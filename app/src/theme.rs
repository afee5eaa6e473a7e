//! Light or dark. The choice is a cookie, so that the server writes it into the page's first byte and a page without
//! script can change it; without a choice the browser's own setting counts.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::AppError;

/// The cookie that holds a [`Theme`].
pub const COOKIE: &str = "theme";

/// What the visitor has chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the browser says.
    #[default]
    Automatic,
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

impl Theme {
    /// The word for it, in the cookie and on the button.
    pub fn word(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The one with this word, else [`Theme::Automatic`].
    pub fn from_word(word: &str) -> Self {
        [Self::Light, Self::Dark]
            .into_iter()
            .find(|theme| theme.word() == word)
            .unwrap_or_default()
    }

    /// What the button chooses next.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Automatic => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::Automatic,
        }
    }

    /// `data-theme` of the document.
    pub fn attribute(self) -> Option<&'static str> {
        (self != Self::Automatic).then(|| self.word())
    }
}

/// The theme that the request's cookie asks for.
pub(crate) fn of_document() -> Theme {
    let request = use_context::<http::request::Parts>();
    request.map_or(Theme::Automatic, |request| of_request(&request.headers))
}

/// The theme that a request's cookie asks for.
pub fn of_request(headers: &http::HeaderMap) -> Theme {
    let cookies = headers.get_all(http::header::COOKIE).into_iter();
    cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map_or(Theme::Automatic, |(_, word)| Theme::from_word(word))
}

/// Keeps the choice for a year. For everybody: it changes nothing but the visitor's own cookie.
#[server(prefix = "/web", endpoint = "theme")]
pub async fn set_theme(
    /// What is chosen.
    theme: Theme,
) -> Result<(), AppError> {
    let cookie = format!("{COOKIE}={}; Path=/; Max-Age=31536000; SameSite=Lax", theme.word());
    expect_context::<leptos_axum::ResponseOptions>().append_header(
        http::header::SET_COOKIE,
        http::HeaderValue::try_from(cookie).expect("words of ours"),
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
