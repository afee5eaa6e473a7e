//! Announcements at the top of every dashboard page.

pub mod api;

use leptos::prelude::*;
use platen_domain::announcement::{Announcement, Level};

use crate::{
    layout::shell::announcements::api::HideAnnouncement,
    model::rejection::Field,
    outcome::{ButtonForm, Outcome},
    ui::icon::{Glyph, Icon},
};

/// Shows the announcements that the user hasn't hidden.
#[component]
pub fn Announcements(announcements: Vec<Announcement>) -> impl IntoView {
    let nothing = announcements.is_empty();
    let notices = announcements
        .into_iter()
        .map(|announcement| view! { <Notice announcement /> });
    (!nothing).then(|| {
        view! {
            <aside class="announcements" aria-label="Announcements">
                {notices.collect_view()}
            </aside>
        }
    })
}

#[component]
fn Notice(announcement: Announcement) -> impl IntoView {
    let hide = Outcome::of::<HideAnnouncement>();
    let (class, glyph) = match announcement.level {
        Level::Information => ("notice notice--info", Glyph::Info),
        Level::Warning => ("notice notice--warn", Glyph::Warning),
    };
    view! {
        <div class=class>
            <Icon glyph />
            <p class="break">{announcement.words.clone()} {more(&announcement)}</p>
            <div class="notice__actions">
                <ButtonForm outcome=hide>
                    <input type="hidden" name=Field::Subject.into_str() value=announcement.id.to_string() />
                    <button class="text-button" type="submit">
                        "Hide"
                        <span class="visually-hidden">{format!(": {}", announcement.words)}</span>
                    </button>
                </ButtonForm>
            </div>
        </div>
    }
}

/// The announcement's link.
pub fn more(announcement: &Announcement) -> impl IntoView + use<> {
    announcement.link.clone().map(|(address, words)| {
        view! {
            " "
            <a href=address rel="noopener noreferrer">
                {words}
            </a>
        }
    })
}
