//! Batches.

use std::num::NonZeroU16;

use async_trait::async_trait;
use axum::extract::{
    Multipart,
    multipart::{Field as FormField, MultipartError},
};
use futures::TryStreamExt;
use platen_app::{
    backend::batches::BatchBackend,
    error::AppError,
    model::{
        batch::{BatchChange, BatchChoices, BatchDetail, ListedRow, NewBatchForm, RejectedRows},
        rejection::{Field, LIVE, TEST},
    },
    pages::batches::upload::{CHECK, FILE, URL},
};
use platen_core::{
    clock,
    render_request::batch::{BatchCreation, RowsSource},
    service::{
        batches::{
            self, BatchError, columns, download,
            preview::{self, RowPreview, RowPreviewError},
            rejected_form::{self, RejectedForm},
            upload::{self, AfterUpload, RowsFile},
        },
        connections,
        renders::failure::FailureReason,
        templates,
    },
    store::{account_storage, batches::outcomes::RowOutcome},
};
use platen_domain::{
    batch::{Batch, BatchState, ListedRows, RowFormat},
    caller::{Access, Caller},
    connection::Connection,
    editor::Remark,
    ids::{AccountId, BatchId, ConnectionId, TemplateId},
    number::grouped,
    page::{Page, PageRequest},
    role::Permission::Produce,
    sentence::sentence,
    validation::quote,
};
use platen_engine::error::RenderError;
use serde_json::{Value, json};

use super::{
    RequestBackend,
    live::NoPdf,
    visitor_errors::{VisitorError, invalid, invalid_batch, too_many},
};

/// Number of batches on a page of their list.
const BATCH_PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Maximum number of templates in the form.
const OFFERED_TEMPLATES: i64 = 500;
/// Maximum number of storage connections in the form.
const OFFERED_CONNECTIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);
/// Maximum number of failed rows on the page of a batch. All are in the file of errors.
const LISTED_FAILED_ROWS: i64 = 20;
/// Maximum number of first rows on the page of a batch.
const LISTED_FIRST_ROWS: i64 = 5;
/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 200;

const NO_FILE: &str = "Choose a file, or enter the URL of one.";
const UNKNOWN_FORMAT: &str = "The file doesn’t name its format. Download it, name it .csv or .ndjson, and upload it.";

/// A form with rows.
enum RowsForm {
    /// Its file is stored, and the batch is in this state.
    Stored(BatchState),
    /// No file was chosen, but this URL was entered.
    Url { url: String, after: AfterUpload },
}

/// Why a file is not stored.
enum FileError {
    /// With the reason and the next step, in sentences.
    Rejected(String),
    Batch(BatchError),
}

impl From<BatchError> for FileError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl From<MultipartError> for FileError {
    fn from(_: MultipartError) -> Self {
        Self::Rejected("The file was not received completely. Upload it again.".to_owned())
    }
}

