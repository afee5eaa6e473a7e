//! Sessions of the render pool.

use leptos::{either::Either, prelude::*};
use platen_domain::number::{counted, wait};

use crate::{
    layout::{page::Section, shell::admin::AdminEntry},
    model::admin::health::{Activity, Session},
    ui::badge::{Badge, State},
};

/// Maximum number of sessions that are shown.
const SHOWN: usize = 96;

/// One patch for each session.
#[component]
pub fn RenderPool(
    /// Sessions of the selected processes.
    sessions: Vec<Session>,
) -> impl IntoView {
    let all = sessions.len();
    let more = (all > SHOWN).then(|| {
        let words = format!(
            "Showing {SHOWN} of {}. Select a process above to see all its sessions.",
            counted(all, "session", "sessions")
        );
        view! { <p class="small quiet">{words}</p> }
    });
    let content = if all == 0 {
        Either::Left(view! { <p class="quiet">"No process has reported a session yet."</p> })
    } else {
        Either::Right(view! { <ul class="pool">{sessions.into_iter().take(SHOWN).map(patch).collect_view()}</ul> })
    };
    view! {
        <Section heading="Render pool" note="Each session serves only one account">
            {content} {more}
        </Section>
    }
}

fn patch(session: Session) -> impl IntoView {
    let (class, state, word) = match session.activity {
        Activity::Opening => ("pool__session pool__session--restarting", State::Open, "Starting"),
        Activity::Rendering => ("pool__session pool__session--busy", State::Busy, "Rendering"),
        Activity::Idle => ("pool__session", State::Good, "Idle"),
        Activity::Free => ("pool__session", State::Open, "Unassigned"),
    };
    let time = wait(i64::try_from(session.seconds).unwrap_or(i64::MAX));
    let owner = session.account.map_or_else(
        || Either::Left("no account"),
        |(id, name)| Either::Right(view! { <a href=format!("{}/{id}", AdminEntry::Accounts.path())>{name}</a> }),
    );
    view! {
        <li class=class>
            <span class="pool__name break">{session.name}</span>
            <Badge state>{word}</Badge>
            <span class="quiet break">{owner} ", " {time}</span>
        </li>
    }
}
