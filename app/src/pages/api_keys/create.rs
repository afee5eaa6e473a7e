//! The form that creates a key.

use leptos::prelude::*;
use platen_domain::{api_key::Scope, ids::TemplateId};
use strum::VariantNames;
use time::OffsetDateTime;

use crate::{
    model::rejection::Field,
    outcome::{DialogForm, FormField, Outcome},
    pages::api_keys::api::{CreateKey, LIVE, NEVER, ON_A_DAY, TEST},
    ui::{check::Check, field::FieldProblem, segmented::Segmented, select::Select, text_area::TextArea},
};

const EXPIRIES: [(&str, &str); 5] = [
    (NEVER, "Never"),
    ("30", "In 30 days"),
    ("90", "In 90 days"),
    ("365", "In a year"),
    (ON_A_DAY, "On a day…"),
];
/// Preselected values.
const FIRST_EXPIRY: &str = "365";
const FIRST_SCOPES: &str = "render templates:read";

/// The dialog that creates a key.
#[component]
pub fn CreateDialog(
    /// Templates of the account.
    templates: Vec<(TemplateId, String)>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let outcome = Outcome::of::<CreateKey>();
    let scopes = Scope::VARIANTS.iter();
    let scopes = scopes.map(|scope| ((*scope).to_owned(), (*scope).to_owned(), hint(scope)));
    let scopes = checks(Field::Scopes, scopes, &outcome.typed_or(Field::Scopes, FIRST_SCOPES));
    let today = now.date().to_string();
    view! {
        <DialogForm outcome=outcome id="create" title="New key" action="Create key">
            <FormField
                outcome=outcome
                field=Field::KeyName
                label="Name"
                hint="For example, the application that uses the key."
                focus=true
            />
            <Segmented
                name=Field::KeyMode.into_str()
                legend="Mode"
                options=vec![(LIVE, "Live"), (TEST, "Test")]
                chosen=outcome.typed_or(Field::KeyMode, LIVE)
            />
            <fieldset
                class="fieldset"
                id=outcome.id(Field::Scopes)
                aria-describedby=outcome.problem(Field::Scopes).map(|_| format!("{}-problem", outcome.id(Field::Scopes)))
            >
                <legend class="fieldset__legend">"Scopes"</legend>
                <div class="fields fields--2 scopes">{scopes}</div>
                <FieldProblem id=outcome.id(Field::Scopes) problem=outcome.problem(Field::Scopes) />
            </fieldset>
            <div class="fields fields--2 expiry">
                <Select
                    name=Field::Expiry.into_str()
                    label="Expires"
                    options=EXPIRIES
                    chosen=outcome.typed_or(Field::Expiry, FIRST_EXPIRY)
                />
                <div class="expiry__day">
                    <FormField
                        outcome=outcome
                        field=Field::ExpiryDay
                        label="Last day, in UTC"
                        kind="date"
                        value=today
                    />
                </div>
            </div>
            <TextArea
                name=Field::Networks.into_str()
                label="Allowed addresses"
                hint="One per line, such as 203.0.113.7 or 203.0.113.0/24. Leave empty to allow all."
                value=outcome.typed(Field::Networks)
                problem=outcome.problem(Field::Networks)
                optional=true
            />
            <Templates outcome templates />
        </DialogForm>
    }
}

/// Selection of the templates to which the key is restricted. Hidden if the account has none.
#[component]
fn Templates(outcome: Outcome, templates: Vec<(TemplateId, String)>) -> impl IntoView {
    (!templates.is_empty()).then(|| {
        let choices = templates.into_iter().map(|(id, name)| (id.to_string(), name, ""));
        let choices = checks(Field::Templates, choices, &outcome.typed(Field::Templates));
        view! {
            <fieldset class="fieldset">
                <legend class="fieldset__legend">
                    "Only these templates " <span class="field__optional">"optional"</span>
                </legend>
                <p class="field__hint">
                    "Restricts the key to these templates. Select none to allow all content."
                </p>
                <div class="fields fields--2 choices">{choices}</div>
            </fieldset>
        }
    })
}

/// Checkboxes with values, labels and help texts. `chosen` contains the checked values, separated by spaces.
fn checks<C: Iterator<Item = (String, String, &'static str)>>(
    field: Field,
    choices: C,
    chosen: &str,
) -> impl IntoView + use<C> {
    let checks = choices.enumerate().map(|(index, (value, label, hint))| {
        let checked = chosen.split(' ').any(|chosen| chosen == value);
        view! { <Check name=format!("{}[{index}]", field.into_str()) value label hint checked /> }
    });
    checks.collect_view()
}

/// Returns a description of a scope.
fn hint(scope: &str) -> &'static str {
    match scope {
        "render" => "Render and cancel renders",
        "renders:read" => "List and read renders",
        "templates:read" => "List and read templates",
        "templates:write" => "Create, change, delete",
        "usage:read" => "Credits and health",
        "connections:read" => "List and read storage connections",
        "connections:write" => "Create, test, delete",
        _ => "",
    }
}
