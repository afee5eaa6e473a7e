//! The form that creates a key, and the fields that it shares with the form that changes one.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use platen_domain::{
    api_key::{ApiKey, Scope},
    ids::TemplateId,
    network::Network,
    template::channels::{ChannelName, Channels},
};
use strum::VariantNames;
use time::{Duration, OffsetDateTime};

use crate::{
    model::rejection::{Field, LIVE, TEST},
    outcome::{DialogForm, FormField, Outcome},
    pages::api_keys::api::{CreateKey, NEVER, ON_A_DAY},
    ui::{
        check::Check,
        field::{Face, FieldProblem},
        segmented::Segmented,
        select::Select,
        text_area::TextArea,
    },
};

const EXPIRIES: [(&str, &str); 5] = [
    (NEVER, "Never"),
    ("30", "In 30 days"),
    ("90", "In 90 days"),
    ("365", "In a year"),
    (ON_A_DAY, "On a day…"),
];
/// Preselected values of a new key.
const FIRST_EXPIRY: &str = "365";
const FIRST_SCOPES: &str = "render templates:read";

/// The dialog that creates a key.
#[component]
pub fn CreateDialog(
    /// Templates of the account.
    templates: Vec<(TemplateId, String)>,
    channels: Channels,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let outcome = Outcome::of::<CreateKey>();
    view! {
        <DialogForm outcome=outcome id="create" title="New key" action="Create key">
            <KeyFields outcome templates channels now />
        </DialogForm>
    }
}

/// Returns the mode that is selected first: test if the query asks for it with `mode=test`, as examples do.
fn preselected_mode() -> &'static str {
    let asked = use_query_map().read_untracked().get("mode");
    if asked.as_deref() == Some(TEST) { TEST } else { LIVE }
}

/// The settings of a key, in its form.
#[component]
pub fn KeyFields(
    /// Result of the last submission.
    outcome: Outcome,
    /// The key that is changed; `None` if the form creates one.
    #[prop(optional)]
    api_key: Option<ApiKey>,
    /// Templates of the account.
    templates: Vec<(TemplateId, String)>,
    channels: Channels,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let former = Former::of(api_key.as_ref(), now);
    let scopes = Scope::VARIANTS.iter();
    let scopes = scopes.map(|scope| ((*scope).to_owned(), (*scope).to_owned(), hint(scope)));
    let scopes = checks(Field::Scopes, scopes, &outcome.typed_or(Field::Scopes, &former.scopes));
    let mode = api_key.is_none().then(|| {
        view! {
            <Segmented
                name=Field::KeyMode.into_str()
                legend="Mode"
                options=vec![(LIVE, "Live"), (TEST, "Test")]
                chosen=outcome.typed_or(Field::KeyMode, preselected_mode())
            />
        }
    });
    let credit_limit = api_key.as_ref().is_none_or(|key| key.livemode).then(|| {
        view! {
            <div class="credit-limit">
                <FormField
                    outcome=outcome
                    field=Field::CreditLimit
                    label="Credit limit a month"
                    hint="Renders are refused when the key has used so many credits. Leave empty for no limit."
                    value=former.credit_limit
                    optional=true
                />
            </div>
        }
    });
    view! {
        <FormField
            outcome=outcome
            field=Field::KeyName
            label="Name"
            hint="For example, the application that uses the key."
            value=former.name
            focus=api_key.is_none()
        />
        {mode}
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
                chosen=outcome.typed_or(Field::Expiry, former.expiry)
            />
            <div class="expiry__day">
                <FormField
                    outcome=outcome
                    field=Field::ExpiryDay
                    label="Last day, in UTC"
                    kind="date"
                    value=former.last_day
                />
            </div>
        </div>
        <TextArea
            face=Face::Code
            name=Field::Networks.into_str()
            label="Allowed addresses"
            hint="One per line, such as 203.0.113.7 or 203.0.113.0/24. Leave empty to allow all."
            value=outcome.typed_or(Field::Networks, &former.networks)
            problem=outcome.problem(Field::Networks)
            optional=true
        />
        <Templates outcome templates chosen=former.templates />
        <AllowedChannels outcome channels chosen=former.channels />
        {credit_limit}
    }
}

