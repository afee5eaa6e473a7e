//! Pages drawn as pictures. A page is a stranger's and what draws it is young, so each document has a process of its own
//! that can do nothing but calculate; an account has one at a time.

pub mod child;

use std::{
    collections::HashMap,
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread::available_parallelism,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    domain::ids::AccountId,
    drawing::child::{Drawn, PROCESSOR_SECONDS, Refusal},
};

/// The hidden command of [`crate::cli`].
const COMMAND: &str = "draw-pages";
/// The longest that a document may take, whatever else the machine does.
const WALL_CLOCK: Duration = Duration::from_secs(2 * PROCESSOR_SECONDS);

/// Draws pages; cheap to clone.
#[derive(Debug, Clone)]
pub struct Drawing {
    processes: Arc<Semaphore>,
    accounts: Arc<Mutex<HashMap<AccountId, Weak<Semaphore>>>>,
}

/// Why there are no pictures.
#[derive(Debug, thiserror::Error)]
pub enum DrawingError {
    /// The document asks for too much.
    #[error("{0}")]
    TooMuch(String),
    /// The process failed, or the document is not what it should be; a fault of ours.
    #[error("pages could not be drawn: {0}")]
    Process(#[from] io::Error),
}

impl Default for Drawing {
    /// As many processes at once as there are cores.
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            processes: Arc::new(Semaphore::new(cores)),
            accounts: Arc::default(),
        }
    }
}

impl Drawing {
    /// Draws the first so many pages of a document that was made for the account, with so many pixels an inch.
    /// Dropping the future ends the process.
    pub async fn draw(
        &self,
        account: AccountId,
        pdf: &[u8],
        dots_per_inch: u16,
        pages: usize,
    ) -> Result<Vec<Drawn>, DrawingError> {
        let _turns = self.turns(account).await?;
        match timeout(WALL_CLOCK, draw(pdf, dots_per_inch, pages)).await {
            Ok(drawn) => drawn,
            Err(_) => Err(too_long()),
        }
    }

    /// The account's turn, and then a process's.
    async fn turns(&self, account: AccountId) -> io::Result<[OwnedSemaphorePermit; 2]> {
        let own = {
            let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
            accounts.retain(|_, turn| turn.strong_count() > 0);
            let known = accounts.get(&account).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::new(Semaphore::new(1));
                accounts.insert(account, Arc::downgrade(&turn));
                turn
            })
        };
        let closed = io::Error::other;
        Ok([
            own.acquire_owned().await.map_err(closed)?,
            Arc::clone(&self.processes).acquire_owned().await.map_err(closed)?,
        ])
    }
}

async fn draw(pdf: &[u8], dots_per_inch: u16, pages: usize) -> Result<Vec<Drawn>, DrawingError> {
    let mut child = Command::new("/proc/self/exe")
        .args([COMMAND, &dots_per_inch.to_string(), &pages.to_string()])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    let mut answer = Vec::new();
    let exchanged = async {
        input.write_all(pdf).await?;
        drop(input);
        output.read_to_end(&mut answer).await
    };
    // If it breaks off, the process's end says why.
    let exchanged = exchanged.await;
    let status = child.wait().await?;
    if let Some(error) = limit_exceeded(status) {
        return Err(error);
    }
    exchanged?;
    match serde_json::from_slice(&answer) {
        Ok(Ok(drawn)) => Ok(drawn),
        Ok(Err(Refusal::TooMuch(message))) => Err(DrawingError::TooMuch(message)),
        Ok(Err(Refusal::NotDrawn(message))) => Err(io::Error::other(message).into()),
        Err(error) => Err(io::Error::other(format!("it ended with {status}: {error}")).into()),
    }
}

fn limit_exceeded(status: ExitStatus) -> Option<DrawingError> {
    use rustix::process::Signal;
    match Signal::from_named_raw(status.signal()?)? {
        Signal::XCPU => Some(too_long()),
        // An allocation that fails aborts.
        Signal::ABORT => Some(DrawingError::TooMuch(
            "the pages take too much memory to draw".to_owned(),
        )),
        _ => None,
    }
}

fn too_long() -> DrawingError {
    DrawingError::TooMuch(format!("the pages take more than {PROCESSOR_SECONDS} s to draw"))
}