#[async_trait]
impl BatchBackend for RequestBackend {
    async fn batches(&self, after: Option<BatchId>) -> Result<Page<Batch, BatchId>, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let page = PageRequest::after(after, BATCH_PAGE);
        self.answer(batches::list(&self.app.db, &caller, page).await)
    }

    async fn batch(&self, id: BatchId) -> Result<BatchDetail, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let (app, account) = (&self.app, caller.account);
        let batch = self.answer(batches::get(app, &caller, id).await)?;
        let found = tokio::try_join!(
            batches::outcomes(app, &caller, id, ListedRows::Opened, 0, LISTED_FIRST_ROWS),
            batches::outcomes(app, &caller, id, ListedRows::Failed, 0, LISTED_FAILED_ROWS),
            batches::can_retry(app, account, &batch),
            batches::documents::has_documents(app, account, &batch),
        );
        let (first_rows, failed_rows, can_retry, has_documents) = self.answer(found)?;
        let rejected = rejected_form::take(&self.session, account, id, clock::now()).await;
        let (rejected_rows, rejected_members) = match self.answer(rejected)? {
            Some(RejectedForm::File { reason, url }) => (Some(RejectedRows { reason, url }), None),
            Some(RejectedForm::Members(members)) => (None, Some(members)),
            None => (None, None),
        };
        // The page is needed to cancel the batch as well.
        let columns = columns::find(app, &caller, &batch).await.unwrap_or_else(|error| {
            tracing::warn!(batch_id = %id, %error, "the columns of a batch could not be read");
            None
        });
        Ok(BatchDetail {
            may_be_collected: batches::documents::may_be_collected(&batch),
            batch,
            first_rows: first_rows.iter().map(listed).collect(),
            failed_rows: failed_rows.iter().map(listed).collect(),
            can_retry,
            has_documents: has_documents && caller.access != Access::Looking,
            rejected_rows,
            rejected_members,
            columns,
        })
    }

    async fn batch_choices(&self) -> Result<BatchChoices, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let templates = templates::names_in_production(db, account, OFFERED_TEMPLATES).await;
        let page = PageRequest::after(None, OFFERED_CONNECTIONS);
        let connections = self.answer(connections::list(db, account, page).await)?.items;
        let named = |connection: Connection| {
            let name = format!("{} ({})", connection.settings.name, connection.covers());
            (connection.id, name)
        };
        Ok(BatchChoices {
            templates: self.answer(templates)?,
            connections: connections.into_iter().map(named).collect(),
        })
    }

    async fn create_batch(&self, form: NewBatchForm) -> Result<BatchId, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let livemode = form.mode != TEST;
        let request = self.request(caller.account, form).await?.to_string();
        let creation = BatchCreation::parse(request.as_bytes()).map_err(|problems| invalid_batch(&problems))?;
        let caller = Caller { livemode, ..caller };
        let (batch, _) = self.answer(batches::create(&self.app, &caller, creation, None).await)?;
        Ok(batch.id)
    }

    async fn change_batch(&self, id: BatchId, change: BatchChange) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let changed = match change {
            BatchChange::Pause => batches::pause(&self.app, &caller, id).await,
            BatchChange::Resume => batches::resume(&self.app, &caller, id).await,
            BatchChange::Cancel => batches::cancel(&self.app, &caller, id).await,
            BatchChange::Retry => batches::retry(&self.app, &caller, id).await,
        };
        self.answer(changed).map(drop)
    }

    async fn set_batch_columns(&self, id: BatchId, members: Vec<String>) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let updated = columns::update(&self.app, &caller, id, &members).await;
        if matches!(updated, Err(BatchError::Invalid(_))) {
            self.keep_rejected(caller.account, id, RejectedForm::Members(members))
                .await?;
        }
        self.answer(updated)
    }
}

