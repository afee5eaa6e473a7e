//! `/settings/confirm-email`: target of the link in mails that confirm a new address.

use leptos::prelude::*;

use crate::{
    layout::card::CardPage,
    outcome::{Outcome, PageForm, TokenField},
    pages::auth::api::ConfirmEmail as ConfirmEmailFunction,
    ui::button::Submit,
};

/// The page. It has a button, because mail scanners follow links too.
#[component]
pub fn ConfirmEmail() -> impl IntoView {
    let outcome = Outcome::of::<ConfirmEmailFunction>();
    view! {
        <CardPage title="Confirm your new address" lede="After you confirm it, use it to log in.">
            <PageForm outcome>
                <TokenField />
                <div class="auth__form">
                    <Submit>"Confirm address"</Submit>
                </div>
            </PageForm>
        </CardPage>
    }
}
