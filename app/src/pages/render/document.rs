//! The document of a render.

use leptos::{either::Either, prelude::*};
use platen_domain::{
    ids::RenderId,
    number::{grouped, size},
    render::{
        detail::{Document, RenderDetail, ValidLinks},
        history::RenderMode,
        thumbnail::{ListedThumbnail, Pictures},
    },
    role::Permission,
};

use crate::{
    layout::page::{IfMay, Section},
    outcome::{ButtonForm, Outcome},
    pages::{render::api::RevokeLinks, renders},
    ui::{
        badge::{Badge, State},
        button::{Size, SubmitButton},
        icon::Glyph,
        moment::Moment,
    },
};

/// Thumbnails of the first pages.
#[component]
pub fn Pages(
    document: Document,
    /// The render of the document.
    render: RenderDetail,
) -> impl IntoView {
    let (id, keeps) = (render.id, render.keeps_content);
    let (pages, url) = (document.pages, document.url);
    let body = match document.pictures {
        Pictures::Drawn(pictures) => {
            let shown = pictures.len();
            let items = pictures
                .into_iter()
                .map(|picture| thumbnail(picture, id, url.as_deref()));
            let more = usize::try_from(pages).is_ok_and(|pages| pages > shown);
            Either::Left(view! {
                <div class="thumbs">{items.collect_view()}</div>
                {more
                    .then(|| view! { <p class="form-foot quiet small">{format!("The first {shown} of {pages} pages.")}</p> })}
            })
        }
        Pictures::Coming => Either::Right(nothing("Thumbnails are being created. Reload the page in a moment.")),
        Pictures::None if keeps && render.mode == RenderMode::Sync => Either::Right(nothing(
            "No thumbnails. For synchronous renders, they are created only while a page of the dashboard is open, and \
             Platen is not busy.",
        )),
        Pictures::None if keeps => Either::Right(nothing(
            "No thumbnails. They can be created only while Platen stores the document. Very large documents have none.",
        )),
        Pictures::None => Either::Right(nothing("This account doesn’t store thumbnails.")),
    };
    view! {
        <Section heading="Pages" note=grouped(pages.into())>
            {body}
        </Section>
    }
}

fn nothing(why: &'static str) -> impl IntoView {
    view! { <p class="quiet">{why}</p> }
}

/// Thumbnail of a page. While the document is available, it links to this page of it.
fn thumbnail(picture: ListedThumbnail, render: RenderId, url: Option<&str>) -> impl IntoView + use<> {
    let source = format!("{}/{render}/pages/{}.png", renders::PATH, picture.page);
    let image = view! {
        <img
            class="page-image"
            src=source
            width=picture.width.to_string()
            height=picture.height.to_string()
            alt=""
            loading="lazy"
        />
        <span>{format!("Page {}", picture.page)}</span>
    };
    match url {
        Some(url) => Either::Left(view! {
            <a class="thumbs__item" href=format!("{url}#page={}", picture.page)>
                {image}
            </a>
        }),
        None => Either::Right(view! { <div class="thumbs__item">{image}</div> }),
    }
}

/// Properties of the document and of its request.
#[component]
pub fn Facts(
    document: Document,
    /// The render of the document.
    render: RenderDetail,
) -> impl IntoView {
    let archive = match document.conformance {
        Some(standards) => {
            Either::Left(view! { <Badge state=State::Good>{format!("Conforms to {standards}")}</Badge> })
        }
        None => Either::Right("plain PDF, not checked"),
    };
    view! {
        <Section heading="Document">
            <dl class="pairs">
                <dt>"Conformance"</dt>
                <dd>{archive}</dd>
                {document.title.map(|title| pair("Title", title))}
                <dt>"Size"</dt>
                <dd>{size(document.bytes)}</dd>
                {document.place.map(|place| pair("Stored at", view! { <code>{place}</code> }))}
                {document.expires_at.map(|at| pair("Stored until", view! { <Moment at /> }))}
                {document.links.map(|links| pair("Links", view! { <Links links id=render.id /> }))}
                {render.key.map(|key| pair("API key", key))}
                {render.idempotency_key.map(|key| pair("Idempotency key", view! { <code>{key}</code> }))}
            </dl>
            {(render.mode == RenderMode::Sync)
                .then(|| {
                    view! {
                        <p class="form-foot quiet small">
                            "The document was returned in the response to the request, and is not stored. Asynchronous renders store their documents."
                        </p>
                    }
                })}
        </Section>
    }
}

/// The valid links to a document. Members can revoke them, for instance after a mail to the wrong address.
#[component]
fn Links(links: ValidLinks, id: RenderId) -> impl IntoView {
    let valid = match links.count {
        1 => "1 valid, until ".to_owned(),
        count => format!("{count} valid, the last until "),
    };
    view! {
        <div class="stack">
            <p>{valid} <Moment at=links.last_expires_at /></p>
            <IfMay permission=Permission::Produce>
                <ButtonForm outcome={Outcome::of::<RevokeLinks>()}>
                    <input type="hidden" name="id" value=id.to_string() />
                    <SubmitButton size=Size::Small icon=Glyph::Close>
                        "Revoke links"
                    </SubmitButton>
                </ButtonForm>
            </IfMay>
        </div>
    }
}

fn pair(name: &'static str, value: impl IntoView) -> impl IntoView {
    view! {
        <dt>{name}</dt>
        <dd>{value}</dd>
    }
}
