//! Details of one render.

use platen_domain::{
    caller::Access,
    ids::{AccountId, RenderId, TemplateId},
    render::{
        content::MissingContent,
        detail::{
            Callback, Document, Failure, Message, RenderDetail, RenderedTemplate, Request, RequestOutcome, ValidLinks,
        },
        history::RenderState,
        thumbnail::Pictures,
    },
    sentence::sentence,
};
use platen_engine::network_error::explain;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    clock,
    service::{
        Services,
        renders::{
            accessibility, history, links,
            log::{self, Templates, sources, summary},
            request::{self, RequestContent},
            thumbnails,
            timeline::timeline,
        },
    },
    store::{
        accounts,
        callbacks::CallbackHistory,
        deliveries, download_links,
        error::StoreError,
        renders::{
            history::Render,
            log::{RenderOrigin, find_origin},
        },
    },
};

/// Returns the details of a render as far as `access` permits, or `None` if the account has no such render.
pub async fn find(
    app: &Services,
    account: AccountId,
    access: Access,
    id: RenderId,
) -> Result<Option<RenderDetail>, StoreError> {
    let Some((mut render, callback)) = history::find(&app.db, account, id, None).await? else {
        return Ok(None);
    };
    let (Ok(state), Ok(mode)) = (render.state.parse(), render.mode.parse()) else {
        return Ok(None);
    };
    let pictures = match state {
        RenderState::Succeeded => thumbnails::list(app, account, id).await?,
        _ => Pictures::None,
    };
    let RenderOrigin {
        key_name,
        idempotency_key,
    } = find_origin(&app.db, account, id).await?.unwrap_or_default();
    let parts = render.options["parts"].take();
    let templates = log::templates_of(&app.db, account, std::iter::once(&parts)).await?;
    let sources = sources(&parts, &templates);
    let templates = rendered_templates(&parts, &templates);
    render.options["parts"] = parts;
    let content = match access {
        Access::Full | Access::Suspended => request::find(app, account, &render).await?,
        // Not even decrypted.
        Access::Looking => Err(MissingContent::Hidden),
    };
    let accessibility = match access {
        Access::Full | Access::Suspended => accessibility::find(app, account, &render).await?,
        Access::Looking => accessibility::without_content(&render),
    };
    let links = match render.object_expires_at {
        Some(_) => download_links::find_valid(&app.db, account, id, clock::now()).await?,
        None => None,
    };
    let next = deliveries::find_next_try(&app.db, account, id).await?;
    let error = render.error.as_ref().map(failure);
    let failed_in = error.as_ref().and_then(|error| error.phase);
    let first = callback.as_ref().and_then(|callback| callback.attempts.first());
    let detail = RenderDetail {
        id,
        name: render.title.clone().unwrap_or_else(|| summary(&sources)),
        state,
        mode,
        live: render.livemode,
        at: render.inserted_at,
        credits: render.credits,
        timeline: timeline(&render, first, failed_in),
        warnings: texts(&render.warnings, "message")
            .map(|message| sentence(&message))
            .collect(),
        requests: list(&render.requests).map(network_request).collect(),
        console: list(&render.console).map(message).collect(),
        keeps_content: accounts::keeps_content(&app.db, account).await?,
        key: key_name,
        idempotency_key,
        callback: callback.map(|callback| shown_callback(callback, &render.options, next)),
        options: options(&render.options),
        content: content.map(RequestContent::into_shown),
        document: document(&render, links, pictures),
        accessibility,
        sources,
        templates,
        error,
    };
    Ok(Some(match access {
        Access::Full | Access::Suspended => detail,
        Access::Looking => without_content(detail),
    }))
}

/// Returns the templates among the parts that the account has, or had.
fn rendered_templates(parts: &Value, known: &Templates) -> Vec<RenderedTemplate> {
    let parts = list(parts).enumerate();
    let templates = parts.filter_map(|(part, of_part)| {
        let id = of_part["template_id"].as_str()?;
        let known = known.get(id)?;
        Some(RenderedTemplate {
            part,
            id: TemplateId::parse(id)?,
            name: known.name.clone(),
            version: of_part["version"].as_i64(),
            exists: known.exists,
            newest: known.newest,
        })
    });
    templates.collect()
}

/// Returns the options of a request other than its parts.
fn options(options: &Value) -> Vec<(String, String)> {
    let options = options.as_object().into_iter().flatten();
    let options = options.filter(|(name, _)| *name != "parts");
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    options.map(|(name, option)| (name.clone(), value(option))).collect()
}

