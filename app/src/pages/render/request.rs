//! The request of a render: its parts, its options, and the whole as JSON.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    ids::RenderId,
    number::size,
    render::content::{MissingContent, PartKind, ShownPart, ShownRequest},
};

use crate::{
    layout::page::Section,
    ui::{
        button::{ButtonLink, Size},
        code::Code,
        copy_button::CopyButton,
        icon::Glyph,
        notice::InfoNotice,
    },
};

/// The section of the request. `sources` name its parts.
#[component]
pub fn Request(
    id: RenderId,
    content: Result<ShownRequest, MissingContent>,
    sources: Vec<String>,
    options: Vec<(String, String)>,
) -> impl IntoView {
    let (beside, parts) = match content {
        Ok(request) => {
            let parts = request.parts.into_iter().zip(sources).zip(1..);
            let parts = parts.map(|((part, source), number)| view! { <Part part source number /> });
            let beside = view! { <Actions id json=request.json bytes=request.bytes /> };
            (Some(beside.into_any()), Either::Left(parts.collect_view()))
        }
        Err(missing) => (
            None,
            Either::Right(view! { <InfoNotice>{missing.reason()}</InfoNotice> }),
        ),
    };
    view! {
        <Section heading="Request" id="request">
            <div class="stack">
                {beside} {parts}
                {(!options.is_empty()).then(|| view! { <Options options /> })}
            </div>
        </Section>
    }
}

#[component]
fn Actions(id: RenderId, json: Option<String>, bytes: usize) -> impl IntoView {
    view! {
        <div class="cluster">
            <ButtonLink
                href=format!("/dashboard/renders/{id}/request.json")
                size=Size::Small
                icon=Glyph::Download
            >
                {format!("Download JSON, {}", size_of(bytes))}
            </ButtonLink>
            {json
                .map(|text| {
                    view! { <CopyButton text label="Copy as JSON".to_owned() name="Copy as JSON".to_owned() /> }
                })}
        </div>
    }
}

#[component]
fn Part(part: ShownPart, source: String, number: usize) -> impl IntoView {
    let title = match part.kind {
        PartKind::Html => format!("Part {number}, HTML"),
        PartKind::Url => format!("Part {number}, URL"),
        PartKind::Template => format!("Part {number}, data for {source}"),
    };
    let shown = part.text.len();
    let shortened = (shown < part.bytes).then(|| {
        let (shown, whole) = (size_of(shown), size_of(part.bytes));
        view! { <p class="small quiet">{format!("Showing the first {shown} of {whole}.")}</p> }
    });
    view! {
        <div>
            <Code title=title.clone() label=title text=part.text.clone() class="code--short code--wrap">
                {part.text}
            </Code>
            {shortened}
        </div>
    }
}

#[component]
fn Options(options: Vec<(String, String)>) -> impl IntoView {
    let rows = options.into_iter().map(|(name, value)| {
        view! {
            <tr>
                <th scope="row" class="table__tight">
                    <code>{name}</code>
                </th>
                <td class="break">
                    <code>{value}</code>
                </td>
            </tr>
        }
    });
    view! {
        <table class="table table--dense">
            <caption>"Request options"</caption>
            <thead>
                <tr>
                    <th scope="col">"Option"</th>
                    <th scope="col">"Value"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

fn size_of(bytes: usize) -> String {
    size(i64::try_from(bytes).unwrap_or(i64::MAX))
}
