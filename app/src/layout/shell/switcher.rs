//! The account switcher.

pub mod api;

use leptos::{either::Either, prelude::*};

use crate::{
    layout::shell::switcher::api::SwitchAccount,
    model::{rejection::Field, team::OwnAccount},
    outcome::{ButtonForm, Outcome},
    ui::icon::{Glyph, Icon},
};

/// The account's name. For users with several accounts, a button that opens their list.
#[component]
pub fn Switcher(
    /// Name of the current account.
    account: String,
    /// All accounts of the user.
    accounts: Vec<OwnAccount>,
) -> impl IntoView {
    if accounts.len() < 2 {
        return Either::Left(view! { <p class="rail__account">{account}</p> });
    }
    Either::Right(view! {
        <button class="rail__account" type="button" popovertarget="accounts">
            {account}
            <Icon glyph=Glyph::ChevronDown />
        </button>
        <div class="menu" id="accounts" popover>
            <p class="menu__who">"Your accounts"</p>
            <Accounts accounts />
        </div>
    })
}

/// One button for each account.
#[component]
pub fn Accounts(
    /// All accounts of the user.
    accounts: Vec<OwnAccount>,
) -> impl IntoView {
    let outcome = Outcome::of::<SwitchAccount>();
    let items = accounts.into_iter().map(|account| {
        let glyph = if account.current { Glyph::Tick } else { Glyph::Account };
        view! {
            <ButtonForm outcome>
                <input type="hidden" name=Field::Subject.into_str() value=account.id.to_string() />
                <button class="menu__item" aria-current=account.current.then_some("true")>
                    <Icon glyph />
                    {account.name}
                </button>
            </ButtonForm>
        }
    });
    items.collect_view()
}
