//! `/admin/audit`: the operator audit log, with actions of operators and of the service.

use leptos::prelude::*;
use leptos_router::{hooks::use_query_map, params::ParamsMap};
use platen_domain::{
    audit_log::{AuditEvent, AuditRow},
    number::counted,
};

use crate::{
    layout::{
        loaded::loaded,
        page_head::PageHead,
        section::Section,
        shell::admin::{self, AdminEntry, AdminShell},
    },
    model::admin::audit_log::{AuditPage, AuditSearch},
    pages::query::{self, pager, written},
    ui::{
        button::ButtonLink,
        filters::{DateFilter, FilterForm, SearchFilter, SelectFilter},
        icon::{Glyph, Icon},
        moment::Stamp,
        sentence_case::sentence_case,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("When, UTC"),
    Column::text("Who").from_medium(),
    Column::text("What"),
    Column::text("Account").from_medium(),
    Column::text("Reason").from_medium(),
    Column::text("Address").from_wide(),
];

const PATH: &str = "/admin/audit";
/// Path of the same audit events as CSV.
const FILE: &str = "/admin/audit.csv";
/// Number of digits of the last digest that are shown.
const SHOWN_DIGITS: usize = 16;

/// The page of the audit log. The query of its address contains the search.
#[component]
pub fn AuditLog() -> impl IntoView {
    let search = search(&use_query_map().read_untracked());
    let wanted = search.clone();
    view! {
        <AdminShell title="Audit log" current=AdminEntry::Audit>
            {loaded(
                |backend| async move { backend.audit_log(wanted).await },
                |page| view! { <Content page search /> },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(page: AuditPage, search: AuditSearch) -> impl IntoView {
    let pager = pager(page.entries.len(), search.after.is_none(), page.next, |after| {
        address(PATH, &search, after)
    });
    let file = address(FILE, &search, None);
    let rows = page.entries.into_iter().map(|row| view! { <Row row /> });
    view! {
        <PageHead
            title="Audit log"
            lede="What operators and the service did to accounts. Entries cannot be changed or removed."
        >
            <ButtonLink href=file>
                <Icon glyph=Glyph::Download />
                "Export as CSV"
            </ButtonLink>
        </PageHead>
        <Section heading="Entries">
            <Filters search />
            <Table
                caption="Audit entries"
                columns=COLUMNS
                nothing="Nothing was done that you look for."
                rows
            />
            {pager}
        </Section>
        {page.end.map(|end| view! { <ChainEnd end /> })}
    }
}

#[component]
fn Filters(search: AuditSearch) -> impl IntoView {
    let kinds = AuditEvent::KINDS.iter().map(|kind| (*kind, label(kind)));
    view! {
        <FilterForm path=PATH can_be_cleared=true>
            <SearchFilter label="Account, operator or reason" value=search.text />
            <SelectFilter name="kind" label="Action" options=kinds value=search.kind.unwrap_or_default() />
            <DateFilter name="from" label="From, UTC" value=written(search.from).unwrap_or_default() />
            <DateFilter name="to" label="To, UTC" value=written(search.to).unwrap_or_default() />
        </FilterForm>
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
        <Section heading="The chain">
            <p>
                {counted(number, "entry", "entries")} ", and the digest of the last one begins with " <code>{digits}</code>
                ". Each entry holds the digest of the one before."
            </p>
            <p class="quiet">
                <code>"platen admin verify-audit"</code>
                " reads them all, and prints the end of the chain. Keep that somewhere else: with it, a later check tells "
                "whether the log was made anew."
            </p>
        </Section>
    }
}

/// Returns the label of a kind: `Account second factor removed` for `account.second_factor_removed`.
fn label(kind: &str) -> String {
    sentence_case(&kind.replace(['.', '_'], " "))
}

fn search(query: &ParamsMap) -> AuditSearch {
    AuditSearch::read(|name| query.get(name))
}

fn address(path: &str, search: &AuditSearch, after: Option<String>) -> String {
    let words = [
        ("q", Some(search.text.clone())),
        ("kind", search.kind.clone()),
        ("from", written(search.from)),
        ("to", written(search.to)),
        ("cursor", after),
    ];
    query::address(path, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let mut query = ParamsMap::new();
        for (name, value) in [
            ("q", "Finch"),
            ("kind", "plan.set"),
            ("to", "2026-11-22"),
            ("from", "x"),
            ("cursor", "7"),
        ] {
            query.insert(name, value.to_owned());
        }
        let found = search(&query);
        assert_eq!((found.from, found.after.as_deref()), (None, Some("7")));
        assert_eq!(
            address(FILE, &found, None),
            "/admin/audit.csv?q=Finch&kind=plan%2Eset&to=2026%2D11%2D22"
        );
        assert_eq!(label("user.second_factor_removed"), "User second factor removed");
    }
}
