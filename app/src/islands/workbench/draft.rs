//! Saving of the template.

use leptos::{ev, html, prelude::*, task::spawn_local, wasm_bindgen::JsCast};
use platen_domain::editor::{SampleSet, SampleSetProblem, SavedTemplate};
use web_sys::{Element, Event, HtmlDialogElement, HtmlInputElement, HtmlTextAreaElement};

use super::{api::save_template, live::Live, remarks};
use crate::{
    error::AppError,
    model::{
        rejection::{Field, Reason, Rejection},
        template::DataForm,
    },
    ui::{
        badge::{Badge, State},
        icon::{Glyph, Icon},
        notice::DoneNotice,
    },
};

/// The form and its save status.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    id: StoredValue<String>,
    root: NodeRef<html::Form>,
    saved: RwSignal<SavedTemplate>,
    /// Newest version that the author has seen. With `None`, saving succeeds even if there is a newer one.
    seen: StoredValue<Option<i32>>,
    /// Number of changes so far.
    changes: StoredValue<u32>,
    unsaved: RwSignal<bool>,
    saving: RwSignal<bool>,
    refusal: RwSignal<Option<AppError>>,
    /// Number of the version that was published last, until the next change.
    just_published: RwSignal<Option<i32>>,
}

impl Draft {
    pub(super) fn new(id: String, newest: i32, published: i32, root: NodeRef<html::Form>) -> Self {
        Self {
            id: StoredValue::new(id),
            root,
            saved: RwSignal::new(SavedTemplate {
                version: newest,
                published,
            }),
            seen: StoredValue::new(Some(newest)),
            changes: StoredValue::new(0),
            unsaved: RwSignal::new(false),
            saving: RwSignal::new(false),
            refusal: RwSignal::new(None),
            just_published: RwSignal::new(None),
        }
    }

    pub(super) fn is_unsaved(self) -> bool {
        self.unsaved.get_untracked()
    }

    pub(super) fn saved(self) -> SavedTemplate {
        self.saved.get()
    }

    /// As [`Self::is_unsaved`], tracked.
    pub(super) fn has_changes(self) -> bool {
        self.unsaved.get()
    }

    /// Records a change. Returns whether it affects the preview: the name and the visible pane don't. The choice of a set
    /// of sample data does, but is no change.
    pub(super) fn note(self, event: &ev::Event) -> bool {
        let field = event.target().and_then(|field| field.dyn_into::<Element>().ok());
        let name = field.and_then(|field| field.get_attribute("name")).unwrap_or_default();
        let is_content = matches!(name.as_str(), "content" | "data" | "sets" | "translations");
        if is_content || name == "template_name" {
            // What was wrong may have been corrected.
            self.refusal
                .update(|refusal| drop(refusal.take_if(|error| is_about_content(error))));
            self.just_published.set(None);
            self.changes.update_value(|changes| *changes += 1);
            if !self.unsaved.get_untracked() {
                self.unsaved.set(true);
                // The page can't be loaded again now.
                mark_examples(false);
            }
        }
        is_content || name == "set" || name.starts_with("paper-")
    }

    /// Closes the dialog and saves the form. Nothing is saved while an earlier call is in progress.
    pub(super) fn save(self, publish: bool) {
        let Some(root) = self.root.get_untracked() else { return };
        close_dialog();
        if self.saving.get_untracked() {
            return;
        }
        let name = root
            .query_selector("[name=template_name]")
            .ok()
            .flatten()
            .and_then(|field| field.dyn_into::<HtmlInputElement>().ok())
            .map(|field| field.value())
            .unwrap_or_default();
        // `<sample-sets>` writes all sets into its field.
        if let Ok(event) = Event::new("collect") {
            let _ = root.dispatch_event(&event);
        }
        let content = text(&root, "content");
        let data = DataForm {
            data: text(&root, "data"),
            set: None,
            sets: Some(text(&root, "sets")).filter(|sets| !sets.is_empty()),
            translations: Some(text(&root, "translations")),
        };
        let changes = self.changes.get_value();
        self.saving.set(true);
        let note = publish.then(|| text(&root, "note"));
        let publish = publish.then(|| "yes".to_owned());
        let (id, seen) = (self.id.get_value(), self.seen.get_value());
        spawn_local(async move {
            let is_published = publish.is_some();
            let answer = save_template(id, seen, name, content, data, publish, note).await;
            self.saving.set(false);
            match answer {
                Ok(saved) => {
                    self.saved.set(saved);
                    self.seen.set_value(Some(saved.version));
                    self.refusal.set(None);
                    self.just_published.set(is_published.then_some(saved.published));
                    if is_published {
                        clear(&root, "note");
                    }
                    // Changes made during the request are not saved.
                    self.unsaved.set(self.changes.get_value() != changes);
                    mark_examples(!self.unsaved.get_untracked());
                }
                Err(error) => {
                    if let AppError::Rejected(Rejection {
                        reason: Reason::SavedMeanwhile,
                        ..
                    }) = &error
                    {
                        self.seen.set_value(None);
                    }
                    self.refusal.set(Some(error));
                }
            }
        });
    }
}

