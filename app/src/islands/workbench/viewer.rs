//! Rendered pages, with navigation, zoom and options.

use leptos::{html, prelude::*};
use platen_domain::number::duration;

use super::{
    live::{Live, Picture, STYLE_DOTS, ZOOMS},
    paper::PaperOptions,
    remarks::Remarks,
};
use crate::ui::{
    badge::{Badge, State},
    icon::{Glyph, Icon},
};

/// An icon button of the toolbar.
#[component]
fn Tool(
    label: &'static str,
    glyph: Glyph,
    #[prop(into)] disabled: Signal<bool>,
    on_press: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <button
            class="button button--quiet button--icon button--small"
            type="button"
            aria-label=label
            title=label
            disabled=move || disabled.get()
            on:click=move |_| on_press()
        >
            <Icon glyph=glyph />
        </button>
    }
}

/// HTML in place of the pages. As a string, because hydration finds no elements inside of `<noscript>`.
const WITHOUT_SCRIPTS: &str = "<p>The preview needs JavaScript. To get the PDF without it, publish the template and send the request shown by “Use in API”.</p>";

/// The preview pane.
#[component]
pub(super) fn Viewer(live: Live) -> impl IntoView {
    let stage = NodeRef::<html::Section>::new();
    let options_open = RwSignal::new(false);
    let count = move || live.pages.read().len();
    let position = move || match count() {
        0 => "No page yet".to_owned(),
        count => format!("Page {} of {count}", live.page.get()),
    };
    let turn_to = move |page: usize| {
        live.page.set(page);
        if let Some(page) = document().get_element_by_id(&page_id(page)) {
            page.scroll_into_view();
        }
    };
    let size = move || match live.zoom.get().and_then(|zoom| ZOOMS.get(zoom)) {
        Some(zoom) => format!("{zoom} %"),
        None => "Fit".to_owned(),
    };
    // From the fitted size, the first step leads to 50 % or 100 %, the ends of what is usual on a screen.
    let smaller = move || live.set_zoom(Some(live.zoom.get_untracked().map_or(0, |zoom| zoom.saturating_sub(1))));
    let larger = move || live.set_zoom(Some(live.zoom.get_untracked().map_or(2, |zoom| zoom + 1)));
    let smallest = Signal::derive(move || live.zoom.get() == Some(0));
    let largest = Signal::derive(move || live.zoom.get() == Some(ZOOMS.len() - 1));
    view! {
        <section class="pane pane--preview" aria-labelledby="pane-preview">
            <div class="pane__bar">
                <h2 class="pane__name" id="pane-preview">
                    "Preview"
                </h2>
                <div class="viewer__group">
                    <Tool
                        label="Previous page"
                        glyph=Glyph::Previous
                        disabled=Signal::derive(move || live.page.get() <= 1)
                        on_press=move || turn_to(live.page.get_untracked().saturating_sub(1).max(1))
                    />
                    <span>{position}</span>
                    <Tool
                        label="Next page"
                        glyph=Glyph::Next
                        disabled=Signal::derive(move || live.page.get() >= count())
                        on_press=move || turn_to(live.page.get_untracked() + 1)
                    />
                </div>
                <div class="viewer__group pane__spring">
                    <Tool label="Smaller" glyph=Glyph::Less disabled=smallest on_press=smaller />
                    <span>{size}</span>
                    <Tool label="Larger" glyph=Glyph::Add disabled=largest on_press=larger />
                    <Tool
                        label="Fit the page"
                        glyph=Glyph::Corners
                        disabled=Signal::derive(move || live.zoom.get().is_none())
                        on_press=move || live.set_zoom(None)
                    />
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
                </div>
            </div>
            <div class="viewer">
                <PaperOptions live open=options_open />
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
                    node_ref=stage
                    on:scroll=move |_| note_page(live, stage)
                >
                    <noscript inner_html=WITHOUT_SCRIPTS></noscript>
                    <Pages live />
                </section>
                <Remarks live root=live.root() />
                <Status live />
            </div>
        </section>
    }
}

fn page_id(page: usize) -> String {
    format!("preview-page-{page}")
}

/// Updates the number of the visible page: the last one that begins above the middle of the stage.
fn note_page(live: Live, stage: NodeRef<html::Section>) {
    let Some(stage) = stage.get_untracked() else { return };
    let bounds = stage.get_bounding_client_rect();
    let middle = bounds.top() + bounds.height() / 2.0;
    let begins_above = |page: &usize| {
        let element = document().get_element_by_id(&page_id(*page));
        element.is_some_and(|element| element.get_bounding_client_rect().top() < middle)
    };
    let count = live.pages.read_untracked().len();
    let page = (1..=count).rev().find(begins_above).unwrap_or(1);
    if live.page.get_untracked() != page {
        live.page.set(page);
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
                let is_fitted = move || live.zoom.get().is_none();
                let image = move || picture.get().map(|picture| view! { <Page live number picture /> });
                view! {
                    <div
                        class=move || {
                            if is_fitted() {
                                "viewer__page page-frame"
                            } else {
                                "viewer__page viewer__page--sized page-frame"
                            }
                        }
                        id=page_id(number)
                    >
                        {image}
                    </div>
                }
            }
        />
    }
}

#[component]
fn Page(live: Live, number: usize, picture: Picture) -> impl IntoView {
    let scale = move || {
        let zoom = live.zoom.get().and_then(|zoom| ZOOMS.get(zoom));
        STYLE_DOTS * f64::from(zoom.copied().unwrap_or(100)) / 100.0
    };
    let class = move || {
        if live.zoom.get().is_none() {
            "page-image page-image--marked"
        } else {
            "viewer__picture"
        }
    };
    view! {
        <img
            class=class
            src=picture.source
            width=move || (picture.width * scale()).round() as u32
            height=move || (picture.height * scale()).round() as u32
            alt=format!("Page {number} of the preview")
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
            .map(|standard| view! { <span>{standard} " conforms"</span> });
        view! {
            <Badge state=State::Good>{format!("Rendered in {}", duration(rendered.milliseconds as f64))}</Badge>
            <span>{pages}</span>
            <span>{format!("{} KB", rendered.bytes.div_ceil(1024))}</span>
            {conformance}
        }
        .into_any()
    };
    view! { <p class="viewer__status">{status}</p> }
}
