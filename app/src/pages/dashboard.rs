//! `/dashboard`: who is logged in.

pub mod api;

use leptos::{either::Either, prelude::*};
use leptos_meta::Title;

use crate::{
    csrf::CsrfField,
    layout::card::Card,
    outcome::Outcome,
    pages::dashboard::api::{LogOut, find_person},
    ui::{
        button::{Rank, Submit},
        form_errors::FormErrors,
        notice::ErrorNotice,
    },
};

/// The page.
#[component]
pub fn Dashboard() -> impl IntoView {
    let person = Resource::new(|| (), |()| find_person());
    let log_out = ServerAction::<LogOut>::new();
    let outcome = Outcome::of(log_out);
    view! {
        <Title text="Dashboard" />
        <Card>
            <h1 class="auth__title">"Dashboard"</h1>
            <Transition>
                {move || Suspend::new(async move {
                    match person.await {
                        Ok(person) => {
                            Either::Left(
                                view! {
                                    <p class="auth__lede">
                                        "You are logged in as " {person.name} ", " {person.email} "."
                                    </p>
                                },
                            )
                        }
                        Err(error) => Either::Right(view! { <ErrorNotice error /> }),
                    }
                })}
            </Transition>
            <ActionForm action=log_out>
                <CsrfField />
                <div class="auth__form">
                    <FormErrors complaint=outcome.complaint() />
                    <Submit rank=Rank::Plain pending=outcome.pending>
                        "Log out"
                    </Submit>
                </div>
            </ActionForm>
        </Card>
    }
}
