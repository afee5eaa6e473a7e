//! The navigation.

use leptos::prelude::*;
use platen_domain::{number::grouped, role::Permission};

use crate::{
    layout::{brand::Brand, shell::switcher::Switcher},
    model::account_summary::AccountSummary,
    ui::{
        gauge::Gauge,
        icon::{Glyph, Icon},
        moment::day,
    },
};

/// An entry of the rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Overview,
    Playground,
    Templates,
    Renders,
    ApiKeys,
    /// Storage connections.
    Connections,
    /// Webhooks and their deliveries.
    Webhooks,
    /// Usage and billing.
    Billing,
    /// Members and invitations.
    Team,
    /// Settings of the user and of the account.
    Settings,
}

impl Entry {
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Playground => "Playground",
            Self::Templates => "Templates",
            Self::Renders => "Renders",
            Self::ApiKeys => "API keys",
            Self::Connections => "Destinations",
            Self::Webhooks => "Webhooks",
            Self::Billing => "Usage and billing",
            Self::Team => "Team",
            Self::Settings => "Settings",
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Self::Overview => "/dashboard",
            Self::Playground => "/dashboard/playground",
            Self::Templates => "/dashboard/templates",
            Self::Renders => "/dashboard/renders",
            Self::ApiKeys => "/dashboard/api-keys",
            Self::Connections => "/dashboard/destinations",
            Self::Webhooks => "/dashboard/webhooks",
            Self::Billing => "/dashboard/billing",
            Self::Team => "/dashboard/team",
            Self::Settings => "/dashboard/settings",
        }
    }

    /// Returns the permission that opens the entry.
    fn permission(self) -> Permission {
        match self {
            Self::Overview | Self::Billing | Self::Team | Self::Settings => Permission::SeeAccount,
            Self::Playground | Self::Templates | Self::Renders => Permission::Produce,
            Self::ApiKeys => Permission::ManageKeys,
            Self::Connections => Permission::ManageDestinations,
            Self::Webhooks => Permission::ManageWebhooks,
        }
    }

    fn glyph(self) -> Glyph {
        match self {
            Self::Overview => Glyph::Chart,
            Self::Playground => Glyph::Playground,
            Self::Templates => Glyph::Template,
            Self::Renders => Glyph::Sheets,
            Self::ApiKeys => Glyph::Key,
            Self::Connections => Glyph::Destination,
            Self::Webhooks => Glyph::Pulse,
            Self::Billing => Glyph::Billing,
            Self::Team => Glyph::Team,
            Self::Settings => Glyph::Settings,
        }
    }

    /// Returns the number of items, for entries that have one.
    fn count(self, summary: &AccountSummary) -> Option<i64> {
        match self {
            Self::Templates => Some(summary.templates),
            Self::ApiKeys => Some(summary.keys),
            Self::Connections => Some(summary.connections),
            Self::Team => Some(summary.members),
            _ => None,
        }
    }
}

/// The groups of the rail, the first without a heading.
const GROUPS: [(Option<&str>, &[Entry]); 4] = [
    (None, &[Entry::Overview, Entry::Playground]),
    (Some("Produce"), &[Entry::Templates, Entry::Renders]),
    (Some("Connect"), &[Entry::ApiKeys, Entry::Connections, Entry::Webhooks]),
    (Some("Account"), &[Entry::Billing, Entry::Team, Entry::Settings]),
];

/// The navigation, with the remaining credits at its foot. On small screens it is a popover.
#[component]
pub fn Rail(
    summary: AccountSummary,
    /// The highlighted entry.
    current: Entry,
) -> impl IntoView {
    let credits = &summary.credits;
    let [used, total] = [credits.used, credits.total].map(grouped);
    let label = format!("{used} of {total} credits used");
    let until = format!("{} plan, until {}", credits.plan, day(credits.ends_at.date()));
    let (share, now) = (credits.share_used(), credits.elapsed());
    let groups = GROUPS.into_iter().filter_map(|(heading, entries)| {
        let id = heading.map(|heading| format!("rail-{}", heading.to_lowercase()));
        let mut entries = entries
            .iter()
            .filter(|entry| summary.role.may(entry.permission()))
            .peekable();
        entries.peek()?;
        let links = entries.map(|entry| {
            let count = entry.count(&summary).map(grouped);
            view! {
                <li>
                    <a class="rail__link" href=entry.path() aria-current=(*entry == current).then_some("page")>
                        <Icon glyph=entry.glyph() />
                        <span class="rail__text">{entry.name()}</span>
                        {count.map(|count| view! { <span class="rail__count">{count}</span> })}
                    </a>
                </li>
            }
        });
        let labelled_by = id.clone();
        Some(view! {
            <div class="rail__group" role=heading.map(|_| "group") aria-labelledby=labelled_by>
                {heading
                    .map(|heading| {
                        view! {
                            <p class="rail__heading" id=id>
                                {heading}
                            </p>
                        }
                    })}
                <ul class="rail__list">{links.collect_view()}</ul>
            </div>
        })
    });
    let groups = groups.collect_view();
    view! {
        <nav class="rail" id="rail" aria-label="Main" popover>
            <Brand class="rail__brand" />
            <Switcher account=summary.account.clone() accounts=summary.accounts.clone() />
            <div class="stack">{groups}</div>
            <div class="rail__foot">
                <div>
                    <p>
                        <span class="rail__figure">{used}</span>
                        " of "
                        {total}
                        " credits"
                    </p>
                    <Gauge label used=share now=now />
                </div>
                <p>{until}</p>
            </div>
        </nav>
    }
}