/// The values of the fields before anything is typed.
struct Former {
    name: String,
    scopes: String,
    expiry: &'static str,
    last_day: String,
    networks: String,
    templates: String,
    channels: String,
    credit_limit: String,
}

impl Former {
    fn of(key: Option<&ApiKey>, now: OffsetDateTime) -> Self {
        let Some(key) = key else {
            return Self {
                name: String::new(),
                scopes: FIRST_SCOPES.to_owned(),
                expiry: FIRST_EXPIRY,
                last_day: now.date().to_string(),
                networks: String::new(),
                templates: String::new(),
                channels: String::new(),
                credit_limit: String::new(),
            };
        };
        let last_day = key.expires_at.map(|expiry| (expiry - Duration::NANOSECOND).date());
        let networks: Vec<_> = key.allowed_networks.iter().map(Network::to_string).collect();
        let templates: Vec<_> = key.allowed_templates.iter().map(TemplateId::to_string).collect();
        let channels: Vec<_> = key.allowed_channels.iter().map(ChannelName::as_str).collect();
        let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.into_str()).collect();
        Self {
            name: key.name.clone(),
            scopes: scopes.join(" "),
            expiry: if last_day.is_some() { ON_A_DAY } else { NEVER },
            last_day: last_day.unwrap_or_else(|| now.date()).to_string(),
            networks: networks.join("\n"),
            templates: templates.join(" "),
            channels: channels.join(" "),
            credit_limit: key
                .credit_limit
                .map_or_else(String::new, |limit| limit.credits.to_string()),
        }
    }
}

/// Selection of the templates to which the key is restricted. Hidden if there are none.
#[component]
fn Templates(
    outcome: Outcome,
    templates: Vec<(TemplateId, String)>,
    /// Ids before anything is chosen, separated by spaces.
    chosen: String,
) -> impl IntoView {
    let mut choices: Vec<_> = templates
        .into_iter()
        .map(|(id, name)| (id.to_string(), name, ""))
        .collect();
    // Deleted templates stay chosen: without any, the key would no longer be restricted.
    for id in chosen.split_whitespace() {
        if !choices.iter().any(|(offered, _, _)| offered == id) {
            choices.push((id.to_owned(), "A deleted template".to_owned(), ""));
        }
    }
    (!choices.is_empty()).then(|| {
        let choices = choices.into_iter();
        let choices = checks(Field::Templates, choices, &outcome.typed_or(Field::Templates, &chosen));
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

/// Selection of the channels to which the key is restricted. Hidden if there is only one.
#[component]
fn AllowedChannels(
    outcome: Outcome,
    channels: Channels,
    /// Names before anything is chosen, separated by spaces.
    chosen: String,
) -> impl IntoView {
    let mut names: Vec<_> = channels.names().iter().map(ChannelName::to_string).collect();
    // As for templates.
    for name in chosen.split_whitespace() {
        if !names.iter().any(|offered| offered == name) {
            names.push(name.to_owned());
        }
    }
    // A key that is restricted to `production` alone stays so.
    (names.len() > 1 || !chosen.is_empty()).then(|| {
        let choices = names.into_iter().map(|name| (name.clone(), name, ""));
        let choices = checks(Field::Channels, choices, &outcome.typed_or(Field::Channels, &chosen));
        view! {
            <fieldset class="fieldset">
                <legend class="fieldset__legend">
                    "Only these channels " <span class="field__optional">"optional"</span>
                </legend>
                <p class="field__hint">
                    "The key renders templates from these channels, and publishes or promotes only to them. Select none to allow all."
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
        "assets:read" => "List and download assets",
        "assets:write" => "Create, replace, delete",
        "usage:read" => "Credits and health",
        "connections:read" => "List and read storage connections",
        "connections:write" => "Create, test, delete",
        _ => "",
    }
}
