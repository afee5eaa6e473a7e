//! Name, email address and password of the user.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::{
    layout::page::{Section, SectionKind},
    model::{person::Person, rejection::Field},
    outcome::{FormField, NarrowForm, NewPasswordField, Outcome},
    pages::settings::api::{ChangePassword, Rename, RequestEmailChange},
    ui::moment::day_and_year,
};

/// Forms for the name and the email address.
#[component]
pub fn ProfileSection(
    /// The logged-in user.
    person: Person,
) -> impl IntoView {
    let rename = Outcome::of::<Rename>();
    let email = Outcome::of::<RequestEmailChange>();
    view! {
        <Section heading="Profile" kind=SectionKind::Hanging body="section__body stack stack--loose">
            <NarrowForm outcome=rename action="Save name">
                <FormField
                    outcome=rename
                    field=Field::Name
                    label="Name"
                    value=person.name
                    autocomplete="name"
                />
            </NarrowForm>
            <NarrowForm outcome=email action="Send link">
                <FormField
                    outcome=email
                    field=Field::NewEmail
                    label="Email"
                    kind="email"
                    hint="A change takes effect when you open the link that we send to the new address."
                    value=person.email
                    autocomplete="email"
                />
            </NarrowForm>
        </Section>
    }
}

/// Form that changes the password.
#[component]
pub fn PasswordSection(
    /// `None` if the password has never been changed.
    changed_at: Option<OffsetDateTime>,
) -> impl IntoView {
    let outcome = Outcome::of::<ChangePassword>();
    let changed = changed_at.map(|at| format!("Changed {}. ", day_and_year(at.date())));
    let changed = changed.unwrap_or_default();
    view! {
        <Section
            heading="Password"
            note=format!("{changed}A change logs out all other sessions.")
            kind=SectionKind::Hanging
        >
            <NarrowForm outcome action="Change password">
                <NewPasswordField outcome=outcome label="New password" />
            </NarrowForm>
        </Section>
    }
}
