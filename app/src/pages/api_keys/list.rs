//! Tables of API keys.

use leptos::prelude::*;
use platen_domain::{
    api_key::{ApiKey, CreditLimit, KeyState},
    ids::TemplateId,
    network::Network,
    number::grouped,
    template::channels::ChannelName,
};
use time::OffsetDateTime;

use crate::{
    pages::api_keys::end::{revoke_dialog, rotate_dialog},
    ui::{
        badge::{Badge, State},
        icon::Glyph,
        menu::{OpenItem, RowMenu},
        moment::{Day, Moment, ago_or, day_or, length},
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Name"),
    Column::text("Key").from_medium(),
    Column::text("Scopes").from_medium(),
    Column::text("Created").from_wide(),
    Column::text("Last used").from_medium(),
    Column::text("Expires").from_wide(),
    Column::text("Status"),
    Column::ACTIONS,
];

/// Table with one row per key.
#[component]
pub fn KeyTable(
    /// Caption of the table.
    caption: &'static str,
    /// Keys, in the order of the rows.
    keys: Vec<ApiKey>,
    /// Templates of the account.
    templates: Vec<(TemplateId, String)>,
    /// The current time.
    now: OffsetDateTime,
) -> impl IntoView {
    let rows = keys.into_iter().map(move |key| {
        let restrictions = restrictions(&key, &templates);
        view! { <Row api_key=key restrictions now /> }
    });
    view! { <Table caption=caption columns=COLUMNS rows /> }
}

#[component]
fn Row(api_key: ApiKey, restrictions: Option<String>, now: OffsetDateTime) -> impl IntoView {
    let state = api_key.state(now);
    let hint = format!("{}…", api_key.hint);
    let tags = api_key
        .scopes
        .iter()
        .map(|scope| view! { <span class="tag tag--code">{scope.into_str()}</span> });
    let gone = api_key
        .former_creator
        .as_ref()
        .map(|gone| format!("created by {gone}, a former member"));
    let credits = api_key.credit_limit.map(credits_used);
    let works_until = match state {
        KeyState::Replaced(until) => Some(view! { <span class="table__sub">"works until " <Moment at=until /></span> }),
        _ => None,
    };
    let menu = (state != KeyState::Revoked).then(|| view! { <Menu api_key=api_key.clone() state /> });
    view! {
        <tr class=if state.is_good() { "" } else { "table__row--faint" }>
            <th scope="row">
                <a href=format!("{}/{}", super::PATH, api_key.id)>{api_key.name.clone()}</a>
                " "
                {(!api_key.livemode).then(|| view! { <span class="tag tag--test">"Test"</span> })}
                {gone.map(|gone| view! { <span class="table__sub">{gone}</span> })}
                {restrictions.map(|restrictions| view! { <span class="table__sub">{restrictions}</span> })}
                {credits.map(|credits| view! { <span class="table__sub">{credits}</span> })}
                <span class="table__sub table__narrow">
                    <code>{hint.clone()}</code>
                </span>
            </th>
            <td class="table__medium table__tight">
                <code>{hint}</code>
            </td>
            <td class="table__medium">
                <span class="cluster">{tags.collect_view()}</span>
            </td>
            <td class="table__wide">
                <Day at=api_key.inserted_at />
            </td>
            <td class="table__medium">{ago_or(api_key.last_used_at, now, "never")}</td>
            <td class="table__wide">{day_or(api_key.expires_at, "never")}</td>
            <td>{badge(state)} {works_until}</td>
            <td class="table__actions">{menu}</td>
        </tr>
    }
}

/// Describes the networks, templates and channels to which a key is restricted. Returns `None` if it is unrestricted.
fn restrictions(key: &ApiKey, templates: &[(TemplateId, String)]) -> Option<String> {
    let mut restrictions = Vec::new();
    let networks: Vec<_> = key.allowed_networks.iter().map(Network::to_string).collect();
    if !networks.is_empty() {
        restrictions.push(format!("from {}", networks.join(", ")));
    }
    let name = |id: &TemplateId| {
        let known = templates.iter().find(|(known, _)| known == id);
        known.map_or("a deleted template", |(_, name)| name.as_str())
    };
    let names: Vec<_> = key.allowed_templates.iter().map(name).collect();
    if !names.is_empty() {
        restrictions.push(format!("for {}", names.join(", ")));
    }
    let channels: Vec<_> = key.allowed_channels.iter().map(ChannelName::as_str).collect();
    if !channels.is_empty() {
        restrictions.push(format!("in the channels {}", channels.join(", ")));
    }
    (!restrictions.is_empty()).then(|| restrictions.join("; "))
}

/// Describes the use of a credit limit, such as `1,200 of 5,000 credits this month`.
pub(crate) fn credits_used(limit: CreditLimit) -> String {
    format!(
        "{} of {} credits this month",
        grouped(limit.used),
        grouped(limit.credits)
    )
}

pub(crate) fn badge(state: KeyState) -> impl IntoView {
    let (glyph, words) = match state {
        KeyState::Active => (State::Good, "Active".to_owned()),
        KeyState::ExpiresSoon(left) => (State::Warning, format!("Expires in {}", length(left))),
        KeyState::Replaced(_) => (State::Warning, "Replaced".to_owned()),
        KeyState::Expired => (State::Struck, "Expired".to_owned()),
        KeyState::Revoked => (State::Struck, "Revoked".to_owned()),
    };
    view! { <Badge state=glyph>{words}</Badge> }
}

/// Menu of actions on a key.
#[component]
fn Menu(api_key: ApiKey, state: KeyState) -> impl IntoView {
    let rotate = state.is_good().then(|| {
        view! {
            <OpenItem dialog=rotate_dialog(api_key.id) icon=Glyph::Rotate>
                "Rotate"
            </OpenItem>
        }
    });
    view! {
        <RowMenu id=format!("menu-{}", api_key.id) of=api_key.name>
            {rotate} <OpenItem dialog=revoke_dialog(api_key.id) danger=true icon=Glyph::Remove>
                "Revoke"
            </OpenItem>
        </RowMenu>
    }
}
