//! Errors and warnings, listed below the pages and marked in the editors, and violations of PDF/A-2a and PDF/UA-1.

use std::iter;

use leptos::{html, prelude::*, wasm_bindgen::JsCast};
use platen_domain::{
    editor::{Pane, Place, Remark},
    number::counted,
};
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

/// Marks the places of `remarks` in the editors, and removes all earlier markers.
pub(super) fn mark(root: NodeRef<html::Form>, remarks: &[Remark], is_problem: bool) {
    let severity = if is_problem { "error" } else { "warning" };
    for pane in [Pane::Content, Pane::Data, Pane::Translations] {
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
            Pane::Translations => format!("Translations, line {line}: {text}"),
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
    let choices: &[&str] = match place.pane {
        Pane::Content => &["[name=pane][value=html]"],
        Pane::Data => &["[name=pane][value=data]", "[name=lower][value=sample-data]"],
        Pane::Translations => &["[name=pane][value=data]", "[name=lower][value=translations]"],
    };
    for choice in choices {
        let choice = form.query_selector(choice).ok().flatten();
        if let Some(choice) = choice.and_then(|choice| choice.dyn_into::<HtmlInputElement>().ok()) {
            choice.set_checked(true);
        }
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
    let link = remark.place.map(|place| {
        let line = match place.pane {
            Pane::Content => format!("line {}", place.line),
            Pane::Data => format!("data, line {}", place.line),
            Pane::Translations => format!("translations, line {}", place.line),
        };
        Link {
            text: line,
            follow: Box::new(move || go_to(root, place)),
        }
    });
    item(remark.subject, remark.message, remark.lacks_font, link)
}

/// A button at the end of an item.
struct Link {
    text: String,
    follow: Box<dyn Fn()>,
}

fn item(subject: Option<String>, message: String, lacks_font: bool, link: Option<Link>) -> impl IntoView {
    let fonts = lacks_font.then(|| view! { <a href="/dashboard/fonts">"Fonts"</a> });
    let subject = subject.map(|subject| view! { <b>{subject}</b> " " });
    let link = link.map(|Link { text, follow }| {
        view! {
            <button class="text-button" type="button" on:click=move |_| follow()>
                {text}
            </button>
        }
    });
    view! {
        <li class="warnings__item">
            <Icon glyph=Glyph::Warning />
            <span>{subject} {message} " " {fonts}</span>
            {link}
        </li>
    }
}

/// Lists what prevents PDF/A-2a or PDF/UA-1, and texts with low contrast, each with a button that goes to its source, or
/// else to its page.
#[component]
pub(super) fn Violations(live: Live, root: NodeRef<html::Form>) -> impl IntoView {
    let listed = move || {
        let rendered = live.rendered.get().filter(|_| live.problem.read().is_none());
        rendered.filter(|rendered| !rendered.violations.is_empty())
    };
    let heading = move || {
        let count = listed().map_or(0, |rendered| rendered.violations.len() + rendered.more_violations);
        format!("Accessibility: {}", counted(count, "finding", "findings"))
    };
    let items = move || {
        let rendered = listed()?;
        let items = rendered.violations.into_iter().map(|violation| {
            let link = violation.page.map(|page| Link {
                text: format!("page {page}"),
                follow: Box::new(move || show(root, page, violation.rectangle)),
            });
            item(violation.subject, violation.remedy, false, link)
        });
        let more = (rendered.more_violations > 0).then(|| {
            view! { <li class="warnings__more">{format!("and {} more", rendered.more_violations)}</li> }
        });
        Some((items.collect_view(), more))
    };
    view! {
        <Show when=move || listed().is_some()>
            <details class="warnings" open>
                <summary>{heading}</summary>
                <ul class="warnings__list">{items}</ul>
            </details>
        </Show>
    }
}

/// Makes `frontend/elements/page-viewer.ts` show the source of a place on a page, or else the page.
fn show(root: NodeRef<html::Form>, page: usize, rectangle: Option<[i32; 4]>) {
    let viewer = root
        .get_untracked()
        .and_then(|root| root.query_selector("page-viewer").ok()?);
    let numbers = iter::once(page.to_string()).chain(rectangle.into_iter().flatten().map(|corner| corner.to_string()));
    if let Some(viewer) = viewer {
        let _ = viewer.set_attribute("go-to", &numbers.collect::<Vec<_>>().join(" "));
    }
}
