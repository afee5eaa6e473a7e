//! The dashboard: what its pages look like, what they ask of the server, and what travels between the two.
//!
//! It is compiled twice. With the feature `ssr` it becomes part of the server, which writes every page as complete HTML;
//! with `hydrate` it runs in the browser and takes that page over. What only the server has stands behind
//! [`backend::Backend`].

// The type of a page is all that is on it.
#![recursion_limit = "256"]
#![expect(clippy::needless_pass_by_value, reason = "components are handed their properties")]
#![expect(clippy::unused_async, reason = "server functions are async, whatever they do")]

#[cfg(feature = "ssr")]
pub mod backend;
pub mod csrf;
#[cfg(feature = "ssr")]
pub mod document;
pub mod error;
pub mod layout;
pub mod model;
pub mod outcome;
pub mod pages;
pub mod theme;
pub mod ui;

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::pages::{
    check_mail::CheckMail, confirm_email::ConfirmEmail, dashboard::Dashboard, forgot_password::ForgotPassword,
    landing::Landing, log_in::LogIn, not_found::NotFound, reset_password::ResetPassword, sign_up::SignUp,
    verify::Verify,
};

/// Every page under its address. All are [`SsrMode::Async`]: complete in the first answer, so that they say the same
/// without JavaScript, and with the right status.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    theme::provide_theme();
    view! {
        <Title formatter=|title: String| format!("{title} · Platen") />
        <Router>
            <Routes fallback=NotFound>
                <Route path=path!("/") view=Landing ssr=SsrMode::Async />
                <Route path=path!("/sign-up") view=SignUp ssr=SsrMode::Async />
                <Route path=path!("/sign-up/verify") view=Verify ssr=SsrMode::Async />
                <Route path=path!("/check-mail") view=CheckMail ssr=SsrMode::Async />
                <Route path=path!("/log-in") view=LogIn ssr=SsrMode::Async />
                <Route path=path!("/forgot-password") view=ForgotPassword ssr=SsrMode::Async />
                <Route path=path!("/reset-password") view=ResetPassword ssr=SsrMode::Async />
                <Route path=path!("/settings/confirm-email") view=ConfirmEmail ssr=SsrMode::Async />
                <Route path=path!("/dashboard") view=Dashboard ssr=SsrMode::Async />
            </Routes>
        </Router>
    }
}
