//! `/admin/accounts`: all accounts of the service.

use leptos::prelude::*;
use platen_domain::{
    account_directory::{AccountOrder, AccountState, DirectoryEntry, DirectoryPage, DirectorySearch},
    number::{counted, grouped},
};
use strum::VariantArray;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::admin::{AdminEntry, AdminShell, PATH},
    },
    pages::query::ListQuery,
    ui::{
        badge::{Badge, State},
        filters::{FilterForm, SearchFilter, SelectFilter},
        moment::Day,
        pager::Pager,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Account"),
    Column::text("Owner").from_medium(),
    Column::text("Plan").from_medium(),
    Column::figure("Credits used"),
    Column::figure("Failed, 24 h").from_medium(),
    Column::text("Created").from_wide(),
    Column::text("Status"),
];

const FILTERS: [&str; 4] = ["q", "plan", "state", "order"];

/// The list of accounts. The query of its address contains the search.
#[component]
pub fn Accounts() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let search = search(&query);
    view! {
        <AdminShell title="Accounts" current=AdminEntry::Accounts>
            {loaded(
                |backend| async move { backend.accounts(search).await },
                |(page, plans)| view! { <Content page plans query /> },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(page: DirectoryPage, plans: Vec<String>, query: ListQuery) -> impl IntoView {
    let more = if query.is_first() { "" } else { " more" };
    let note = counted(page.entries.len() as u64, "account", "accounts") + more;
    let plans = plans.into_iter().map(|plan| (plan.clone(), plan));
    let states = AccountState::VARIANTS
        .iter()
        .map(|state| (state.into_str(), state.name()));
    let orders = AccountOrder::VARIANTS[1..]
        .iter()
        .map(|order| (order.into_str(), order.name()));
    let rows = page.entries.into_iter().map(|account| view! { <Row account /> });
    let facts = view! {
        <span>{counted(page.counts.accounts, "account", "accounts")}</span>
        <span>{grouped(page.counts.paid)} " on a paid plan"</span>
        <span>{grouped(page.counts.suspended)} " suspended"</span>
    }
    .into_any();
    view! {
        <PageHead title="Accounts" facts />
        <Section heading="Find accounts">
            <FilterForm path=PATH action="Find">
                <SearchFilter label="Name, email, account id, key prefix or render id" />
                <SelectFilter name="plan" label="Plan" options=plans />
                <SelectFilter name="state" label="Status" options=states />
                <SelectFilter name="order" label="Sort by" options=orders any=AccountOrder::Newest.name() />
            </FilterForm>
            <Table caption="Accounts" columns=COLUMNS nothing="No accounts match this search." rows />
            <Pager note newest=query.newest(PATH) older=query.older(PATH, page.next) />
        </Section>
    }
}

#[component]
fn Row(account: DirectoryEntry) -> impl IntoView {
    let state = account.state();
    let used = format!("{} of {}", grouped(account.used), grouped(account.total));
    let failed = share(account.failed, account.ended);
    view! {
        <tr>
            <th scope="row">
                <a class="table__link break" href=format!("{PATH}/{}", account.id)>
                    {account.called}
                </a>
            </th>
            <td class="table__medium">
                <span class="break">{account.owner}</span>
            </td>
            <td class="table__medium">{account.plan}</td>
            <td class="table__figure">{used}</td>
            <td class="table__figure table__medium">{failed}</td>
            <td class="table__wide table__tight">
                <Day at=account.inserted_at />
            </td>
            <td>
                <AccountBadge state used=account.used total=account.total />
            </td>
        </tr>
    }
}

/// Account status as a badge. An active account that has used at least 90 % of its credits shows the percentage.
#[component]
pub fn AccountBadge(
    /// Status of the account.
    state: AccountState,
    /// Credits used in this period.
    used: i64,
    /// All credits of this period.
    total: i64,
) -> impl IntoView {
    let spent = total > 0 && used.saturating_mul(10) >= total.saturating_mul(9);
    let (kind, words) = match state {
        AccountState::Active if spent => (State::Warning, format!("{} % used", used.saturating_mul(100) / total)),
        AccountState::Active => (State::Good, state.name().to_owned()),
        AccountState::Suspended => (State::Bad, state.name().to_owned()),
        AccountState::ToBeDeleted => (State::Struck, state.name().to_owned()),
    };
    view! { <Badge state=kind>{words}</Badge> }
}

/// Formats a share in per cent, rounded to a tenth. Returns a dash if `all` is 0.
fn share(part: i64, all: i64) -> String {
    match all {
        0 => "–".to_owned(),
        // Tenths of a per cent, rounded.
        all => {
            let tenths = (part * 2000 + all) / (all * 2);
            match tenths % 10 {
                0 => format!("{} %", tenths / 10),
                rest => format!("{}.{rest} %", tenths / 10),
            }
        }
    }
}

fn search(query: &ListQuery) -> DirectorySearch {
    DirectorySearch {
        text: query.text("q").unwrap_or_default(),
        plan: query.text("plan"),
        state: query.get("state"),
        order: query.get("order").unwrap_or_default(),
        after: query.cursor(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_a_tenth() {
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(0, 10), "0 %");
        assert_eq!(share(38, 100), "38 %");
        assert_eq!(share(6, 1000), "0.6 %");
        assert_eq!(share(2, 3), "66.7 %");
    }

    #[test]
    fn a_search_stands_in_the_address() {
        let values = [
            ("q", "a&b"),
            ("state", "suspended"),
            ("order", "failures"),
            ("cursor", "7:y"),
        ];
        let query = ListQuery::of(&FILTERS, &values);
        let search = search(&query);
        let expected = (Some(AccountState::Suspended), AccountOrder::Failures);
        assert_eq!((search.state, search.order), expected);
        assert_eq!(
            query.older(PATH, Some("7:x")).as_deref(),
            Some("/admin/accounts?q=a%26b&state=suspended&order=failures&cursor=7%3Ax"),
            "{search:?}"
        );
    }
}
