//! Rasterization of PDF pages, reading of their structure, and examination of assets, in sandboxed worker processes. Files
//! are untrusted and the rasterizer is young, so each document gets a process of its own that can only compute. An account
//! has one process for documents and one for assets at a time.

pub mod child;

use std::{io, iter, sync::Arc, thread::available_parallelism, time::Duration};

use platen_confined::{
    account_queues::{AccountQueues, Turn},
    parent::{self, Limit, OWN_PROGRAM, limit_exceeded},
};
use platen_domain::{
    asset::properties::AssetProperties, ids::AccountId, page_comparison::ComparedPage,
    render::structure::DocumentStructure,
};
use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdout},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::drawing::child::{
    AssetFile, Drawings, Drawn, PROCESSOR_SECONDS, PlacedWord, Refusal, SECONDS_OF_COMPARISONS, Size,
};

/// The hidden commands of `platen`.
const COMMAND: &str = "draw-pages";
const COMPARISON: &str = "compare-pages";
const STRUCTURE: &str = "read-structure";
const EXAMINATION: &str = "examine-assets";
/// Marks the size as that of the longer side.
const SMALL: &str = "--small";
/// Maximum number of processes that examine the files of one upload: a file can end its process.
const MOST_EXAMINATIONS: usize = 5;
/// Time limit of a document, whatever the load of the machine, as a multiple of its processor time.
const WALL_CLOCK: u64 = 2;

/// Rasterizes pages in worker processes; cheap to clone.
#[derive(Debug, Clone)]
pub struct Drawing {
    places: Arc<Semaphore>,
    queues: Arc<AccountQueues>,
    /// Apart from the others, so that an upload and a preview don't wait for each other.
    examinations: Arc<AccountQueues>,
}

/// Why a file is refused that ended the process which examined it.
const TOO_MUCH: &str = "The file can't be examined: it is damaged, or takes too much time or memory";
/// Why the files after these are refused.
const NOT_EXAMINED: &str = "The file wasn't examined, because others before it took too much time or memory. Upload it \
                            without them";

/// Why pages could not be rasterized.
#[derive(Debug, thiserror::Error)]
pub enum DrawingError {
    /// The document exceeds a limit.
    #[error("{0}")]
    TooMuch(String),
    /// The process failed, or the document is damaged; an internal error.
    #[error("the pages could not be rasterized: {0}")]
    Process(#[from] io::Error),
}

impl Default for Drawing {
    /// Allows as many processes at once as there are cores.
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            places: Arc::new(Semaphore::new(cores)),
            queues: Arc::default(),
            examinations: Arc::default(),
        }
    }
}

impl Drawing {
    /// Rasterizes the first `pages` pages of a document of the account. Dropping the future ends the process.
    pub async fn draw(
        &self,
        account: AccountId,
        pdf: &[u8],
        size: Size,
        pages: usize,
    ) -> Result<Vec<Drawn>, DrawingError> {
        let wanted = Drawings {
            size,
            pages,
            first: 1,
            words: 0,
        };
        let mut raster_stream = self.start(account, pdf, wanted).await?;
        let mut drawn = Vec::with_capacity(pages);
        while let Some(page) = raster_stream.next().await? {
            drawn.push(page);
        }
        Ok(drawn)
    }

    /// Starts rasterizing pages of a document of the account, after the account's previous document.
    pub async fn start(&self, account: AccountId, pdf: &[u8], wanted: Drawings) -> Result<RasterStream, DrawingError> {
        let Drawings {
            size,
            pages,
            first,
            words,
        } = wanted;
        let (size, small) = match size {
            Size::DotsPerInch(dots) => (dots.to_string(), None),
            Size::LongerSide(pixels) => (pixels.to_string(), Some(SMALL)),
        };
        let numbers = [size, pages.to_string(), first.to_string(), words.to_string()];
        let arguments = iter::once(COMMAND)
            .chain(numbers.iter().map(String::as_str))
            .chain(small);
        self.spawn(
            self.queues.wait(account.0).await?,
            arguments,
            &[pdf],
            pages,
            PROCESSOR_SECONDS,
        )
        .await
    }

    /// Compares the pages of two documents of the account, after its previous document. Each is given with the number
    /// of its pages that are compared. Dropping the future ends the process.
    pub async fn compare(
        &self,
        account: AccountId,
        (older, older_pages): (&[u8], usize),
        (newer, newer_pages): (&[u8], usize),
    ) -> Result<Vec<ComparedPage>, DrawingError> {
        let numbers = [older.len(), older_pages, newer_pages].map(|number| number.to_string());
        let arguments = iter::once(COMPARISON).chain(numbers.iter().map(String::as_str));
        let pages = older_pages.max(newer_pages);
        let mut stream = self
            .spawn(
                self.queues.wait(account.0).await?,
                arguments,
                &[older, newer],
                pages,
                SECONDS_OF_COMPARISONS,
            )
            .await?;
        let mut compared = Vec::with_capacity(pages);
        while let Some(page) = stream.next_line().await? {
            compared.push(page);
        }
        Ok(compared)
    }

