//! Columns of the rows of a batch that has not begun, and the members of the data that they become.

use std::collections::{BTreeMap, BTreeSet};

use platen_domain::{
    batch::{
        Batch, BatchState,
        columns::{BatchColumns, add_members, add_placeholders, columns_of},
    },
    caller::{Access, Caller},
    ids::{AccountId, BatchId},
    validation::Problem,
};

use crate::{
    clock,
    render_request::stored::StoredRequest,
    service::{
        Services,
        batches::{
            BatchError, get, lock_controlled,
            stored_rows::{self, StoredRows},
        },
        renders::templates::sources,
    },
    store::{
        batches::{self, rows},
        error::StoreError,
        templates, tx,
    },
};

/// Pointer of the chosen members.
pub const COLUMNS: &str = "/columns";
const HAS_BEGUN: BatchError = BatchError::Conflict("only columns of a paused batch that has not begun can be changed");
const OTHER_COLUMNS: BatchError = BatchError::Conflict("the batch has other columns");

/// Returns whether the columns of a batch can be changed: until the first row is opened, so that all rows are treated alike.
fn are_open(state: BatchState, opened: i32) -> bool {
    state == BatchState::Paused && opened == 0
}

/// Returns the columns of a batch, as its first row has them; `None` if they can't be changed any more, and for operators who view the
/// account, because the names are content.
pub async fn find(app: &Services, caller: &Caller, batch: &Batch) -> Result<Option<BatchColumns>, BatchError> {
    let account = caller.account;
    if caller.access == Access::Looking || !are_open(batch.state, batch.opened) {
        return Ok(None);
    }
    let work = rows::find_work(&app.db, account, batch.id, 0, clock::now()).await?;
    let Some(mut work) = work.filter(|work| are_open(work.state, work.opened)) else {
        return Ok(None);
    };
    let _memory = app.memory.reserve(account, stored_rows::MEMORY).await?;
    let mut rows = StoredRows::open(app, account, batch.id, &mut work).await?;
    let columns = columns_of(&rows.row(1).await?)?;
    let members = members(app, account, &rows.request).await?;
    Ok(Some(BatchColumns {
        columns,
        mapping: work.columns,
        members,
    }))
}

/// Returns the members that the templates and placeholders of a batch use, and whether they are required; none of templates that can't be
/// analyzed.
async fn members(
    app: &Services,
    account: AccountId,
    request: &StoredRequest,
) -> Result<BTreeMap<String, bool>, StoreError> {
    let render = &request.render;
    let used: BTreeSet<_> = render
        .templates_of_rows()
        .map(|part| (part.template, part.version))
        .collect();
    let mut members = BTreeMap::new();
    add_placeholders(&mut members, render.placeholders());
    for (template, version) in used {
        let Some(version) = templates::find_version(&app.db, account, template, version).await? else {
            continue;
        };
        let schema = app
            .templates
            .schema(account.0, sources(&version, render.language.as_deref()));
        match schema.await {
            Ok(schema) => add_members(&mut members, &schema),
            Err(error) => tracing::warn!(%error, "the data of a template could not be inferred"),
        }
    }
    Ok(members)
}

/// Changes what the columns of a batch become. `members` has one for each column, empty if the column stays as it is.
pub async fn update(app: &Services, caller: &Caller, id: BatchId, members: &[String]) -> Result<(), BatchError> {
    let account = caller.account;
    let batch = get(app, caller, id).await?;
    let columns = find(app, caller, &batch).await?.ok_or(HAS_BEGUN)?;
    if columns.columns.len() != members.len() {
        return Err(OTHER_COLUMNS);
    }
    let mapping = columns.chosen(members).ok_or_else(|| {
        let detail = "Each column must become an offered member of its own; the paths may have 16 KiB together";
        BatchError::Invalid(vec![Problem::invalid(COLUMNS, detail)])
    })?;
    let mut transaction = tx::begin(&app.db).await?;
    let batch = lock_controlled(&mut transaction, caller, id).await?;
    if !are_open(batch.state, batch.opened) {
        return Err(HAS_BEGUN);
    }
    batches::set_columns(&mut transaction, account, id, &mapping).await?;
    Ok(tx::commit(transaction).await?)
}
