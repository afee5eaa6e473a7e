//! The dialog that publishes the template.

use std::iter;

use leptos::{html, prelude::*, task::spawn_local};
use platen_domain::{
    diff::Diff,
    editor::{SavedTemplate, UnpublishedChanges},
    number::counted,
};

use super::{
    api::compare_draft,
    draft::{Draft, text},
    live::Live,
    note::NoteField,
    remarks,
};
use crate::{
    error::AppError,
    model::template::pages_path,
    ui::{
        button::CloseButton,
        dialog::{Dialog, Weight},
        diff::UnifiedDiff,
        notice::WarningNotice,
    },
};

/// What publishing the editor's content would change, as of the last time that the dialog was opened.
#[derive(Clone, Copy)]
pub(super) struct Publication {
    id: StoredValue<String>,
    root: NodeRef<html::Form>,
    /// Number of times that the changes were requested.
    requests: StoredValue<u32>,
    changes: RwSignal<Requested>,
}

#[derive(Clone)]
enum Requested {
    /// Not yet, or there are no scripts.
    Never,
    Loading,
    Failed(AppError),
    Loaded(UnpublishedChanges),
}

impl Publication {
    pub(super) fn new(id: String, root: NodeRef<html::Form>) -> Self {
        Self {
            id: StoredValue::new(id),
            root,
            requests: StoredValue::new(0),
            changes: RwSignal::new(Requested::Never),
        }
    }

    /// Requests the changes. Only the answer to the last request is shown.
    pub(super) fn load(self) {
        let Some(root) = self.root.get_untracked() else { return };
        let (content, translations) = (text(&root, "content"), text(&root, "translations"));
        self.requests.update_value(|requests| *requests += 1);
        let request = self.requests.get_value();
        self.changes.set(Requested::Loading);
        spawn_local(async move {
            let answer = compare_draft(self.id.get_value(), content, translations).await;
            if self.requests.get_value() == request {
                self.changes.set(match answer {
                    Ok(changes) => Requested::Loaded(changes),
                    Err(error) => Requested::Failed(error),
                });
            }
        });
    }
}

/// Asks for confirmation, because publishing changes renders at once.
#[component]
pub(super) fn PublishDialog(
    /// Id of the template.
    id: String,
    draft: Draft,
    live: Live,
    publication: Publication,
    /// The renders that use published versions, as the beginning of a sentence.
    audience: String,
    /// Address of the comparison of the published version with a saved draft, if there is one.
    comparison: Option<String>,
) -> impl IntoView {
    let problem = move || {
        live.problem.get().map(|problem| {
            view! { <WarningNotice>{format!("The preview fails. {}", remarks::sentence(&problem))}</WarningNotice> }
        })
    };
    let undefined = move || {
        let count = live.undefined();
        (count > 0).then(|| {
            let names = if count == 1 {
                "One name is undefined and prints empty with the sample data.".to_owned()
            } else {
                format!("{count} names are undefined and print empty with the sample data.")
            };
            view! {
                <WarningNotice>{names}</WarningNotice>
            }
        })
    };
    view! {
        <Dialog id="publish" title="Publish this template" weight=Weight::Wide>
            <div class="dialog__body">
                {problem}
                {undefined}
                <p>{audience} " will use this version. Earlier versions stay in the list."</p>
                <NoteField id="note" />
                <UnpublishedTexts publication comparison />
                <PagesLink id draft />
            </div>
            <div class="dialog__foot">
                <CloseButton dialog="publish">"Cancel"</CloseButton>
                <button class="button button--primary" type="submit" name="publish" value="yes">
                    {move || if draft.has_changes() { "Save and publish" } else { "Publish" }}
                </button>
            </div>
        </Dialog>
    }
}

/// A link to the comparison of pages, which are those of saved versions.
#[component]
fn PagesLink(id: String, draft: Draft) -> impl IntoView {
    move || {
        let SavedTemplate { version, published } = draft.saved();
        (version > published).then(|| {
            let note = draft.has_changes().then_some(" Unsaved changes are not included.");
            let address = pages_path(&id, published, version);
            view! { <p class="small"><a href=address>"Compare pages"</a> {note}</p> }
        })
    }
}

/// The changes since the published version. Without scripts, a link to those of the saved draft.
#[component]
fn UnpublishedTexts(publication: Publication, comparison: Option<String>) -> impl IntoView {
    move || {
        let (words, loaded) = match publication.changes.get() {
            Requested::Never => (None, None),
            Requested::Loading => (Some("Comparing with the published version…".to_owned()), None),
            Requested::Failed(error) => (Some(format!("The changes can’t be shown. {error}")), None),
            Requested::Loaded(changes) => (None, Some(changes)),
        };
        let link = comparison.clone().filter(|_| words.is_none() && loaded.is_none());
        let link = link.map(|address| {
            view! {
                <p class="small">
                    <a href=address>"Compare the saved draft with the published version"</a>
                </p>
            }
        });
        let changes = loaded.map(
            |UnpublishedChanges {
                 published,
                 html,
                 translations,
             }| {
                // Most templates have no translations.
                let translations = Some(translations).filter(|diff| *diff != Diff::Equal);
                let changes = iter::once(("HTML", html)).chain(translations.map(|diff| ("translations", diff)));
                changes
                    .map(|(text, diff)| changes_of(text, diff, published))
                    .collect_view()
            },
        );
        view! {
            {words.map(summary)}
            {link}
            {changes}
        }
    }
}

/// Shows the changes of a text since the published version.
fn changes_of(text: &'static str, diff: Diff, published: i32) -> AnyView {
    let since = format!("version {published}, which is published");
    let (words, changes) = match diff {
        Diff::Equal => (format!("No changes to the {text} since {since}."), None),
        Diff::LineBreaks => (format!("Only line breaks of the {text} differ from {since}."), None),
        Diff::Changes(changes) => {
            let removed = counted(changes.removed, "line", "lines");
            let added = counted(changes.added, "line", "lines");
            let words = format!("Changes to the {text} since {since}: {removed} removed, {added} added.");
            (words, Some(changes))
        }
    };
    let changes = changes.map(|changes| {
        view! { <UnifiedDiff changes label=format!("Changes to the {text}") short=true /> }
    });
    view! {
        <div class="stack stack--tight">
            {summary(words)}
            {changes}
        </div>
    }
    .into_any()
}

fn summary(words: String) -> impl IntoView {
    view! {
        <p class="small" role="status">
            {words}
        </p>
    }
}
