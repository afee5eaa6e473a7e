//! The result of the last request.

use leptos::{either::EitherOf4, prelude::*};
use platen_domain::number::{duration, grouped};

use super::fields::{Problem, Problems};

use crate::{
    error::AppError,
    model::playground::{Content, Played},
    ui::{
        badge::{Badge, State},
        button::{Button, Size},
        icon::{Glyph, Icon},
        notice::ErrorNotice,
    },
};

/// Progress of the last request.
#[derive(Debug, Clone)]
pub(super) enum Trial {
    /// No request has been sent.
    None,
    /// The response is pending.
    Pending,
    /// The API has responded.
    Answered(Played),
    /// The request did not reach the API.
    Failed(AppError),
}

/// Returns the validation errors of a response that have a JSON pointer.
pub(super) fn problems_of(content: &Content) -> Vec<Problem> {
    let Content::Json(answer) = content else {
        return Vec::new();
    };
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let problem = |error: &serde_json::Value| {
        Some(Problem {
            pointer: error["source"]["pointer"].as_str()?.to_owned(),
            detail: error["detail"].as_str()?.to_owned(),
        })
    };
    errors.iter().filter_map(problem).collect()
}

/// Shows the progress or the result of the last request.
#[component]
pub(super) fn Outcome(trial: RwSignal<Trial>) -> impl IntoView {
    move || match trial.get() {
        Trial::None => EitherOf4::A(view! {
            <div class="empty">
                <p>"No render yet. The document appears here."</p>
            </div>
        }),
        Trial::Pending => EitherOf4::B(view! {
            <div class="playground__stage" role="status">
                <div class="skeleton skeleton--page"></div>
                <span class="visually-hidden">"Rendering"</span>
            </div>
        }),
        Trial::Failed(error) => EitherOf4::C(view! { <ErrorNotice error /> }),
        Trial::Answered(played) => EitherOf4::D(view! { <Answer played /> }),
    }
}

#[component]
fn Answer(played: Played) -> impl IntoView {
    let good = played.status < 400;
    let problems = expect_context::<Problems>().0.get_untracked();
    let problems = problems.into_iter().map(|problem| {
        view! {
            <li>
                <code>{if problem.pointer.is_empty() { "/".to_owned() } else { problem.pointer }}</code>
                " "
                {problem.detail}
            </li>
        }
    });
    let problems = problems.collect::<Vec<_>>();
    let headers = played.headers.into_iter().map(|(name, value)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{value}</td>
            </tr>
        }
    });
    let render = played.render.map(|id| {
        view! {
            <p class="small">
                <a href=format!("/dashboard/renders/{id}")>"View render"</a>
                ": phases, requests, console"
            </p>
        }
    });
    view! {
        <div class="stack">
            <div class="cluster cluster--spread" role="status">
                <Badge state=if good { State::Good } else { State::Bad }>{played.status}</Badge>
                <span class="small quiet">{duration(played.milliseconds as f64)}</span>
            </div>
            {(!problems.is_empty())
                .then(|| {
                    view! {
                        <div class="form-errors">
                            <p class="form-errors__title">"The request was rejected."</p>
                            <ul>{problems}</ul>
                        </div>
                    }
                })}
            <Body content=played.content />
            {render}
            <table class="table table--dense">
                <caption>"Response headers"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Header"</th>
                        <th scope="col">"Value"</th>
                    </tr>
                </thead>
                <tbody>{headers.collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Body(content: Content) -> impl IntoView {
    match content {
        Content::Json(json) => leptos::either::Either::Left(view! {
            <div class="code">
                <div class="code__bar">
                    <span>"Body"</span>
                </div>
                <pre class="code__body code__body--wrap" tabindex="0" role="group" aria-label="Response body">
                    <code>{json}</code>
                </pre>
            </div>
        }),
        Content::Pdf {
            document,
            bytes,
            page_count,
            pages,
        } => leptos::either::Either::Right(view! { <Document document bytes page_count pages /> }),
    }
}

/// The pages one by one, and a link that downloads the document.
#[component]
fn Document(document: String, bytes: usize, page_count: usize, pages: Vec<String>) -> impl IntoView {
    let shown = pages.len();
    let page = RwSignal::new(0);
    let pages = StoredValue::new(pages);
    let picture = move || {
        let source = pages.with_value(|pages| pages.get(page.get()).map(|png| format!("data:image/png;base64,{png}")));
        source.map(|source| {
            let alt = format!("Page {} of {page_count}", page.get() + 1);
            view! {
                <div class="playground__stage">
                    <div class="page-frame">
                        <img class="page-image page-image--marked" src=source alt=alt />
                    </div>
                </div>
            }
        })
    };
    let size = grouped(i64::try_from(bytes.div_ceil(1024)).unwrap_or(i64::MAX));
    view! {
        {picture}
        <div class="cluster cluster--spread">
            <div class="viewer__group small">
                <Button
                    size=Size::Small
                    label="Previous page"
                    on_press=move || page.update(|page| *page = page.saturating_sub(1))
                >
                    <Icon glyph=Glyph::Previous />
                </Button>
                <span aria-live="polite">{move || format!("Page {} of {page_count}", page.get() + 1)}</span>
                <Button
                    size=Size::Small
                    label="Next page"
                    on_press=move || page.update(|page| *page = (*page + 1).min(shown.saturating_sub(1)))
                >
                    <Icon glyph=Glyph::Next />
                </Button>
            </div>
            <a
                class="button button--small"
                href=format!("data:application/pdf;base64,{document}")
                download="document.pdf"
            >
                <Icon glyph=Glyph::Download />
                "Download, "
                {size}
                " KB"
            </a>
        </div>
        {(page_count > shown)
            .then(|| view! { <p class="small quiet">{format!("Showing the first {shown} pages.")}</p> })}
    }
}
