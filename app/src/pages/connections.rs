//! `/dashboard/destinations`: storage connections, the buckets to which renders can be delivered.

pub mod access;
pub mod api;
pub mod connect;
pub mod edit;
pub mod panel;
pub mod test_result;

use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use platen_domain::connection::{Connection, ConnectionTest};

use crate::{
    layout::{
        page::{PageHead, loaded},
        shell::{Shell, rail::Entry},
    },
    model::connection::Connections as Found,
    outcome::{Done, Outcome, OutcomeErrors, done_word},
    pages::connections::{
        api::{DeleteConnection, EditConnection, RotateCredentials, TestConnection},
        connect::ConnectDialog,
        edit::{EditDialog, RotateDialog},
        panel::{ConnectionPanel, DefaultStoragePanel, DeleteDialog},
        test_result::FailedSteps,
    },
    ui::{
        button::{OpenButton, Rank},
        icon::Glyph,
        notice::DetailedWarning,
    },
};

const TITLE: &str = "Storage connections";

/// The page of storage connections.
#[component]
pub fn Connections() -> impl IntoView {
    view! {
        <Shell title=TITLE current=Entry::Connections>
            {loaded(|backend| async move { backend.connections().await }, |found| view! { <Content found /> })}
        </Shell>
    }
}

#[component]
fn Content(found: Found) -> impl IntoView {
    let (now, account) = (found.now, found.account.clone());
    let tested = Outcome::of::<TestConnection>();
    let edited = Outcome::about_nothing::<EditConnection>();
    let rotated = Outcome::about_nothing::<RotateCredentials>();
    let deleted = Outcome::about_nothing::<DeleteConnection>();
    let failure = failure(&found);
    let explained = failure.as_ref().map(|(_, connection, _)| connection.id);
    let notice = match failure {
        Some((title, connection, test)) => Either::Left(view! {
            <DetailedWarning title>
                <FailedSteps provider=connection.settings.provider steps=test.steps />
            </DetailedWarning>
        }),
        None => Either::Right(view! { <Done about=done /> }),
    };
    let panels = found.connections.iter().cloned().map(|(connection, last_test)| {
        let is_explained = explained == Some(connection.id);
        view! { <ConnectionPanel connection last_test is_explained account=account.clone() now /> }
    });
    let panels = panels.collect_view();
    let (roles, impersonation, mut rejected) = (found.roles, found.impersonation, found.rejected);
    let dialogs = found.connections.into_iter().map(|(connection, _)| {
        let rejected = rejected.take_if(|(id, _)| *id == connection.id);
        let steps = rejected.map(|(_, steps)| steps).unwrap_or_default();
        view! {
            <EditDialog connection=connection.clone() />
            <RotateDialog connection=connection.clone() steps account=found.account.clone() roles impersonation />
            <DeleteDialog connection />
        }
    });
    let dialogs = dialogs.collect_view();
    view! {
        <PageHead
            title=TITLE
            lede="Deliver documents of queued renders to your own buckets. Without a destination, documents go to the default storage, which is public and deletes them after 14 days."
        >
            <OpenButton dialog="connect" rank=Rank::Primary icon=Glyph::Add>
                "Connect a bucket"
            </OpenButton>
        </PageHead>
        {notice}
        <OutcomeErrors outcome=tested />
        <OutcomeErrors outcome=edited />
        <OutcomeErrors outcome=rotated />
        <OutcomeErrors outcome=deleted />
        <div class="grid grid--2">{panels} <DefaultStoragePanel /></div>
        {dialogs}
        <ConnectDialog account=found.account roles impersonation />
    }
}

/// Returns the connection whose test has just failed, with that test and the title of the notice.
fn failure(found: &Found) -> Option<(&'static str, Connection, ConnectionTest)> {
    let title = match done_word()?.as_str() {
        "saved" => "Saved. The connection test failed.",
        "tested" => "The connection test failed.",
        "rotated" => "Credentials rotated: documents can be written. Another step of the connection test failed.",
        _ => return None,
    };
    let id = use_query_map().read_untracked().get("failed")?;
    let mut tested = found.connections.iter();
    let (connection, test) = tested.find(|(connection, _)| connection.id.to_string() == id)?;
    let test = test.clone().filter(|test| !test.passed())?;
    Some((title, connection.clone(), test))
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "saved" => "Connection saved and tested.",
        "tested" => "The connection test passed.",
        "rotated" => "Credentials rotated and tested.",
        "deleted" => "Connection and credentials deleted. Files in the bucket are unchanged.",
        _ => return None,
    })
}
