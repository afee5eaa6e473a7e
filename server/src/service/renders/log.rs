//! The list of an account's renders in the dashboard, and what it is searched by.

use std::{collections::HashMap, num::NonZeroU16};

use serde_json::Value;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    domain::{
        ids::{AccountId, RenderId, TemplateId},
        page::{Page, PageRequest},
        render::log::{LogFilter, TextSearch, containing, ids_beginning_with, time_of_id},
    },
    store::{
        error::StoreError,
        renders::log::{self, LoggedRender},
    },
};

/// Lines of a page.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Templates whose names are looked through for what somebody looks for.
const MOST_TEMPLATES: i64 = 100;
/// Beyond this nobody counts.
pub const COUNTED: i64 = 10_000;
/// A render has its id at about the time at which it is accepted.
const BETWEEN_ID_AND_ACCEPTANCE: Duration = Duration::minutes(5);

/// A page of the list.
pub struct LogPage {
    /// The renders, newest first.
    pub renders: Page<LoggedRender, RenderId>,
    /// The names of the templates that they are made of.
    pub templates: HashMap<String, String>,
}

/// The renders of an account, newest first. `search` is what somebody typed: an id, or a part of a title or of a template's
/// name.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    mut filter: LogFilter,
    search: &str,
    after: Option<RenderId>,
) -> Result<LogPage, StoreError> {
    let search = search.trim();
    if let Some(ids) = ids_beginning_with(search) {
        // Ids tell when they were made: nothing else need be looked at.
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
    let found = log::list(db, account, &filter, page).await?;
    let renders = page.page(found, |render| render.id);
    let parts = renders.items.iter().filter_map(|render| render.parts.as_ref());
    let templates = template_names(db, account, parts).await?;
    Ok(LogPage { renders, templates })
}

/// The names of the templates among parts, by their ids.
pub async fn template_names(
    db: &PgPool,
    account: AccountId,
    parts: impl Iterator<Item = &Value>,
) -> Result<HashMap<String, String>, StoreError> {
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
    let names = log::list_template_names(db, account, &ids).await?;
    Ok(names.into_iter().map(|(id, name)| (id.to_string(), name)).collect())
}

/// How many renders an account has since a time; `None`: more than [`COUNTED`].
pub async fn count_since(db: &PgPool, account: AccountId, since: OffsetDateTime) -> Result<Option<i64>, StoreError> {
    let count = log::count_since(db, account, since, COUNTED + 1).await?;
    Ok((count <= COUNTED).then_some(count))
}
