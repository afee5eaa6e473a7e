//! Statements that search the renders of an account, newest first. A filter may match few of very many renders, so a page is
//! found among [`SEARCHED`] of them.

use platen_domain::{
    ids::{AccountId, ApiKeyId, RenderId},
    page::{PageRequest, SEARCHED},
    render::{history::RenderState, log::LogFilter},
};
use sqlx::PgPool;

use crate::store::error::StoreError;

/// A page of a search.
#[derive(Debug, Clone, Copy)]
pub struct SearchRange {
    pub page: PageRequest<RenderId>,
    /// The last render that is read; see [`find_last`].
    pub last: Option<RenderId>,
}

/// The renders among which a filter is applied: those that an index finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Searched {
    All,
    /// Those whose ids have a common beginning, which few have.
    WithIds,
    OfKey(ApiKeyId),
    /// Those with a status that few renders of the past have.
    WithStatus(RenderState),
    Test,
}

impl Searched {
    pub(super) fn by(filter: &LogFilter) -> Self {
        match (filter.state, filter.key, filter.livemode) {
            _ if filter.ids.is_some() => Self::WithIds,
            (Some(state), ..) if state != RenderState::Succeeded => Self::WithStatus(state),
            (_, Some(key), _) => Self::OfKey(key),
            (.., Some(false)) => Self::Test,
            _ => Self::All,
        }
    }

    /// Returns whether all renders among which the filter is applied match it.
    fn match_all(self, filter: &LogFilter) -> bool {
        let mut rest = LogFilter {
            from: None,
            until: None,
            ..filter.clone()
        };
        match self {
            Self::All => {}
            Self::WithIds => rest.ids = None,
            Self::OfKey(_) => rest.key = None,
            Self::WithStatus(_) => rest.state = None,
            Self::Test => rest.livemode = None,
        }
        rest == LogFilter::default()
    }
}

/// Returns renders of the account `$1` that match a filter, as rows with these columns. Each index that finds them is named
/// by a condition of its own, because a plan for any arguments would use none of them.
macro_rules! list_renders {
    ($db:expr, $row:ident, $columns:tt, $account:expr, $filter:expr, $range:expr) => {{
        use $crate::store::renders::search::{Searched, list_renders_where};
        let (filter, range): (&platen_domain::render::log::LogFilter, _) = ($filter, $range);
        match Searched::by(filter) {
            Searched::All => list_renders_where!($db, $row, $columns, "true", $account, filter, range),
            Searched::WithIds => {
                list_renders_where!($db, $row, $columns, "id between $6 and $7", $account, filter, range)
            }
            Searched::OfKey(_) => list_renders_where!($db, $row, $columns, "api_key_id = $5", $account, filter, range),
            Searched::WithStatus(_) => list_renders_where!(
                $db,
                $row,
                $columns,
                "status <> 'succeeded' and status = $2::text",
                $account,
                filter,
                range
            ),
            Searched::Test => list_renders_where!($db, $row, $columns, "not livemode", $account, filter, range),
        }
    }};
}
pub(super) use list_renders;

