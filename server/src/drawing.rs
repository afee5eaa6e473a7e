//! Pages drawn as pictures. A page is a stranger's and what draws it is young, so each document has a process of its own
//! that can do nothing but calculate; an account has one at a time.

pub mod child;

use std::{io, sync::Arc, thread::available_parallelism, time::Duration};

use platen_confined::{
    parent::{self, Limit, OWN_PROGRAM, limit_exceeded},
    turns::Turns,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Semaphore,
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
    places: Arc<Semaphore>,
    turns: Arc<Turns>,
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
            places: Arc::new(Semaphore::new(cores)),
            turns: Arc::default(),
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
        let _turn = self.turns.wait(account.0).await?;
        let _place = self.places.acquire().await.map_err(io::Error::other)?;
        match timeout(WALL_CLOCK, draw(pdf, dots_per_inch, pages)).await {
            Ok(drawn) => drawn,
            Err(_) => Err(too_long()),
        }
    }
}

async fn draw(pdf: &[u8], dots_per_inch: u16, pages: usize) -> Result<Vec<Drawn>, DrawingError> {
    let arguments = [COMMAND, &dots_per_inch.to_string(), &pages.to_string()];
    let mut child = parent::command(OWN_PROGRAM, arguments).spawn()?;
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
    match limit_exceeded(status) {
        Some(Limit::Time) => return Err(too_long()),
        Some(Limit::Memory) => {
            let message = "the pages take too much memory to draw";
            return Err(DrawingError::TooMuch(message.to_owned()));
        }
        None => exchanged?,
    };
    match serde_json::from_slice(&answer) {
        Ok(Ok(drawn)) => Ok(drawn),
        Ok(Err(Refusal::TooMuch(message))) => Err(DrawingError::TooMuch(message)),
        Ok(Err(Refusal::NotDrawn(message))) => Err(io::Error::other(message).into()),
        Err(error) => Err(io::Error::other(format!("it ended with {status}: {error}")).into()),
    }
}

fn too_long() -> DrawingError {
    DrawingError::TooMuch(format!("the pages take more than {PROCESSOR_SECONDS} s to draw"))
}
