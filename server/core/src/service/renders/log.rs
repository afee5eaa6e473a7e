//! Renders of an account in the dashboard: list, search and count.

use std::{collections::HashMap, num::NonZeroU16};

use platen_domain::{
    ids::{AccountId, RenderId, TemplateId},
    page::{Page, PageRequest},
    render::log::{LogFilter, LoggedRender, RenderLine, TextSearch, containing, ids_beginning_with, time_of_id},
    sentence::sentence,
};
use serde_json::Value;
use sqlx::PgPool;
use time::{Date, Duration, OffsetDateTime, UtcOffset};
use uuid::Uuid;

use crate::store::{
    accounts,
    error::StoreError,
    renders::{
        log::{self, KnownTemplate},
        search::{self, SearchRange},
    },
};

/// Renders of a page.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Maximum number of templates that a search by name considers.
const MOST_TEMPLATES: i64 = 100;
/// Maximum number of renders that are counted.
pub const COUNTED: i64 = 10_000;
/// Number of latest renders whose titles are searched while the user types.
const SEARCHED_TITLES: i64 = 1000;
/// Maximum number of renders that are found by title.
const FOUND_TITLES: i64 = 6;
/// Maximum length of an error in the list, in characters. The page of the render shows all of it.
const LONGEST_ERROR: usize = 120;
/// Maximum time between the creation of a render's id and its acceptance.
const BETWEEN_ID_AND_ACCEPTANCE: Duration = Duration::minutes(5);

/// A page of the list.
pub struct RenderList {
    pub page: Page<RenderLine, RenderId>,
    /// Whether the page has all matches among [`SEARCHED`](platen_domain::page::SEARCHED) renders, and older ones may
    /// match as well.
    pub is_partial: bool,
}

/// Returns a page of up to 25 renders, the latest first. `search` is the user's input: the beginning of an id, or a part of a
/// title or of a template's name.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    mut filter: LogFilter,
    search: &str,
    after: Option<RenderId>,
) -> Result<RenderList, StoreError> {
    let search = search.trim();
    if let Some(ids) = ids_beginning_with(search) {
        // Ids contain their time of creation, which limits the rows to search.
        let from = time_of_id(*ids.start()).saturating_sub(BETWEEN_ID_AND_ACCEPTANCE);
        filter.from = filter.from.max(Some(from));
        let until = time_of_id(*ids.end()).saturating_add(BETWEEN_ID_AND_ACCEPTANCE);
        filter.until = Some(filter.until.map_or(until, |given| given.min(until)));
        filter.ids = Some(ids);
    } else if !search.is_empty() {
        let pattern = containing(search);
        let templates = log::find_templates(db, account, &pattern, MOST_TEMPLATES).await?;
        filter.text = Some(TextSearch { pattern, templates });
    }
    let page = PageRequest {
        size: Some(PAGE_SIZE),
        after,
    };
    let last = search::find_last(db, account, &filter, after).await?;
    let found = log::list(db, account, &filter, SearchRange { page, last }).await?;
    let renders = page.page_of_search(found, |render| render.id, last);
    let is_partial = last.is_some() && renders.next == last;
    let parts = renders.items.iter().filter_map(|render| render.parts.as_ref());
    let templates = templates_of(db, account, parts).await?;
    let page = Page {
        items: renders
            .items
            .into_iter()
            .filter_map(|render| line(render, &templates))
            .collect(),
        next: renders.next,
    };
    Ok(RenderList { page, is_partial })
}

/// Returns the latest renders whose titles contain a text, newest first.
pub async fn find_by_title(
    db: &PgPool,
    account: AccountId,
    search: &str,
) -> Result<Vec<(RenderId, String)>, StoreError> {
    log::find_by_title(db, account, &containing(search), SEARCHED_TITLES, FOUND_TITLES).await
}

/// Templates by id.
pub(super) type Templates = HashMap<String, KnownTemplate>;