macro_rules! list_renders_where {
    ($db:expr, $row:ident, $columns:tt, $condition:tt, $account:expr, $filter:ident, $range:ident) => {{
        let text = $filter.text.as_ref();
        let templates = text.into_iter().flat_map(|text| &text.templates);
        let templates: Vec<_> = templates.map(ToString::to_string).collect();
        sqlx::query_as!(
            $row,
            "select "
                + $columns
                + " from renders
             where account_id = $1
                and "
                + $condition
                + "
                and ($2::text is null or status = $2)
                and ($3::text is null or mode = $3)
                and ($4::boolean is null or livemode = $4)
                and ($5::uuid is null or api_key_id = $5)
                and ($6::uuid is null or id between $6 and $7)
                and (
                    $10::text is null
                    or exists (
                        select from jsonb_array_elements(options -> 'parts') part where part ->> 'template_id' = $10
                    )
                )
                and (
                    $11::text is null
                    or title ilike $11
                    or exists (
                        select from jsonb_array_elements(options -> 'parts') part
                        where part ->> 'template_id' = any($12::text[])
                    )
                )
                and (inserted_at, id) >= (
                    coalesce(
                        (select last.inserted_at from renders last where last.account_id = $1 and last.id = $13),
                        $8, '-infinity'
                    ),
                    coalesce($13, '00000000-0000-0000-0000-000000000000'::uuid)
                )
                and (inserted_at, id) < (
                    coalesce(
                        (select last.inserted_at from renders last where last.account_id = $1 and last.id = $14),
                        case when $14::uuid is null then coalesce($9, 'infinity'::timestamptz) else '-infinity' end
                    ),
                    coalesce($14, '00000000-0000-0000-0000-000000000000'::uuid)
                )
             order by inserted_at desc, id desc
             limit $15",
            $account.0,
            $filter.state.map(|state| state.into_str()),
            $filter.mode.map(|mode| mode.into_str()),
            $filter.livemode,
            $filter.key.map(|key| key.0),
            $filter.ids.as_ref().map(|ids| *ids.start()),
            $filter.ids.as_ref().map(|ids| *ids.end()),
            $filter.from,
            $filter.until,
            $filter.template.map(|template| template.to_string()),
            text.map(|text| text.pattern.as_str()),
            &templates,
            $range.last.map(|id| id.0),
            $range.page.after.map(|id| id.0),
            $range.page.limit(),
        )
        .fetch_all($db)
        .await
    }};
}
pub(super) use list_renders_where;

/// Returns the last of [`SEARCHED`] renders among which a page is found. `None` if the page needs no such limit, because there
/// are fewer, also with the ids, or because each of them matches the filter.
pub async fn find_last(
    db: &PgPool,
    account: AccountId,
    filter: &LogFilter,
    after: Option<RenderId>,
) -> Result<Option<RenderId>, StoreError> {
    macro_rules! find {
        ($condition:literal $(, $argument:expr)?) => {
            sqlx::query_scalar!(
                "select id from renders
                 where account_id = $1
                    and inserted_at >= coalesce($2, '-infinity'::timestamptz)
                    and (inserted_at, id) < (
                        coalesce(
                            (select last.inserted_at from renders last where last.account_id = $1 and last.id = $4),
                            case when $4::uuid is null then coalesce($3, 'infinity'::timestamptz) else '-infinity' end
                        ),
                        coalesce($4, '00000000-0000-0000-0000-000000000000'::uuid)
                    )
                    and "
                    + $condition
                    + "
                 order by inserted_at desc, id desc
                 offset $5 limit 1",
                account.0,
                filter.from,
                filter.until,
                after.map(|id| id.0),
                SEARCHED - 1,
                $($argument)?
            )
            .fetch_optional(db)
            .await
        };
    }
    let last = match Searched::by(filter) {
        Searched::WithIds => return Ok(None),
        searched if searched.match_all(filter) => return Ok(None),
        Searched::All => find!("true"),
        Searched::OfKey(key) => find!("api_key_id = $6", key.0),
        Searched::WithStatus(state) => find!("status <> 'succeeded' and status = $6", state.into_str()),
        Searched::Test => find!("not livemode"),
    };
    Ok(last?.map(RenderId))
}

#[cfg(test)]
mod tests {
    use platen_domain::{ids::ApiKeyId, render::history::RenderMode};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_filters_without_an_index_of_their_own_need_a_limit() {
        let [key, failed, test, sync] = [
            LogFilter {
                key: Some(ApiKeyId(Uuid::nil())),
                ..LogFilter::default()
            },
            LogFilter {
                state: Some(RenderState::Failed),
                ..LogFilter::default()
            },
            LogFilter {
                livemode: Some(false),
                ..LogFilter::default()
            },
            LogFilter {
                mode: Some(RenderMode::Sync),
                ..LogFilter::default()
            },
        ];
        let matches_all = |filter: &LogFilter| Searched::by(filter).match_all(filter);
        for filter in [&LogFilter::default(), &key, &failed, &test] {
            assert!(matches_all(filter), "{filter:?}");
        }
        let both = LogFilter {
            state: failed.state,
            ..key
        };
        for filter in [&sync, &both] {
            assert!(!matches_all(filter), "{filter:?}");
        }
    }
}
