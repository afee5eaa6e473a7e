//! The content of a page: its head, its sections, and what it loads from the services.

use std::{future::Future, sync::Arc};

use leptos::{either::Either, prelude::*};
use platen_domain::role::Permission;

use crate::{
    backend::{Backend, backend},
    error::AppError,
    ui::notice::ErrorNotice,
};

/// The title of a page, what it is about, and its actions.
#[component]
pub fn PageHead(
    #[prop(into)] title: String,
    /// Whether users choose the title, so that it may contain words of any length.
    #[prop(optional)]
    is_chosen: bool,
    /// Introduction in one or two sentences.
    #[prop(optional, into)]
    lede: String,
    /// Facts, each in an element of its own.
    #[prop(optional)]
    facts: Option<AnyView>,
    /// Buttons.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="page-head">
            <div class="page-head__text">
                <h1 class=is_chosen.then_some("break")>{title}</h1>
                {(!lede.is_empty()).then(|| view! { <p class="page-head__lede">{lede}</p> })}
                {facts.map(|facts| view! { <div class="page-head__meta">{facts}</div> })}
            </div>
            {children.map(|children| view! { <div class="page-head__actions">{children()}</div> })}
        </div>
    }
}

/// Arrangement of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SectionKind {
    #[default]
    Plain,
    /// With its heading beside the content.
    Hanging,
    /// As [`Self::Hanging`], for irreversible actions.
    Danger,
}

/// A part of a page under a heading.
#[component]
pub fn Section(
    #[prop(into)] heading: String,
    /// A remark beside the heading.
    #[prop(optional, into)]
    note: String,
    /// Links and buttons beside the heading.
    #[prop(optional)]
    beside: Option<AnyView>,
    /// `id` of the section, for links to it.
    #[prop(optional)]
    id: Option<&'static str>,
    #[prop(optional)] kind: SectionKind,
    /// `class` of the content.
    #[prop(default = "section__body")]
    body: &'static str,
    children: Children,
) -> impl IntoView {
    let class = match kind {
        SectionKind::Plain => "section",
        SectionKind::Hanging => "section section--hanging",
        SectionKind::Danger => "section section--hanging section--danger",
    };
    view! {
        <section class=class id=id>
            <div class="section__head">
                <h2>{heading}</h2>
                {(!note.is_empty()).then(|| view! { <span class="section__note">{note}</span> })}
                {beside}
            </div>
            <div class=body>{children()}</div>
        </section>
    }
}

/// Awaits a call of the services and shows its result. An error sets the status of the page, such as 404 for another
/// account's render.
///
/// ```ignore
/// {loaded(|backend| async move { backend.summary().await }, |summary| view! { <p>{summary.account}</p> })}
/// ```
pub fn loaded<T, V, A>(
    ask: impl FnOnce(Arc<dyn Backend>) -> A,
    show: impl FnOnce(T) -> V + Send + 'static,
) -> impl IntoView
where
    T: Send + 'static,
    A: Future<Output = Result<T, AppError>> + Send + 'static,
    V: IntoView + 'static,
{
    loaded_or(ask, show, |error| view! { <ErrorNotice error /> })
}

/// As [`loaded`], with a custom view of errors.
pub fn loaded_or<T, V, A, E>(
    ask: impl FnOnce(Arc<dyn Backend>) -> A,
    show: impl FnOnce(T) -> V + Send + 'static,
    explain: impl FnOnce(AppError) -> E + Send + 'static,
) -> impl IntoView
where
    T: Send + 'static,
    A: Future<Output = Result<T, AppError>> + Send + 'static,
    V: IntoView + 'static,
    E: IntoView + 'static,
{
    let answer = ask(backend());
    let response = use_context::<leptos_axum::ResponseOptions>();
    Suspend::new(async move {
        match answer.await {
            Ok(found) => Either::Left(show(found)),
            Err(error) => {
                let status = http::StatusCode::from_u16(error.status());
                if let (Some(response), Ok(status)) = (response, status) {
                    response.set_status(status);
                }
                Either::Right(explain(error))
            }
        }
    })
}

/// Shows its children to users whose role includes `permission`.
#[component]
pub fn IfMay(permission: Permission, children: Children) -> impl IntoView {
    loaded_or(
        |backend| async move { backend.role().await },
        move |role| role.may(permission).then(children),
        // The page itself shows the error.
        |_| (),
    )
}
