//! Downloads of files with the rows of a batch, while the client waits.

use futures::TryStreamExt;
use platen_domain::{
    batch::{Batch, RowFormat},
    caller::Caller,
    ids::BatchId,
    validation::{Problem, quote},
};

use crate::{
    outbound::files::{self, FileError},
    render_request::batch::RowsSource,
    service::{
        Services,
        batches::{
            BatchError,
            upload::{self, AfterUpload, RowsFile},
        },
    },
};

/// Memory of a connection in bytes: content that has been received, and is not read yet.
const MEMORY: u64 = 8 << 20;
const BUSY: BatchError =
    BatchError::Conflict("the service is loading the rows of another batch of the account; wait for its end");

/// Stores the rows of a file while it is downloaded, as [`upload::store`] does.
pub async fn store(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    source: RowsSource,
    after_upload: AfterUpload,
) -> Result<Batch, BatchError> {
    // Before anything is requested.
    upload::check(app, caller, id).await?;
    let _turn = app.downloads.try_begin(caller.account).ok_or(BUSY)?;
    let memory = app.memory.reserve(caller.account, upload::MEMORY + MEMORY).await?;
    let RowsSource { url, format } = source;
    let format_of_name = RowFormat::of_file_name(url.path());
    let file = files::open(&app.files, url).await.map_err(|error| not_loaded(&error))?;
    let format_of_name = format_of_name.or_else(|| RowFormat::of_file_name(file.url().path()));
    let media_type = file.content_type();
    let format = format
        .or_else(|| media_type.and_then(RowFormat::of_media_type))
        .or(format_of_name)
        .ok_or_else(|| unknown_format(media_type))?;
    // As much time as other bodies have.
    let content = file.content(app.config.limits.body_time);
    let file = RowsFile {
        format,
        length: None,
        after_upload,
        content: content.map_err(|error| not_loaded(&error)),
    };
    upload::store_within(app, caller, id, file, memory).await
}

fn not_loaded(error: &FileError) -> BatchError {
    let detail =
        format!("The file can't be loaded: {error}. No row is stored; check the URL, or send the rows themselves");
    BatchError::Invalid(vec![Problem::invalid(RowsSource::URL, detail)])
}

fn unknown_format(media_type: Option<&str>) -> BatchError {
    let media_type = media_type.map_or_else(|| "missing".to_owned(), quote);
    let detail = format!(
        "Must be \"csv\" or \"ndjson\", because the file doesn't name its format: its Content-Type is {media_type}, and the path of \
         the URL doesn't end in .csv, .ndjson or .jsonl"
    );
    BatchError::Invalid(vec![Problem::invalid(RowsSource::FORMAT, detail)])
}