impl RequestBackend {
    /// Returns the request of the API that a valid form stands for. The mode is no part of it.
    async fn request(&self, account: AccountId, form: NewBatchForm) -> Result<Value, AppError> {
        let NewBatchForm {
            name,
            template,
            storage,
            path,
            file_names,
            mode,
        } = form;
        let mut faulty = Vec::new();
        let name = name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
            faulty.push(Field::Name);
        }
        if TemplateId::parse(&template).is_none() {
            faulty.push(Field::BatchTemplate);
        }
        // Anything else must not become a live batch, which is charged.
        if !matches!(mode.as_str(), "" | LIVE | TEST) {
            faulty.push(Field::BatchMode);
        }
        let destination = if storage.is_empty() {
            Value::Null
        } else {
            let connection = ConnectionId::parse(&storage).ok_or_else(|| invalid(vec![Field::BatchStorage]))?;
            let connection = match connections::get(&self.app.db, account, connection).await {
                Err(connections::ConnectionError::NotFound) => return Err(invalid(vec![Field::BatchStorage])),
                found => self.answer(found)?,
            };
            let path = path.trim().trim_start_matches('/');
            if path.is_empty() {
                faulty.push(Field::DocumentPath);
            }
            let settings = connection.settings;
            json!({
                "provider": settings.provider,
                "bucket": settings.bucket,
                "path": format!("{}{path}", settings.path_prefix),
            })
        };
        if !faulty.is_empty() {
            return Err(invalid(faulty));
        }
        let mut request = json!({"batch": {
            "name": name,
            "render": {"parts": [{"type": "template", "content": {"template_id": template}}]},
        }});
        if destination.is_object() {
            request["batch"]["render"]["destination"] = destination;
        } else if !file_names.trim().is_empty() {
            request["batch"]["file_names"] = file_names.trim().into();
        }
        Ok(request)
    }

    /// Stores the rows of a file while it arrives, or those at a URL, and returns the state of the batch. Returns `None` if the form is
    /// rejected: the reason and the URL reach the page of the batch in the session.
    pub(in crate::web) async fn receive_rows(
        &self,
        id: BatchId,
        mut form: Multipart,
    ) -> Result<Option<BatchState>, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        // Nothing is read for a batch of another account.
        self.answer(batches::get(&self.app, &caller, id).await)?;
        let received = self.read_form(&caller, id, &mut form).await;
        // A browser shows the response only if it could send the whole form.
        while let Ok(Some(_)) = form.next_field().await {}
        let (stored, url) = match received {
            Ok(RowsForm::Stored(state)) => (Ok(state), String::new()),
            // Only now, because a download may take longer than the form.
            Ok(RowsForm::Url { url, after }) => (self.load_rows(&caller, id, &url, after).await, url),
            Err(error) => (Err(error), String::new()),
        };
        let reason = match stored {
            Ok(state) => return Ok(Some(state)),
            Err(FileError::Rejected(reason)) => reason,
            Err(FileError::Batch(error)) => match reason(&error) {
                Some(reason) => reason,
                None => return self.answer(Err(error)),
            },
        };
        let rejected = RejectedForm::File { reason, url: Some(url) };
        self.keep_rejected(caller.account, id, rejected).await?;
        Ok(None)
    }

    /// Hands a rejected form to the page of the batch.
    async fn keep_rejected(&self, account: AccountId, id: BatchId, form: RejectedForm) -> Result<(), AppError> {
        self.answer(rejected_form::keep(&self.session, account, id, form, clock::now()).await)
    }

    /// Reads a form up to its file, which is stored while it arrives, and used instead of a URL.
    async fn read_form(&self, caller: &Caller, id: BatchId, form: &mut Multipart) -> Result<RowsForm, FileError> {
        let (mut after, mut url) = (AfterUpload::Begin, String::new());
        while let Some(field) = form.next_field().await? {
            match field.name() {
                Some(CHECK) => after = AfterUpload::Check,
                Some(URL) => url = read_url(field).await?,
                // Browsers send the field without a name if no file was chosen.
                Some(FILE) if field.file_name().is_some_and(|name| !name.is_empty()) => {
                    let batch = self.store_file(caller, id, after, field).await?;
                    return Ok(RowsForm::Stored(batch.state));
                }
                _ => {}
            }
        }
        if url.is_empty() {
            return Err(FileError::Rejected(NO_FILE.to_owned()));
        }
        Ok(RowsForm::Url { url, after })
    }

    async fn load_rows(
        &self,
        caller: &Caller,
        id: BatchId,
        url: &str,
        after: AfterUpload,
    ) -> Result<BatchState, FileError> {
        let source = RowsSource::parse(json!({"url": url}).to_string().as_bytes());
        let source = source.map_err(|_| FileError::Rejected(Field::RowsUrl.rule().to_owned()))?;
        Ok(download::store(&self.app, caller, id, source, after).await?.state)
    }

    async fn store_file(
        &self,
        caller: &Caller,
        id: BatchId,
        after: AfterUpload,
        file: FormField<'_>,
    ) -> Result<Batch, FileError> {
        let name = file.file_name().unwrap_or_default();
        let Some(format) = RowFormat::of_file_name(name) else {
            let name = quote(name);
            return Err(FileError::Rejected(format!(
                "{name} is not a .csv, .ndjson or .jsonl file. Export spreadsheets as CSV first."
            )));
        };
        let file = RowsFile {
            format,
            length: None,
            after_upload: after,
            content: file.map_err(FileError::from),
        };
        upload::store(&self.app, caller, id, file).await
    }

    /// Renders a row free of charge, for a tab of its own. `row` is its number, as typed.
    pub(in crate::web) async fn row_preview(&self, id: BatchId, row: &str) -> Result<RowPreview, NoPdf> {
        let caller = self.caller_who_may(Produce).await?;
        // No row has the number 0.
        let number = row.trim().parse().unwrap_or_default();
        let preview = preview::pdf(&self.app, &caller, id, number).await;
        preview.map_err(|error| self.no_preview(error, row))
    }

    fn no_preview(&self, error: RowPreviewError, row: &str) -> NoPdf {
        let reason = match error {
            RowPreviewError::TooMany { retry_after } => return too_many(retry_after).into(),
            RowPreviewError::NoSuchRow(rows) => format!(
                "There is no row {}. Enter a number from 1 to {}.",
                quote(row),
                grouped(rows.into())
            ),
            RowPreviewError::Row(reason) => sentence(&reason),
            RowPreviewError::Batch(BatchError::Conflict(reason)) => sentence(reason),
            RowPreviewError::Batch(BatchError::RowLost(_)) => {
                "Rows that have become documents are not stored after the end of a batch. Preview a row that has failed.".to_owned()
            }
            RowPreviewError::Batch(BatchError::Memory(_))
            | RowPreviewError::Render(
                FailureReason::Memory(_)
                | FailureReason::Engine(RenderError::TooManyConcurrent { .. } | RenderError::QueueFull),
            ) => return NoPdf::Busy,
            RowPreviewError::Render(FailureReason::Engine(late @ RenderError::Deadline { .. })) => {
                sentence(&late.to_string())
            }
            RowPreviewError::Batch(error) => {
                return error.for_visitor().unwrap_or_else(|| self.internal(&error)).into();
            }
            RowPreviewError::Render(reason) => match reason.caller_problems().unwrap_or_default().first() {
                Some(problem) => sentence(&problem.detail),
                None => return self.internal(&reason).into(),
            },
        };
        NoPdf::Faulty(Remark::new(None, reason, None))
    }
}

