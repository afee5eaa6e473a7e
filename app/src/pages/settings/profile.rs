//! Who the person is, and how they log in.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::{
    model::{person::Person, rejection::Field},
    outcome::{
        Outcome,
        field::{FormField, NewPasswordField},
        form::PageForm,
    },
    pages::settings::api::{ChangePassword, Rename, RequestEmailChange},
    ui::{button::SubmitButton, moment::day_and_year},
};

/// Name and address.
#[component]
pub fn ProfileSection(
    /// Who is logged in.
    person: Person,
) -> impl IntoView {
    let rename = Outcome::of::<Rename>();
    let email = Outcome::of::<RequestEmailChange>();
    view! {
        <section class="section section--hanging">
            <div class="section__head">
                <h2>"Profile"</h2>
            </div>
            <div class="section__body stack stack--loose">
                <PageForm outcome=rename class="fields fields--narrow">
                    <FormField
                        outcome=rename
                        field=Field::Name
                        label="Name"
                        value=person.name
                        autocomplete="name"
                    />
                    <div>
                        <SubmitButton>"Save name"</SubmitButton>
                    </div>
                </PageForm>
                <PageForm outcome=email class="fields fields--narrow">
                    <FormField
                        outcome=email
                        field=Field::NewEmail
                        label="Email"
                        kind="email"
                        hint="A change takes effect when you open the link that we send to the new address."
                        value=person.email
                        autocomplete="email"
                    />
                    <div>
                        <SubmitButton>"Send the link"</SubmitButton>
                    </div>
                </PageForm>
            </div>
        </section>
    }
}

/// The password.
#[component]
pub fn PasswordSection(
    /// `None`: it is still the first one.
    changed_at: Option<OffsetDateTime>,
) -> impl IntoView {
    let outcome = Outcome::of::<ChangePassword>();
    let changed = changed_at.map(|at| format!("Changed {}. ", day_and_year(at.date())));
    view! {
        <section class="section section--hanging">
            <div class="section__head">
                <h2>"Password"</h2>
                <span class="section__note">{changed} "A change logs out all other sessions."</span>
            </div>
            <div class="section__body">
                <PageForm outcome class="fields fields--narrow">
                    <NewPasswordField outcome=outcome label="New password" />
                    <div>
                        <SubmitButton>"Change password"</SubmitButton>
                    </div>
                </PageForm>
            </div>
        </section>
    }
}
