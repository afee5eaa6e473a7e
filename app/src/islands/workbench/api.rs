//! What the editor of templates asks of the server.

use leptos::{
    prelude::*,
    server_fn::codec::{ByteStream, Json, Streaming},
};

#[cfg(feature = "ssr")]
use crate::{backend::backend, model::template::TemplateForm};
use crate::{
    csrf::PageClient,
    error::AppError,
    model::{live_preview::PreviewWanted, template::SavedTemplate},
};

/// For who is logged in. Without script it is a form, which leads back to its page.
#[server(prefix = "/web", endpoint = "save-template", client = PageClient)]
pub async fn save_template(
    /// Which template.
    id: String,
    /// The newest version that its author knows; without it, whichever it is.
    seen: Option<i32>,
    /// What it is to be called.
    template_name: String,
    /// HTML with places to fill.
    content: String,
    /// Sample data.
    data: String,
    /// There if renders are to use it.
    publish: Option<String>,
) -> Result<SavedTemplate, AppError> {
    let form = TemplateForm {
        id,
        seen,
        name: template_name,
        content,
        data,
        publish: publish.is_some(),
    };
    backend().save_template(form).await
}

/// For who is logged in: events of a preview, a line of JSON each.
#[server(prefix = "/web", endpoint = "preview-template", client = PageClient, input = Json, output = Streaming)]
pub async fn preview_template(
    /// What is typed.
    wanted: PreviewWanted,
) -> Result<ByteStream<AppError>, AppError> {
    use futures::{StreamExt, TryStreamExt};

    let events = backend().preview_template(wanted).await?;
    let lines = events.and_then(|event| async move {
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Ok(line)
    });
    Ok(ByteStream::new(lines.boxed()))
}