/// Reads the field with the URL. A longer one than is allowed is not read to its end.
async fn read_url(mut field: FormField<'_>) -> Result<String, MultipartError> {
    let mut text = Vec::new();
    while text.len() <= RowsSource::LONGEST_URL
        && let Some(chunk) = field.chunk().await?
    {
        text.extend_from_slice(&chunk);
    }
    // Not trimmed, as browsers do that, because the beginning of a longer URL must not become short enough.
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns why rows were rejected and the next step, in sentences; `None` if the error is another one.
fn reason(error: &BatchError) -> Option<String> {
    match error {
        BatchError::Invalid(problems) => problems.first().map(|problem| {
            let reason = sentence(&problem.detail);
            match problem.pointer.as_str() {
                RowsSource::FORMAT => UNKNOWN_FORMAT.to_owned(),
                RowsSource::URL => reason,
                _ => format!("{reason} Correct the file, and upload it again."),
            }
        }),
        BatchError::Conflict(conflict) => Some(sentence(conflict)),
        BatchError::Memory(_) | BatchError::Busy(_) => {
            Some("The service is overloaded. Upload the rows again in a moment.".to_owned())
        }
        BatchError::StorageFull(full) => Some(full.to_string()),
        error => account_storage::full(error).map(|full| full.to_string()),
    }
}

fn listed(outcome: &RowOutcome) -> ListedRow {
    let message = outcome.error.as_ref().and_then(|error| error["message"].as_str());
    ListedRow {
        number: outcome.number,
        state: outcome.state,
        render: outcome.render,
        error: message.unwrap_or_default().to_owned(),
    }
}
