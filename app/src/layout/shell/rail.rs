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
    Assets,
    Fonts,
    Renders,
    Batches,
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
        self.details().0
    }

    pub fn path(self) -> &'static str {
        self.details().1
    }

    pub fn icon(self) -> Glyph {
        self.details().2
    }

    /// Returns the permission that opens the entry.
    pub fn permission(self) -> Permission {
        self.details().3
    }

    /// Returns words other than those of the name by which users search for the entry.
    pub fn synonyms(self) -> &'static str {
        match self {
            Self::Overview => "dashboard home charts statistics",
            Self::Playground => "try test html",
            Self::Templates => "designs editor",
            Self::Assets => "files images pictures logo style sheets upload",
            Self::Fonts => "typefaces families specimens woff2",
            Self::Renders => "documents pdf history log",
            Self::Batches => "csv rows bulk mass mail merge",
            Self::ApiKeys => "tokens credentials",
            Self::Connections => "buckets destinations s3 google cloud",
            Self::Webhooks => "callbacks deliveries signing secret",
            Self::Billing => "credits plan prices payment",
            Self::Team => "members people invitations roles",
            Self::Settings => "profile password sessions export email",
        }
    }

    /// Returns name, path, icon, and the permission that opens the entry.
    fn details(self) -> (&'static str, &'static str, Glyph, Permission) {
        use Permission::{ManageDestinations, ManageKeys, ManageWebhooks, Produce, SeeAccount};
        match self {
            Self::Overview => ("Overview", "/dashboard", Glyph::Chart, SeeAccount),
            Self::Playground => ("Playground", "/dashboard/playground", Glyph::Playground, Produce),
            Self::Templates => ("Templates", "/dashboard/templates", Glyph::Template, Produce),
            Self::Assets => ("Assets", "/dashboard/assets", Glyph::Picture, Produce),
            Self::Fonts => ("Fonts", "/dashboard/fonts", Glyph::Letter, Produce),
            Self::Renders => ("Renders", "/dashboard/renders", Glyph::Sheets, Produce),
            Self::Batches => ("Batches", "/dashboard/batches", Glyph::Layers, Produce),
            Self::ApiKeys => ("API keys", "/dashboard/api-keys", Glyph::Key, ManageKeys),
            Self::Connections => (
                "Storage connections",
                "/dashboard/destinations",
                Glyph::Destination,
                ManageDestinations,
            ),
            Self::Webhooks => ("Webhooks", "/dashboard/webhooks", Glyph::Pulse, ManageWebhooks),
            Self::Billing => ("Usage and billing", "/dashboard/billing", Glyph::Billing, SeeAccount),
            Self::Team => ("Team", "/dashboard/team", Glyph::Team, SeeAccount),
            Self::Settings => ("Settings", "/dashboard/settings", Glyph::Settings, SeeAccount),
        }
    }

    /// Returns the number of items, for entries that have one.
    fn count(self, summary: &AccountSummary) -> Option<i64> {
        match self {
            Self::Templates => Some(summary.templates),
            Self::Assets => Some(summary.assets),
            Self::ApiKeys => Some(summary.keys),
            Self::Connections => Some(summary.connections),
            Self::Team => Some(summary.members),
            _ => None,
        }
    }
}

/// The groups of the rail, the first without a heading.
pub const GROUPS: [(Option<&str>, &[Entry]); 4] = [
    (None, &[Entry::Overview, Entry::Playground]),
    (
        Some("Produce"),
        &[
            Entry::Templates,
            Entry::Assets,
            Entry::Fonts,
            Entry::Renders,
            Entry::Batches,
        ],
    ),
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
    let until = format!("{} plan, credits renew {}", credits.plan, day(credits.ends_at.date()));
    let (share, now) = (credits.share_used(), credits.elapsed());
    let groups = GROUPS.into_iter().filter_map(|(heading, entries)| {
        let id = heading.map(|heading| format!("rail-{}", heading.to_lowercase()));
        let links = entries.iter().filter_map(|entry| {
            let (name, path, glyph, permission) = entry.details();
            let count = entry.count(&summary).map(grouped);
            let link = || view! { <RailLink name path glyph count is_current=*entry == current /> };
            summary.role.may(permission).then(link)
        });
        let links: Vec<_> = links.collect();
        if links.is_empty() {
            return None;
        }
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
                <ul class="rail__list">{links}</ul>
            </div>
        })
    });
    view! {
        <nav class="rail" id="rail" aria-label="Main" popover>
            <Brand class="rail__brand" />
            <Switcher account=summary.account.clone() accounts=summary.accounts.clone() />
            <div class="stack">{groups.collect_view()}</div>
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

/// A link in the list of a group.
#[component]
pub(super) fn RailLink(
    name: &'static str,
    path: &'static str,
    glyph: Glyph,
    /// Number of items on the page.
    #[prop(optional_no_strip)]
    count: Option<String>,
    /// Whether it is highlighted.
    #[prop(optional)]
    is_current: bool,
) -> impl IntoView {
    view! {
        <li>
            <a class="rail__link" href=path aria-current=is_current.then_some("page")>
                <Icon glyph />
                <span class="rail__text">{name}</span>
                {count.map(|count| view! { <span class="rail__count">{count}</span> })}
            </a>
        </li>
    }
}