/// Returns the templates among parts.
pub(super) async fn templates_of(
    db: &PgPool,
    account: AccountId,
    parts: impl Iterator<Item = &Value>,
) -> Result<Templates, StoreError> {
    let ids = parts.flat_map(|parts| parts.as_array().into_iter().flatten());
    let mut ids: Vec<Uuid> = ids
        .filter_map(|part| TemplateId::parse(part["template_id"].as_str()?))
        .map(|id| id.0)
        .collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    ids.sort_unstable();
    ids.dedup();
    let known = log::list_templates(db, account, &ids).await?;
    Ok(known
        .into_iter()
        .map(|template| (template.id.to_string(), template))
        .collect())
}

/// Returns the number of an account's renders of this month, or `None` if it exceeds [`COUNTED`]; and the first day of
/// the month on which the account existed.
pub async fn count_of_month(
    db: &PgPool,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(Option<i64>, Date), StoreError> {
    let today = now.to_offset(UtcOffset::UTC).date();
    let month = today.replace_day(1).unwrap_or(today);
    let created = accounts::find_creation(db, account).await?;
    let since = created.map_or(month, |created| month.max(created.to_offset(UtcOffset::UTC).date()));
    let count = log::count_since(db, account, since.midnight().assume_utc(), COUNTED + 1).await?;
    Ok(((count <= COUNTED).then_some(count), since))
}

/// Returns `None` for a status or mode that this release doesn't know.
fn line(render: LoggedRender, templates: &Templates) -> Option<RenderLine> {
    let sources = sources(render.parts.as_ref().unwrap_or(&Value::Null), templates);
    Some(RenderLine {
        id: render.id,
        source: summary(&sources),
        title: render.title,
        state: render.state.parse().ok()?,
        error: render.error.as_deref().map(short_error),
        warnings: usize::try_from(render.warnings).unwrap_or_default(),
        mode: render.mode.parse().ok()?,
        live: render.livemode,
        key: render.key_name,
        pages: render.page_count,
        credits: render.credits,
        took_ms: render.finished_at.map(|end| milliseconds(end - render.inserted_at)),
        at: render.inserted_at,
    })
}

/// Returns the source of each part: the template's name, the address, or `HTML`.
pub(super) fn sources(parts: &Value, templates: &Templates) -> Vec<String> {
    let source = |part: &Value| {
        if let Some(url) = part["url"].as_str() {
            let (_, rest) = url.split_once("://").unwrap_or(("", url));
            return rest.trim_end_matches('/').to_owned();
        }
        match part["template_id"].as_str() {
            Some(id) => templates
                .get(id)
                .map_or_else(|| "a template".to_owned(), |template| template.name.clone()),
            None => "HTML".to_owned(),
        }
    };
    parts.as_array().into_iter().flatten().map(source).collect()
}

/// Returns an error as a sentence of limited length.
fn short_error(message: &str) -> String {
    match message.char_indices().nth(LONGEST_ERROR) {
        Some((end, _)) => sentence(&format!("{}…", message[..end].trim_end())),
        None => sentence(message),
    }
}

/// Returns the first source and the number of the others.
pub(super) fn summary(sources: &[String]) -> String {
    match sources {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_seconds_f64() * 1000.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_render_is_made_from() {
        let invoice = KnownTemplate {
            id: Uuid::nil(),
            name: "Invoice".to_owned(),
            exists: true,
            newest: 1,
        };
        let templates = HashMap::from([("id-1".to_owned(), invoice)]);
        let parts = json!([
            {"type": "template", "template_id": "id-1"},
            {"type": "url", "url": "https://example.org/terms/"},
            {"type": "html", "bytes": 7},
            {"type": "template", "template_id": "id-2"},
        ]);
        let found = sources(&parts, &templates);
        assert_eq!(found, ["Invoice", "example.org/terms", "HTML", "a template"]);
        assert_eq!(summary(&found), "Invoice and 3 more");
        assert_eq!(summary(&found[..1]), "Invoice");
        assert_eq!(summary(&sources(&Value::Null, &templates)), "");
    }

    #[test]
    fn errors_fit_in_a_line() {
        assert_eq!(short_error("the host has no address"), "The host has no address.");
        let long = short_error(&"ä ".repeat(LONGEST_ERROR));
        assert!(
            long.chars().count() <= LONGEST_ERROR + 2 && long.ends_with("ä…"),
            "{long}"
        );
    }
}