/// Returns what operators see during impersonation: neither the document nor console messages.
fn without_content(detail: RenderDetail) -> RenderDetail {
    RenderDetail {
        document: detail.document.map(|document| Document {
            url: None,
            pictures: Pictures::None,
            ..document
        }),
        console: Vec::new(),
        ..detail
    }
}

fn document(render: &Render, links: Option<ValidLinks>, pictures: Pictures) -> Option<Document> {
    Some(Document {
        title: render.title.clone(),
        pages: render.page_count?,
        bytes: render.bytes.unwrap_or_default(),
        conformance: render.conformance.clone(),
        place: place(render),
        url: url(render),
        expires_at: render.object_expires_at,
        links,
        pictures,
    })
}

/// Returns the address from which members of the account can download a document in the default storage, until the service deletes
/// it.
pub(super) fn url(render: &Render) -> Option<String> {
    let address = text(render.object_expires_at.and(render.result.as_ref())?, "mediaLink")?;
    // Its link may have expired, or been revoked.
    let is_link = links::is_link(&address);
    Some(if is_link {
        format!("/dashboard/renders/{}/document.pdf", render.id)
    } else {
        address
    })
}

/// Returns the location of the document, as the store's tools write it.
fn place(render: &Render) -> Option<String> {
    let destination = render.options.get("destination");
    let Some(destination) = destination else {
        let result = render.result.as_ref()?;
        // Documents with links don't show where they are.
        return text(result, "name")
            .filter(|_| !text(result, "mediaLink").is_some_and(|address| links::is_link(&address)));
    };
    let scheme = match destination["provider"].as_str()? {
        "aws_s3" => "s3",
        _ => "gs",
    };
    Some(format!(
        "{scheme}://{}/{}",
        destination["bucket"].as_str()?,
        destination["path"].as_str()?
    ))
}

fn failure(error: &Value) -> Failure {
    Failure {
        message: sentence(error["message"].as_str().unwrap_or("internal error")),
        pointer: text(error, "pointer"),
        phase: error["phase"].as_str().and_then(|phase| phase.parse().ok()),
    }
}

fn network_request(request: &Value) -> Request {
    let status = request["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    Request {
        part: part(request),
        url: text(request, "url").unwrap_or_default(),
        kind: text(request, "type"),
        outcome: match (text(request, "refused"), text(request, "error"), status) {
            (Some(reason), ..) => RequestOutcome::Refused(reason),
            (None, Some(reason), _) => RequestOutcome::Failed(explain(&reason).to_owned()),
            (None, None, Some(status)) => RequestOutcome::Answered(status),
            (None, None, None) => RequestOutcome::Open,
        },
        bytes: request["bytes"].as_i64(),
        took_ms: request["duration_ms"].as_f64(),
    }
}

fn message(message: &Value) -> Message {
    Message {
        part: part(message),
        level: text(message, "level").unwrap_or_default(),
        text: text(message, "text").unwrap_or_default(),
    }
}

fn shown_callback(callback: CallbackHistory, options: &Value, next: Option<OffsetDateTime>) -> Callback {
    Callback {
        address: text(&options["callback"], "url"),
        begun: callback.state != "waiting",
        trying: callback.state == "sending",
        next,
        attempts: callback.attempts,
    }
}

/// Returns the number of the part. Parts are counted from 0 in records, and from 1 in the interface.
fn part(of: &Value) -> u64 {
    of["part"].as_u64().unwrap_or_default() + 1
}

fn list(items: &Value) -> impl Iterator<Item = &Value> {
    items.as_array().into_iter().flatten()
}

fn texts<'a>(items: &'a Value, member: &'a str) -> impl Iterator<Item = String> + 'a {
    list(items).filter_map(move |item| text(item, member))
}

fn text(value: &Value, member: &str) -> Option<String> {
    Some(value[member].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_became_of_a_request() {
        let outcome = |more: Value| {
            let mut whole = json!({"part": 0, "url": "https://a.example/b", "type": "image", "status": null, "bytes": null,
                "duration_ms": null, "error": null, "refused": null});
            for (name, value) in more.as_object().expect("members") {
                whole[name] = value.clone();
            }
            network_request(&whole).outcome
        };
        assert_eq!(outcome(json!({"status": 404})), RequestOutcome::Answered(404));
        assert_eq!(
            outcome(json!({"error": "net::ERR_TUNNEL_CONNECTION_FAILED", "refused": "private"})),
            RequestOutcome::Refused("private".into())
        );
        assert_eq!(
            outcome(json!({"status": 200, "error": "net::ERR_ABORTED"})),
            RequestOutcome::Failed("the page cancelled the request".into())
        );
        assert_eq!(outcome(json!({})), RequestOutcome::Open);
    }
}
