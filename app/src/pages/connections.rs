//! `/dashboard/destinations`: storage connections, the buckets to which renders can be delivered.

pub mod api;
pub mod connect;
pub mod panel;

use leptos::prelude::*;

use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::connection::Connections as Found,
    outcome::{Done, Outcome, OutcomeErrors},
    pages::connections::{
        api::{DeleteConnection, TestConnection},
        connect::ConnectDialog,
        panel::{ConnectionPanel, DefaultStoragePanel, DeleteDialog},
    },
    ui::{
        button::{OpenButton, Rank},
        icon::Glyph,
    },
};

/// The page of storage connections.
#[component]
pub fn Connections() -> impl IntoView {
    view! {
        <Shell title="Destinations" current=Entry::Connections>
            {loaded(|backend| async move { backend.connections().await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

#[component]
fn Content(found: Found) -> impl IntoView {
    let (now, account) = (found.now, found.account.clone());
    let tested = Outcome::of::<TestConnection>();
    let deleted = Outcome::about_nothing::<DeleteConnection>();
    let panels = found.connections.iter().cloned().map(|(connection, last_test)| {
        view! { <ConnectionPanel connection last_test account=account.clone() now /> }
    });
    let panels = panels.collect_view();
    let dialogs = found.connections.into_iter();
    let dialogs = dialogs.map(|(connection, _)| view! { <DeleteDialog connection /> });
    let dialogs = dialogs.collect_view();
    view! {
        <PageHead
            title="Destinations"
            lede="Buckets of your own that queued renders may write to. Without one, a PDF goes to our public storage and is deleted after 14 days."
        >
            <OpenButton dialog="connect" rank=Rank::Primary icon=Glyph::Add>
                "Connect a bucket"
            </OpenButton>
        </PageHead>
        <Done about=done />
        <OutcomeErrors outcome=tested />
        <OutcomeErrors outcome=deleted />
        <div class="grid grid--2">{panels} <DefaultStoragePanel /></div>
        {dialogs}
        <ConnectDialog account=found.account roles=found.roles impersonation=found.impersonation />
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "connected" => "Bucket connected and tested. What came of the test stands beside it.",
        "tested" => "Connection tested. What came of it stands beside it.",
        "deleted" => "Connection deleted, with its credentials. The bucket is as it was.",
        _ => return None,
    })
}
