//! Contents of an account's archive. File names consist only of ids and fixed words, so that no user input becomes a
//! path.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Seek, Write},
    num::NonZeroU16,
};

use platen_domain::{
    asset::{Asset, AssetFilter},
    encryption::EncryptionError,
    export::{MOST_ASSET_BYTES, MOST_DOCUMENT_BYTES},
    ids::{AccountId, AssetId, RenderId, TemplateId},
    page::PageRequest,
    render::history::RenderFilter,
};
use serde::Serialize;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;
use zip::{CompressionMethod, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::{
    clock,
    service::{
        Services,
        assets::{self, AssetError},
        data_keys::DataKeyError,
        exports::pieces,
        renders::{history, shown::WholeRender},
    },
    storage::private_folder,
    store::{
        account_contents::{self, ListedDocument},
        callbacks,
        error::StoreError,
        exports::QueuedExport,
    },
};

const README: &str = include_str!("readme.txt");
/// Rows that are read into memory at once.
const BATCH: NonZeroU16 = NonZeroU16::MIN.saturating_add(199);

/// Why an archive is abandoned without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The service is shutting down.
    Service,
    /// Another process holds the claim, or the account has been deleted.
    Lost,
}

/// Error of [`make`].
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    #[error("stopped: {0:?}")]
    Stopped(Stop),
    #[error("archive file: {0}")]
    File(#[from] io::Error),
    #[error("ZIP archive: {0}")]
    Zip(#[from] ZipError),
    #[error("a row can't be written: {0}")]
    Row(#[from] serde_json::Error),
    #[error(transparent)]
    Asset(#[from] AssetError),
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    #[error("a piece of the archive: {0}")]
    Encryption(#[from] EncryptionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates the archive, stores it, and returns its size in bytes. Blocks the thread while it writes.
pub(super) async fn make(
    app: &Services,
    claim: Uuid,
    export: &QueuedExport,
    stop: impl Fn() -> Option<Stop>,
) -> Result<i64, ArchiveError> {
    // It has no name, so that a crash leaves nothing.
    let file = tempfile::tempfile_in(private_folder(&app.config.data.folder, "archives")?)?;
    let mut archive = Archive {
        app,
        account: export.account,
        stop,
        zip: ZipWriter::new(BufWriter::new(file)),
        now: clock::now(),
    };
    archive.write_account().await?;
    archive.write_templates().await?;
    archive.write_assets().await?;
    archive.write_renders().await?;
    archive.write_usage().await?;
    archive.write_log().await?;
    archive.write_documents().await?;
    let mut file = archive
        .zip
        .finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    pieces::store(app, claim, export, file, archive.stop).await
}

struct Archive<'a, S> {
    app: &'a Services,
    account: AccountId,
    stop: S,
    zip: ZipWriter<BufWriter<File>>,
    now: OffsetDateTime,
}

impl<S: Fn() -> Option<Stop>> Archive<'_, S> {
    /// Fails if the archive must be abandoned. Called between batches.
    fn go_on(&self) -> Result<(), ArchiveError> {
        (self.stop)().map_or(Ok(()), |stop| Err(ArchiveError::Stopped(stop)))
    }

    fn begin(&mut self, name: &str) -> Result<(), ArchiveError> {
        // The list of a million renders has gigabytes, which needs ZIP64.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(0o600)
            .large_file(true);
        Ok(self.zip.start_file(name, options)?)
    }

    fn write_json(&mut self, name: &str, value: &Value) -> Result<(), ArchiveError> {
        self.begin(name)?;
        serde_json::to_writer_pretty(&mut self.zip, value)?;
        Ok(self.zip.write_all(b"\n")?)
    }

    fn write_line(&mut self, value: &impl Serialize) -> Result<(), ArchiveError> {
        serde_json::to_writer(&mut self.zip, value)?;
        Ok(self.zip.write_all(b"\n")?)
    }

    async fn write_account(&mut self) -> Result<(), ArchiveError> {
        let account = account_contents::find(&self.app.db, self.account).await?;
        let account = account.ok_or(ArchiveError::Stopped(Stop::Lost))?;
        self.begin("README.txt")?;
        let when = format!(
            "Created on {} at {}\n",
            self.now.format(&Rfc3339).unwrap_or_default(),
            self.app.base_url
        );
        self.zip.write_all(README.as_bytes())?;
        self.zip.write_all(when.as_bytes())?;
        self.write_json("account.json", &account)
    }

    async fn write_templates(&mut self) -> Result<(), ArchiveError> {
        let mut last = None;
        loop {
            let found = account_contents::list_templates(&self.app.db, self.account, last, BATCH.get().into()).await?;
            let Some(newest) = found.last() else { return Ok(()) };
            last = Some(newest.id);
            for template in found {
                self.write_json(
                    &format!("templates/{}/template.json", template.id),
                    &template.description,
                )?;
                let sets = account_contents::list_sample_sets(&self.app.db, self.account, template.id).await?;
                if sets.as_array().is_some_and(|sets| !sets.is_empty()) {
                    self.write_json(&format!("templates/{}/sample_sets.json", template.id), &sets)?;
                }
                self.write_versions(template.id).await?;
            }
        }
    }

    async fn write_versions(&mut self, template: TemplateId) -> Result<(), ArchiveError> {
        let (db, account) = (&self.app.db, self.account);
        let mut number = 0;
        while let Some(version) = account_contents::find_version_after(db, account, template, number).await? {
            self.go_on()?;
            number = version.number;
            self.write_json(&format!("templates/{template}/{number}.json"), &version.description)?;
            self.begin(&format!("templates/{template}/{number}.html"))?;
            self.zip.write_all(version.content.as_bytes())?;
        }
        Ok(())
    }

    /// Writes a line for each asset, in the API's format with the name of its file, and the latest files until
    /// [`MOST_ASSET_BYTES`] is reached.
    async fn write_assets(&mut self) -> Result<(), ArchiveError> {
        let mut room = MOST_ASSET_BYTES;
        let mut held: Vec<Asset> = Vec::new();
        let mut page = PageRequest::after(None, BATCH);
        self.begin("assets.ndjson")?;
        loop {
            self.go_on()?;
            let found = assets::list(&self.app.db, self.account, &AssetFilter::default(), page).await?;
            for asset in found.items {
                let rest = room.checked_sub(asset.bytes.unsigned_abs().into());
                room = rest.unwrap_or(room);
                let file = rest.map(|_| asset_name(asset.id));
                let mut line = serde_json::to_value(&asset)?;
                held.extend(file.is_some().then_some(asset));
                line["file"] = file.into();
                self.write_line(&line)?;
            }
            if found.next.is_none() {
                break;
            }
            page.after = found.next;
        }
        for asset in held {
            self.go_on()?;
            match assets::content(self.app, self.account, &asset).await {
                Ok((content, _memory)) => {
                    self.begin(&asset_name(asset.id))?;
                    self.zip.write_all(&content)?;
                }
                // Deleted in the meantime.
                Err(AssetError::NotFound) => {}
                // The rest of the account must be available even if the secret key is lost.
                Err(error @ (AssetError::Encryption(_) | AssetError::DataKey(DataKeyError::Encryption(_)))) => {
                    tracing::error!(%error, asset = %asset.id, "an export lacks the file of an asset");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes a line for each render, in the API's format.
    async fn write_renders(&mut self) -> Result<(), ArchiveError> {
        let (db, account) = (&self.app.db, self.account);
        self.begin("renders.ndjson")?;
        let mut page = PageRequest::after(None, BATCH);
        loop {
            self.go_on()?;
            let found = history::list(db, account, &RenderFilter::default(), page).await?;
            for render in found.items {
                let callback = callbacks::find_history(db, account, render.id).await?;
                self.write_line(&WholeRender::new(render, callback))?;
            }
            if found.next.is_none() {
                return Ok(());
            }
            page.after = found.next;
        }
    }

    async fn write_usage(&mut self) -> Result<(), ArchiveError> {
        let days = account_contents::list_usage(&self.app.db, self.account).await?;
        self.begin("usage.csv")?;
        writeln!(self.zip, "day,meter,livemode,credits,period_starts_at")?;
        for used in days {
            let period = used.period_starts_at.format(&Rfc3339).unwrap_or_default();
            // Fixed words and numbers only; nothing needs quoting.
            writeln!(
                self.zip,
                "{},{},{},{},{period}",
                used.day, used.meter, used.livemode, used.credits
            )?;
        }
        Ok(())
    }

    async fn write_log(&mut self) -> Result<(), ArchiveError> {
        let (db, account) = (&self.app.db, self.account);
        self.begin("log.ndjson")?;
        let mut last = None;
        loop {
            self.go_on()?;
            let found = account_contents::list_log(db, account, last, BATCH.get().into()).await?;
            let Some(newest) = found.last() else { return Ok(()) };
            last = Some(newest.id);
            for entry in found {
                self.write_line(&entry.description)?;
            }
        }
    }

    /// Writes a list of all documents, and the latest ones until [`MOST_DOCUMENT_BYTES`] is reached.
    async fn write_documents(&mut self) -> Result<(), ArchiveError> {
        let (db, account) = (&self.app.db, self.account);
        let mut room = MOST_DOCUMENT_BYTES;
        let mut held = Vec::new();
        let mut last = None;
        self.begin("documents.ndjson")?;
        loop {
            let found = account_contents::list_documents(db, account, last, self.now, BATCH.get().into()).await?;
            let Some(oldest) = found.last() else { break };
            last = Some(oldest.render);
            for document in found {
                let file = self
                    .holds(&document, &mut room)?
                    .then(|| document_name(document.render));
                if file.is_some() {
                    held.push((document.render, document.object));
                }
                self.write_line(&json!({
                    "render_id": document.render,
                    "bytes": document.bytes,
                    "address": document.address,
                    "expires_at": document.expires_at.format(&Rfc3339).ok(),
                    "file": file,
                }))?;
            }
            self.go_on()?;
        }
        for (render, object) in held {
            self.go_on()?;
            self.write_document(render, object)?;
        }
        Ok(())
    }

    /// Returns whether a document is included, and deducts its size from `room`. Documents in a bucket are not; their
    /// address leads there.
    fn holds(&self, document: &ListedDocument, room: &mut u64) -> Result<bool, ArchiveError> {
        let bytes = match fs::metadata(self.app.documents.files().path(document.object)) {
            Ok(file) => file.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let rest = room.checked_sub(bytes);
        *room = rest.unwrap_or(*room);
        Ok(rest.is_some())
    }

    fn write_document(&mut self, render: RenderId, object: Uuid) -> Result<(), ArchiveError> {
        let mut pdf = match File::open(self.app.documents.files().path(object)) {
            Ok(pdf) => pdf,
            // The document expired in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // PDFs are compressed already.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .unix_permissions(0o600);
        self.zip.start_file(document_name(render), options)?;
        io::copy(&mut pdf, &mut self.zip)?;
        Ok(())
    }
}

fn asset_name(asset: AssetId) -> String {
    format!("assets/{asset}")
}

fn document_name(render: RenderId) -> String {
    format!("documents/{render}.pdf")
}
