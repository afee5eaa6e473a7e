//! Content that is loaded from the services.

use std::{future::Future, sync::Arc};

use leptos::{either::Either, prelude::*};

use crate::{
    backend::{Backend, backend},
    error::AppError,
    ui::notice::ErrorNotice,
};

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
