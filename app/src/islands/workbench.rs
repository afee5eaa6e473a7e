//! The template editor, with a live preview.

pub mod api;
mod draft;
pub mod live;
pub mod note;
mod paper;
mod publication;
mod remarks;
mod viewer;

use leptos::{ev, html, prelude::*, server_fn::ServerFn};
use platen_domain::editor::Pane;
use web_sys::{BeforeUnloadEvent, KeyboardEvent, SubmitEvent};

use self::{
    api::SaveTemplate,
    draft::{Draft, PublicationNotice, Refusal, SaveStatus},
    live::Live,
    publication::{Publication, PublishDialog},
    viewer::Viewer,
};
use crate::{
    csrf::CsrfField,
    model::template::{comparison_path, versions_path},
    ui::{
        button::{ButtonLink, OpenButton, Rank, Size},
        icon::Glyph,
    },
};

/// The editor around its two input panes. Without JavaScript it is a form that saves the template.
#[island]
pub fn Workbench(
    /// Id of the template.
    id: String,
    /// Name of the template in its newest version.
    name: String,
    /// Number of the newest version.
    newest: i32,
    /// Number of the published version.
    published: i32,
    /// The renders that use published versions, as the beginning of a sentence.
    audience: String,
    /// Whether the account is read-only, so that nothing can be saved.
    read_only: bool,
    /// Two panes with the fields `content`, `data` and `translations`.
    children: Children,
) -> impl IntoView {
    let root = NodeRef::<html::Form>::new();
    let draft = Draft::new(id.clone(), newest, published, root);
    let live = Live::new(id.clone(), root);
    let publication = Publication::new(id.clone(), root);
    Effect::new(move || {
        // Shows the preview before anything is typed.
        live.render();
        window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if (event.ctrl_key() || event.meta_key()) && event.key().eq_ignore_ascii_case("s") {
                event.prevent_default();
                draft.save(false);
            }
        });
        window_event_listener(ev::beforeunload, move |event: BeforeUnloadEvent| {
            if draft.is_unsaved() {
                event.prevent_default();
            }
        });
    });
    let typed = move |event: ev::Event| {
        if draft.note(&event) {
            live.render_soon();
        }
    };
    let submit = move |event: SubmitEvent| {
        let attribute = |name| event.submitter().and_then(|button| button.get_attribute(name));
        // “Open PDF” submits the form to a new tab.
        if attribute("formtarget").is_some() {
            return;
        }
        event.prevent_default();
        draft.save(attribute("name").as_deref() == Some("publish"));
    };
    let title = name.clone();
    let comparison = (newest > published).then(|| comparison_path(&id, published, newest));
    view! {
        <form
            class="workbench"
            method="post"
            action=SaveTemplate::url()
            node_ref=root
            on:input=typed
            on:submit=submit
        >
            <CsrfField />
            <input type="hidden" name="id" value=id.clone() />
            <input type="hidden" name="seen" value=newest />
            <div class="workbench__head">
                <div class="workbench__title">
                    <h1 class="visually-hidden">{title}</h1>
                    <input
                        class="input workbench__name"
                        type="text"
                        name="template_name"
                        value=name
                        maxlength="200"
                        autocomplete="off"
                        aria-label="Name of the template"
                        required
                    />
                    <SaveStatus draft />
                </div>
                <div class="workbench__actions">
                    <ButtonLink href=versions_path(&id) rank=Rank::Quiet size=Size::Small icon=Glyph::Clock>
                        "Versions"
                    </ButtonLink>
                    <OpenButton dialog="use" rank=Rank::Quiet size=Size::Small icon=Glyph::Tags reads=true>
                        "Use in API"
                    </OpenButton>
                    <button class="button button--small" type="submit" title="Ctrl+S" disabled=read_only>
                        "Save"
                    </button>
                    {(!read_only)
                        .then(|| {
                            view! {
                                <button
                                    class="button button--primary button--small"
                                    type="button"
                                    command="show-modal"
                                    commandfor="publish"
                                    on:click=move |_| publication.load()
                                >
                                    "Publish"
                                </button>
                            }
                        })}
                </div>
                <Refusal draft live />
                <PublicationNotice draft audience=audience.clone() />
            </div>
            <PaneTabs live />
            <div class="workbench__panes">
                {children()} <pane-splitter axis="columns" label="Width of the editors"></pane-splitter>
                <pane-splitter axis="rows" label="Height of the HTML pane"></pane-splitter> <Viewer live id=id.clone() read_only />
            </div>
            <PublishDialog id draft live publication audience comparison />
        </form>
    }
}

/// Tabs that select a pane on screens with room for only one.
#[component]
fn PaneTabs(live: Live) -> impl IntoView {
    let tabs = [
        ("html", "HTML", &[Pane::Content] as &[_]),
        ("data", "Data", &[Pane::Data, Pane::Translations]),
        ("preview", "Preview", &[]),
    ];
    let tabs = tabs.map(|(value, label, panes)| {
        let count = move || {
            let count = live.remarks_in(panes);
            (count > 0).then(|| {
                view! {
                    <span class="workbench__count">
                        {count} <span class="visually-hidden">" errors or warnings"</span>
                    </span>
                }
            })
        };
        view! {
            <label class="workbench__tab">
                <input type="radio" name="pane" value=value checked=value == "preview" />
                {label}
                {count}
            </label>
        }
    });
    view! {
        <fieldset class="workbench__tabs">
            <legend class="visually-hidden">"Pane"</legend>
            {tabs.into_iter().collect_view()}
        </fieldset>
    }
}