impl Draft {
    /// Returns the name of the set of sample data that a problem is about.
    fn name_of_set(self, problem: SampleSetProblem) -> Option<String> {
        let root = self.root.get_untracked()?;
        let sets: Vec<SampleSet> = serde_json::from_str(&text(&root, "sets")).ok()?;
        let set = sets.into_iter().nth(problem.number()?.checked_sub(1)?)?;
        Some(set.name)
    }
}

/// Returns the content of a `<textarea>` of the form, or an empty string if there is none with this name.
pub(super) fn text(root: &Element, name: &str) -> String {
    text_area(root, name).map(|field| field.value()).unwrap_or_default()
}

fn clear(root: &Element, name: &str) {
    if let Some(field) = text_area(root, name) {
        field.set_value("");
    }
}

fn text_area(root: &Element, name: &str) -> Option<HtmlTextAreaElement> {
    let field = root.query_selector(&format!("textarea[name={name}]")).ok().flatten();
    field.and_then(|field| field.dyn_into().ok())
}

/// Sets whether the code examples of “Use in API”, which contain the saved sample data, are outdated
/// (`frontend/dialogs.ts`).
fn mark_examples(are_outdated: bool) {
    if let Some(dialog) = document().get_element_by_id("use") {
        let _ = dialog.toggle_attribute_with_force("data-outdated", are_outdated);
    }
}

fn close_dialog() {
    let dialog = document().get_element_by_id("publish");
    if let Some(dialog) = dialog.and_then(|dialog| dialog.dyn_into::<HtmlDialogElement>().ok())
        && dialog.open()
    {
        dialog.close();
    }
}

/// Shows the version and the save status.
#[component]
pub(super) fn SaveStatus(draft: Draft) -> impl IntoView {
    let words = move || {
        let SavedTemplate { version, published } = draft.saved.get();
        if version > published {
            format!("Version {version}, draft. Published: {published}")
        } else {
            format!("Version {version}, published")
        }
    };
    let badge = move || {
        if draft.saving.get() {
            view! { <Badge state=State::Warning>"Saving…"</Badge> }.into_any()
        } else if draft.unsaved.get() {
            view! { <Badge state=State::Warning>"Not saved"</Badge> }.into_any()
        } else {
            view! { <Badge state=State::Good>"Saved"</Badge> }.into_any()
        }
    };
    view! {
        <span class="small quiet">{words}</span>
        <span class="small" role="status">
            {badge}
        </span>
    }
}

/// Returns whether another text can make the error disappear.
fn is_about_content(error: &AppError) -> bool {
    matches!(error, AppError::Rejected(rejection)
        if !rejection.faulty().is_empty() || matches!(rejection.reason, Reason::SampleSets(_)))
}

/// Says that the last save has published the template.
#[component]
pub(super) fn PublicationNotice(
    draft: Draft,
    /// The renders that use published versions, as the beginning of a sentence.
    audience: String,
) -> impl IntoView {
    move || {
        draft.just_published.get().map(|version| {
            view! {
                <div class="workbench__outcome">
                    <DoneNotice>
                        {format!("Version {version} is published. {audience} use it from now on.")}
                    </DoneNotice>
                </div>
            }
        })
    }
}

/// Shows why the last save was refused.
#[component]
pub(super) fn Refusal(draft: Draft, live: Live) -> impl IntoView {
    move || {
        draft.refusal.get().map(|error| {
            let words = match &error {
                AppError::Rejected(Rejection {
                    reason: Reason::SampleSets(problem),
                    ..
                }) => {
                    let name = draft.name_of_set(*problem);
                    format!("Not saved. {}", problem.sentence(name.as_deref()))
                }
                AppError::Rejected(rejection) if !rejection.faulty().is_empty() => {
                    // The preview knows the line of an error.
                    let problem = live.problem.get_untracked();
                    let rule = |field: &Field| match (field, &problem) {
                        (Field::TemplateContent | Field::TemplateData | Field::TemplateTranslations, Some(problem)) => {
                            remarks::sentence(problem)
                        }
                        _ => field.rule().to_owned(),
                    };
                    let rules: Vec<_> = rejection.faulty().iter().map(rule).collect();
                    format!("Not saved. {}", rules.join(" "))
                }
                error => format!("Not saved. {error}"),
            };
            view! {
                <div class="workbench__outcome notice notice--bad" role="alert">
                    <Icon glyph=Glyph::Problem />
                    <p>{words}</p>
                </div>
            }
        })
    }
}
