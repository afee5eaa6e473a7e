//! `/admin/audit`: the operator audit log, with actions of operators and of the service.

use leptos::prelude::*;
use platen_domain::{
    audit_log::{AuditEvent, AuditFilter, AuditRow},
    number::counted,
    page::Page,
    render::log::containing,
};
use time::Date;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::admin::{self, AdminEntry, AdminShell},
    },
    pages::query::ListQuery,
    ui::{
        button::CsvLink,
        filters::{DateFilter, FilterForm, SearchFilter, SelectFilter},
        moment::Stamp,
        sentence_case::sentence_case,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Time, UTC"),
    Column::text("Actor").from_medium(),
    Column::text("Event"),
    Column::text("Account").from_medium(),
    Column::text("Reason").from_medium(),
    Column::text("IP address").from_wide(),
];

const PATH: &str = "/admin/audit";
/// Path of the same audit events as CSV.
const FILE: &str = "/admin/audit.csv";
/// Number of digits of the last digest that are shown.
const SHOWN_DIGITS: usize = 16;

/// Names of the filters.
pub const FILTERS: [&str; 4] = ["q", "kind", "from", "to"];

/// The page of the audit log. The query of its address contains the search.
#[component]
pub fn AuditLog() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let (filter, after) = (filter(&query), query.cursor());
    view! {
        <AdminShell title="Audit log" current=AdminEntry::Audit>
            {loaded(
                move |backend| async move { backend.audit_log(filter, after).await },
                |(page, end)| view! { <Content page end query /> },
            )}
        </AdminShell>
    }
}

/// Returns the filter of a search.
pub fn filter(query: &ListQuery) -> AuditFilter {
    let midnight = |day: Date| day.midnight().assume_utc();
    let text = query.text("q").unwrap_or_default();
    AuditFilter {
        text: Some(text.trim()).filter(|text| !text.is_empty()).map(containing),
        kind: query.text("kind"),
        from: query.day("from").map(midnight),
        before: query.day("to").and_then(Date::next_day).map(midnight),
    }
}

#[component]
fn Content(page: Page<AuditRow, i64>, end: Option<(i64, String)>, query: ListQuery) -> impl IntoView {
    let pager = query.pager(PATH, page.items.len(), page.next);
    let kinds = AuditEvent::KINDS.iter().map(|kind| (*kind, label(kind)));
    let rows = page.items.into_iter().map(|row| view! { <Row row /> });
    view! {
        <PageHead
            title="Audit log"
            lede="Actions of operators and of the service. Events can’t be changed or removed."
        >
            <CsvLink href=query.address(FILE, None) />
        </PageHead>
        <Section heading="Events">
            <FilterForm path=PATH can_be_cleared=true>
                <SearchFilter label="Account, operator or reason" />
                <SelectFilter name="kind" label="Action" options=kinds />
                <DateFilter name="from" label="From, UTC" />
                <DateFilter name="to" label="To, UTC" />
            </FilterForm>
            <Table
                caption="Audit events"
                columns=COLUMNS
                nothing="No events match these filters."
                rows
            />
            {pager}
        </Section>
        {end.map(|end| view! { <ChainEnd end /> })}
    }
}

#[component]
fn Row(row: AuditRow) -> impl IntoView {
    let (what, who) = (row.what(), row.entry.by.who().to_owned());
    let address = row.entry.by.address().map(ToOwned::to_owned);
    let name = row.entry.account_name.filter(|name| !name.is_empty());
    let account = move || {
        row.entry.account.map(|id| {
            let name = name.clone().unwrap_or_else(|| id.to_string());
            view! { <a class="break" href=format!("{}/{id}", admin::PATH)>{name}</a> }
        })
    };
    let reason = row.entry.reason;
    let why = (!reason.is_empty()).then(|| reason.clone());
    view! {
        <tr>
            <th scope="row" class="table__tight">
                <Stamp at=row.happened_at />
                <span class="table__sub">{format!("No. {}", row.number)}</span>
            </th>
            <td class="table__medium">
                <span class="break">{who.clone()}</span>
            </td>
            <td>
                <span class="break">{what}</span>
                <span class="table__sub table__narrow break">{who} " " {account()}</span>
                {why.map(|why| view! { <span class="table__sub table__narrow break">{why}</span> })}
            </td>
            <td class="table__medium">{account()}</td>
            <td class="table__medium">
                <span class="break">{reason}</span>
            </td>
            <td class="table__wide">{address}</td>
        </tr>
    }
}

/// End of the hash chain, to compare with a copy that is stored elsewhere.
#[component]
fn ChainEnd(end: (i64, String)) -> impl IntoView {
    let (number, digest) = end;
    let digits = digest.get(..SHOWN_DIGITS).unwrap_or(&digest).to_owned();
    view! {
        <Section heading="Hash chain">
            <p>
                {counted(number, "event", "events")} ". The digest of the last one begins with " <code>{digits}</code>
                ". Each event contains the digest of the previous one."
            </p>
            <p class="quiet">
                <code>"platen admin verify-audit"</code>
                " verifies all events and prints the end of the chain. Store that outside this service, so that a "
                "later check detects a rewritten log."
            </p>
        </Section>
    }
}

/// Returns the label of a kind: `Account second factor removed` for `account.second_factor_removed`.
fn label(kind: &str) -> String {
    sentence_case(&kind.replace(['.', '_'], " "))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let values = [
            ("q", "Finch"),
            ("kind", "plan.set"),
            ("to", "2026-11-22"),
            ("from", "x"),
            ("cursor", "7"),
        ];
        let query = ListQuery::of(&FILTERS, &values);
        let found = filter(&query);
        assert_eq!((found.from, query.cursor()), (None, Some(7)));
        assert_eq!(found.before, Some(datetime!(2026-11-23 0:00 UTC)));
        assert_eq!(
            query.address(FILE, None),
            "/admin/audit.csv?q=Finch&kind=plan%2Eset&to=2026%2D11%2D22"
        );
    }

    #[test]
    fn every_kind_has_a_label_of_its_own() {
        assert_eq!(label("user.second_factor_removed"), "User second factor removed");
        let mut labels: Vec<_> = AuditEvent::KINDS.iter().map(|kind| label(kind)).collect();
        assert!(labels.iter().all(|label| !label.contains('_')), "{labels:?}");
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), AuditEvent::KINDS.len());
    }
}
