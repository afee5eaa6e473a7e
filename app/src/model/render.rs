//! The list of renders.

use platen_domain::{
    ids::{ApiKeyId, RenderId, TemplateId},
    page::Page,
    render::{log::RenderLine, statistics::RenderGlance},
};
use time::Date;

/// A page of renders.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderPage {
    /// The newest first.
    pub renders: Page<RenderLine, RenderId>,
    /// Whether these are the matches among [`SEARCHED`](platen_domain::page::SEARCHED) renders, and older ones may match as
    /// well.
    pub is_partial: bool,
    /// Renders of this month. `None` if there are too many to count.
    pub this_month: Option<i64>,
    /// The first of the month, or the day on which the account was created if that is later.
    pub since: Date,
    /// Days for which the plan retains renders.
    pub retention_days: i32,
    /// The latest renders regardless of the search, the oldest first.
    pub latest: Vec<RenderGlance>,
    pub templates: Vec<(TemplateId, String)>,
    pub keys: Vec<(ApiKeyId, String)>,
}

/// Returns the first and last characters of an id, for lists. Ids in one list don't collide in these.
pub fn short_id(id: &str) -> String {
    match (id.get(..8), id.len().checked_sub(4).and_then(|end| id.get(end..))) {
        (Some(first), Some(last)) if id.len() > 12 => format!("{first}…{last}"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_by_their_ends() {
        assert_eq!(short_id("0193f2b8-4c1e-7a90-b2d5-9e10c4f077ac"), "0193f2b8…77ac");
        assert_eq!(short_id("ä"), "ä");
    }
}
