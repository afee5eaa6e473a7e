//! Rendered pages. `frontend/elements/page-viewer.ts` adds the toolbar and the page overview, and sizes the pages.

use leptos::prelude::*;
use platen_domain::number::duration;

use super::{
    live::{Live, PAGE_FIELD, Picture, RESOLUTION_FIELD},
    paper::PaperOptions,
    remarks::{Remarks, Violations},
};
use crate::{
    model::template::preview_pdf_path,
    ui::{
        badge::{Badge, State},
        icon::{Glyph, Icon},
    },
};

/// HTML in place of the pages. As a string, because hydration finds no elements inside of `<noscript>`.
const WITHOUT_SCRIPTS: &str =
    "<p>The preview needs JavaScript. Without it, “Open PDF” shows the document with the stamp PREVIEW.</p>";

/// The preview pane.
#[component]
pub(super) fn Viewer(live: Live, id: String, read_only: bool) -> impl IntoView {
    let options_open = RwSignal::new(false);
    view! {
        <section class="pane pane--preview" aria-labelledby="pane-preview">
            <div class="pane__bar">
                <h2 class="pane__name" id="pane-preview">
                    "Preview"
                </h2>
                <div class="viewer__tools"></div>
                <div class="viewer__group pane__spring">
                    <button
                        class="button button--quiet button--small"
                        type="button"
                        aria-expanded=move || options_open.get().to_string()
                        aria-controls="paper"
                        on:click=move |_| options_open.update(|open| *open = !*open)
                    >
                        <Icon glyph=Glyph::Paper />
                        {move || live.paper.read().size.clone()}
                    </button>
                    <button
                        class="button button--quiet button--small"
                        type="submit"
                        formaction=preview_pdf_path(&id)
                        formtarget="_blank"
                        formnovalidate
                        title="Opens the PDF with the stamp PREVIEW"
                        disabled=read_only
                    >
                        "Open PDF"
                    </button>
                </div>
            </div>
            <div class="viewer">
                <PaperOptions live open=options_open />
                <input type="hidden" name=RESOLUTION_FIELD />
                <input type="hidden" name=PAGE_FIELD />
                <page-viewer class="viewer__body">
                    <div class="viewer__overview"></div>
                    <section
                        class=move || {
                            if live.problem.read().is_some() {
                                "viewer__stage viewer__stage--outdated"
                            } else {
                                "viewer__stage"
                            }
                        }
                        tabindex="0"
                        aria-label="Pages of the preview"
                    >
                        <noscript inner_html=WITHOUT_SCRIPTS></noscript>
                        <Pages live />
                    </section>
                </page-viewer>
                <Remarks live root=live.root() />
                <Violations live root=live.root() />
                <Status live />
            </div>
        </section>
    }
}

#[component]
fn Pages(live: Live) -> impl IntoView {
    let numbered = move || live.pages.get().into_iter().enumerate().collect::<Vec<_>>();
    view! {
        <For
            each=numbered
            key=|(index, _)| *index
            children=move |(index, picture)| {
                let number = index + 1;
                let image = move || picture.get().map(|picture| view! { <Page number picture /> });
                view! { <div class="viewer__page page-frame">{image}</div> }
            }
        />
    }
}

#[component]
fn Page(number: usize, picture: Picture) -> impl IntoView {
    view! {
        <img
            class="page-image page-image--marked"
            src=picture.source
            width=picture.width
            height=picture.height
            data-dots=picture.dots_per_inch
            alt=format!("Page {number} of the preview")
            title="Click to show the source"
        />
    }
}

#[component]
fn Status(live: Live) -> impl IntoView {
    let status = move || {
        if let Some(error) = live.trouble.get() {
            return view! { <Badge state=State::Bad>{error.to_string()}</Badge> }.into_any();
        }
        let rendered = live.rendered.get();
        if live.problem.read().is_some() {
            let last = rendered.map(|_| view! { <span>"The pages show the last version without errors."</span> });
            return view! {
                <Badge state=State::Bad>"Not rendered"</Badge>
                {last}
            }
            .into_any();
        }
        let Some(rendered) = rendered else {
            return view! { <span>"Rendering…"</span> }.into_any();
        };
        let pages = match rendered.pages {
            1 => "1 page".to_owned(),
            pages => format!("{pages} pages"),
        };
        let conformance = rendered
            .conformance
            .map(|standards| view! { <span>"Conforms to " {standards}</span> });
        view! {
            <Badge state=State::Good>{format!("Rendered in {}", duration(rendered.milliseconds as f64))}</Badge>
            <span>{pages}</span>
            <span>{format!("{} KB", rendered.bytes.div_ceil(1024))}</span>
            {conformance}
        }
        .into_any()
    };
    view! {
        <div class="viewer__status">
            <p class="viewer__facts">{status}</p>
            // Written by page-viewer.ts.
            <p class="viewer__message" role="status"></p>
        </div>
    }
}
