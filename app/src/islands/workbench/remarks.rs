//! Errors and warnings, listed below the pages and marked in the editors.

use leptos::{html, prelude::*, wasm_bindgen::JsCast};
use platen_domain::editor::{Pane, Place, Remark};
use serde::Serialize;
use web_sys::{Element, HtmlInputElement};

use super::live::Live;
use crate::ui::icon::{Glyph, Icon};

/// A marker, in the format that `frontend/elements/code-editor/markers.ts` reads.
#[derive(Serialize)]
struct Marker<'a> {
    line: usize,
    column: usize,
    length: usize,
    message: String,
    severity: &'a str,
}

/// Marks the places of `remarks` in both panes, and removes all earlier markers.
pub(super) fn mark(root: NodeRef<html::Form>, remarks: &[Remark], is_problem: bool) {
    let severity = if is_problem { "error" } else { "warning" };
    for pane in [Pane::Content, Pane::Data] {
        let markers: Vec<_> = remarks
            .iter()
            .filter_map(|remark| {
                let place = remark.place.filter(|place| place.pane == pane)?;
                Some(Marker {
                    line: place.line,
                    column: place.column,
                    length: place.length,
                    message: remark.text(),
                    severity,
                })
            })
            .collect();
        if let (Some(editor), Ok(markers)) = (editor(root, pane), serde_json::to_string(&markers)) {
            let _ = editor.set_attribute("markers", &markers);
        }
    }
}

/// Returns the sentence about an error, which begins with its line.
pub(super) fn sentence(problem: &Remark) -> String {
    let text = problem.text();
    match problem.place {
        Some(Place { pane, line, .. }) => match pane {
            Pane::Content => format!("Line {line}: {text}"),
            Pane::Data => format!("Sample data, line {line}: {text}"),
        },
        None => text,
    }
}

fn editor(root: NodeRef<html::Form>, pane: Pane) -> Option<Element> {
    let selector = format!("code-editor:has([name={}])", pane.into_str());
    root.get_untracked()?.query_selector(&selector).ok().flatten()
}

/// Shows the pane of a place, and moves the editor there.
fn go_to(root: NodeRef<html::Form>, place: Place) {
    let Some(form) = root.get_untracked() else { return };
    let tab = match place.pane {
        Pane::Content => "html",
        Pane::Data => "data",
    };
    let tab = form.query_selector(&format!("[name=pane][value={tab}]")).ok().flatten();
    if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<HtmlInputElement>().ok()) {
        tab.set_checked(true);
    }
    if let Some(editor) = editor(root, place.pane) {
        let _ = editor.set_attribute("go-to", &format!("{}:{}", place.line, place.column));
    }
}

/// Lists the error or the warnings, each with a button that goes to its line.
#[component]
pub(super) fn Remarks(live: Live, root: NodeRef<html::Form>) -> impl IntoView {
    let heading = move || {
        if live.problem.read().is_some() {
            return "This can’t be rendered yet".to_owned();
        }
        match live.remarks.read().len() {
            1 => "1 warning".to_owned(),
            count => format!("{count} warnings"),
        }
    };
    let items = move || {
        let items = live.listed().into_iter().map(|remark| view! { <Item remark root /> });
        items.collect_view()
    };
    view! {
        <Show when=move || live.problem.read().is_some() || !live.remarks.read().is_empty()>
            <details class="warnings" open>
                <summary>{heading}</summary>
                <ul class="warnings__list">{items}</ul>
            </details>
        </Show>
    }
}

#[component]
fn Item(remark: Remark, root: NodeRef<html::Form>) -> impl IntoView {
    let subject = remark.subject.map(|subject| view! { <b>{subject}</b> " " });
    let place = remark.place.map(|place| {
        let line = match place.pane {
            Pane::Content => format!("line {}", place.line),
            Pane::Data => format!("data, line {}", place.line),
        };
        view! {
            <button class="text-button" type="button" on:click=move |_| go_to(root, place)>
                {line}
            </button>
        }
    });
    view! {
        <li class="warnings__item">
            <Icon glyph=Glyph::Warning />
            <span>{subject} {remark.message}</span>
            {place}
        </li>
    }
}
