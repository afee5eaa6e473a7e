//! `/dashboard/renders/{id}/structure`: the elements of a document in reading order, one after the other.

use std::iter::Peekable;

use leptos::prelude::*;
use platen_domain::{
    ids::RenderId,
    number::counted,
    render::structure::{DocumentStructure, MissingStructure, RenderStructure, StructureElement},
};

use crate::{
    error::AppError,
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::render::short_id,
    pages::{query::id_in_path, renders},
    ui::button::ButtonLink,
};

/// Depth up to which elements are indented. Deeper ones are listed at this depth.
const DEEPEST: usize = 12;

/// The page of the structure of a render's document.
#[component]
pub fn Structure() -> impl IntoView {
    let id = id_in_path(RenderId::parse);
    view! {
        <Shell title="Structure" current=Entry::Renders parent=crumb(&id)>
            {loaded(
                move |backend| async move {
                    let id = id?;
                    Ok((id, backend.render_structure(id).await?))
                },
                |(id, found)| view! { <Found id found /> },
            )}
        </Shell>
    }
}

/// The breadcrumb of a render.
fn crumb(id: &Result<RenderId, AppError>) -> AnyView {
    let id = id.as_ref().ok().map(ToString::to_string);
    id.map(|id| {
        view! {
            <li>
                <a href=format!("{}/{id}", renders::PATH)>{short_id(&id)}</a>
            </li>
        }
    })
    .into_any()
}

#[component]
fn Found(id: RenderId, found: RenderStructure) -> impl IntoView {
    let RenderStructure { url, structure } = found;
    let body = match structure {
        Ok(structure) if structure.elements.is_empty() => {
            view! { <p class="quiet">"The document is not tagged: it has no structure."</p> }.into_any()
        }
        Ok(structure) => view! { <Elements structure url /> }.into_any(),
        Err(missing) => view! { <Missing missing /> }.into_any(),
    };
    view! {
        <PageHead
            title="Structure and reading order"
            lede="The elements of the document, in the order in which assistive technology reads them."
        >
            <ButtonLink href=format!("{}/{id}", renders::PATH)>"Back to the render"</ButtonLink>
        </PageHead>
        {body}
    }
}

#[component]
fn Missing(missing: MissingStructure) -> impl IntoView {
    let hint = missing.may_be_inspected().then(|| {
        view! {
            <p class="quiet">
                <code>"platen inspect --accessibility FILE"</code>
                " shows the structure of a file that you have."
            </p>
        }
    });
    view! {
        <p class="quiet">{missing.reason()}</p>
        {hint}
    }
}

#[component]
fn Elements(structure: DocumentStructure, url: Option<String>) -> impl IntoView {
    let DocumentStructure { elements, is_cut } = structure;
    let count = elements.len();
    let note = if is_cut {
        format!("the first {}", counted(count, "element", "elements"))
    } else {
        counted(count, "element", "elements")
    };
    let context = Context { count, url };
    let list = list(&mut elements.into_iter().zip(1..).peekable(), 0, &context);
    view! {
        <Section heading="Elements" note>
            <p class="small">
                "Select a number, and step through the elements with Next and Previous. "
                <a href="#element-1">"Start with the first one"</a>
            </p>
            <div class="structure">{list}</div>
        </Section>
    }
}

struct Context {
    /// Number of elements.
    count: usize,
    /// Address of the document.
    url: Option<String>,
}

/// Returns the list of the next elements that are at least this deep.
fn list(
    elements: &mut Peekable<impl Iterator<Item = (StructureElement, usize)>>,
    depth: usize,
    context: &Context,
) -> AnyView {
    let mut items = Vec::new();
    while let Some((element, number)) = elements.next_if(|(element, _)| element.depth >= depth) {
        let is_parent = elements.peek().is_some_and(|(next, _)| next.depth > element.depth);
        let children = (is_parent && depth < DEEPEST).then(|| list(elements, depth + 1, context));
        items.push(item(element, number, children, context));
    }
    view! { <ol class="structure__list">{items}</ol> }.into_any()
}

fn item(
    element: StructureElement,
    number: usize,
    children: Option<AnyView>,
    context: &Context,
) -> impl IntoView + use<> {
    let steps = [
        (number > 1).then(|| (number - 1, "Previous")),
        (number < context.count).then(|| (number + 1, "Next")),
    ];
    let steps = steps
        .into_iter()
        .flatten()
        .map(|(number, name)| view! { <a href=format!("#element-{number}")>{name}</a> });
    let open = context.url.as_ref().zip(element.page);
    let open = open.map(|(url, page)| view! { <a href=format!("{url}#page={page}")>{format!("Open page {page}")}</a> });
    let quoted = |name: &str, text: Option<String>| text.map(|text| format!("{name} “{text}”"));
    let facts = [
        quoted("title", element.title),
        element.language,
        quoted("alternative text", element.alternative),
        quoted("replacement text", element.actual_text),
        element.page.map(|page| format!("page {page}")),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    view! {
        <li class="structure__item" id=format!("element-{number}") tabindex="-1">
            <div class="structure__line">
                <a class="structure__number" href=format!("#element-{number}") aria-label=format!("Element {number}")>
                    {number}
                </a>
                <span class="structure__content break">
                    <b>{element.kind}</b>
                    " "
                    {element.text.map(|text| format!("“{text}”"))}
                    <span class="structure__facts">{facts.join(", ")}</span>
                </span>
                <span class="structure__steps">{steps.collect_view()} {open}</span>
            </div>
            {children}
        </li>
    }
}