    /// Reads the structure of a document of the account, after its previous document. Dropping the future ends the
    /// process.
    pub async fn structure(&self, account: AccountId, pdf: &[u8]) -> Result<DocumentStructure, DrawingError> {
        let arguments = iter::once(STRUCTURE);
        let mut stream = self
            .spawn(
                self.queues.wait(account.0).await?,
                arguments,
                &[pdf],
                1,
                PROCESSOR_SECONDS,
            )
            .await?;
        let structure = stream.next_line().await?;
        structure.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof).into())
    }

    /// Examines files of the account, each given with its media type, after the files that the account sent before. Returns
    /// the properties of each, or a sentence that says why it isn't allowed. Dropping the future ends the process.
    pub async fn examine(
        &self,
        account: AccountId,
        files: &[(&'static str, &[u8])],
    ) -> Result<Vec<Result<Option<AssetProperties>, String>>, DrawingError> {
        let needed = files
            .iter()
            .copied()
            .filter(|(kind, _)| platen_asset::is_examined(kind));
        let mut examined = self
            .examine_all(account, &needed.collect::<Vec<_>>())
            .await?
            .into_iter();
        let results = files.iter().map(|(kind, _)| {
            let examined = platen_asset::is_examined(kind).then(|| examined.next());
            examined.flatten().unwrap_or(Ok(None))
        });
        Ok(results.collect())
    }

    /// Examines files in worker processes. The next process begins after the file that ended the previous one.
    async fn examine_all(
        &self,
        account: AccountId,
        files: &[(&'static str, &[u8])],
    ) -> Result<Vec<Result<Option<AssetProperties>, String>>, DrawingError> {
        let mut examined = Vec::with_capacity(files.len());
        for _ in 0..MOST_EXAMINATIONS {
            let rest = files.get(examined.len()..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let described = rest
                .iter()
                .map(|(kind, content)| AssetFile::argument(kind, content.len()));
            let described: Vec<_> = described.collect();
            let arguments = iter::once(EXAMINATION).chain(described.iter().map(String::as_str));
            let contents: Vec<_> = rest.iter().map(|(_, content)| *content).collect();
            let turn = self.examinations.wait(account.0).await?;
            let mut stream = self
                .spawn(turn, arguments, &contents, rest.len(), SECONDS_OF_COMPARISONS)
                .await?;
            loop {
                match stream.next_line().await {
                    Ok(Some(result)) => examined.push(result),
                    Ok(None) => break,
                    Err(DrawingError::TooMuch(_)) => {
                        examined.push(Err(TOO_MUCH.to_owned()));
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        examined.resize(files.len(), Err(NOT_EXAMINED.to_owned()));
        Ok(examined)
    }

    /// Starts a process, when it is the account's turn, that reads documents and writes a line for each of `pages` pages,
    /// within `seconds` of processor time.
    async fn spawn<'a>(
        &self,
        turn: Turn,
        arguments: impl Iterator<Item = &'a str>,
        documents: &[&[u8]],
        pages: usize,
        seconds: u64,
    ) -> Result<RasterStream, DrawingError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(io::Error::other)?;
        let mut child = parent::command(OWN_PROGRAM, arguments).spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        };
        let ends = Instant::now() + Duration::from_secs(WALL_CLOCK * seconds);
        let handed_over = timeout_at(ends, async {
            for document in documents {
                input.write_all(document).await?;
            }
            drop(input);
            io::Result::Ok(())
        });
        // If writing fails, the exit status of the process shows why.
        let _ = handed_over.await.map_err(|_| too_long(seconds))?;
        Ok(RasterStream {
            child,
            pages: BufReader::new(output).lines(),
            missing: pages,
            ends,
            seconds,
            _place: place,
            _turn: turn,
        })
    }
}

/// A process that rasterizes pages; killed on drop.
pub struct RasterStream {
    child: Child,
    pages: Lines<BufReader<ChildStdout>>,
    missing: usize,
    ends: Instant,
    /// Limit of processor time.
    seconds: u64,
    _place: OwnedSemaphorePermit,
    _turn: Turn,
}

impl RasterStream {
    /// Returns the next page, or `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Drawn>, DrawingError> {
        self.next_line().await
    }

    async fn next_line<T: DeserializeOwned>(&mut self) -> Result<Option<T>, DrawingError> {
        if self.missing == 0 {
            return Ok(None);
        }
        match timeout_at(self.ends, self.read()).await {
            Ok(drawn) => {
                self.missing -= 1;
                drawn.map(Some)
            }
            Err(_) => Err(too_long(self.seconds)),
        }
    }

    /// Returns the words of the pages, after the last page, if they were requested.
    pub async fn words(&mut self) -> Result<Vec<PlacedWord>, DrawingError> {
        let seconds = self.seconds;
        timeout_at(self.ends, self.read())
            .await
            .map_err(|_| too_long(seconds))?
    }

    async fn read<T: DeserializeOwned>(&mut self) -> Result<T, DrawingError> {
        // A killed process may leave an incomplete line.
        let line = self.pages.next_line().await.ok().flatten();
        match line.as_deref().map(serde_json::from_str::<Result<T, Refusal>>) {
            Some(Ok(Ok(read))) => return Ok(read),
            Some(Ok(Err(Refusal::TooMuch(message)))) => return Err(DrawingError::TooMuch(message)),
            Some(Ok(Err(Refusal::NotDrawn(message)))) => return Err(io::Error::other(message).into()),
            Some(Err(_)) | None => {}
        }
        let status = self.child.wait().await?;
        match limit_exceeded(status) {
            Some(Limit::Time) => Err(too_long(self.seconds)),
            Some(Limit::Memory) => {
                let message = "rasterizing the pages takes too much memory";
                Err(DrawingError::TooMuch(message.to_owned()))
            }
            None => Err(io::Error::other(format!("it ended with {status}")).into()),
        }
    }
}

fn too_long(seconds: u64) -> DrawingError {
    DrawingError::TooMuch(format!("rasterizing the pages takes more than {seconds} s"))
}
