//! One child process, as its parent sees it.

use std::{io, time::Duration};

use platen_confined::parent::{self, Limit, limit_exceeded};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::{
    fault::{Fault, FaultKind},
    pool::{ChildCommand, Error},
    wire::{checked_length, length_of},
};

/// The longest that one piece of work may take, whatever else the machine does. Templates are bounded by their processor
/// time: on a busy machine that may be spread over several seconds, and no template is to blame for it.
const WALL_CLOCK: Duration = Duration::from_secs(5);

/// The longest that a start may take; it reads a program that may not be in memory.
const START: Duration = Duration::from_secs(20);

/// The longest that a process whose pipe has closed takes to be gone.
const ENDING: Duration = Duration::from_millis(300);

pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Process {
    /// Starts a child and waits until it says that it is ready.
    pub(super) async fn start(command: &ChildCommand) -> io::Result<Self> {
        let mut child = parent::command(&command.program, &command.arguments).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut process = Self { child, input, output };
        match timeout(START, process.read_frame()).await {
            Ok(Ok(frame)) if frame.is_empty() => Ok(process),
            Ok(Ok(_)) => Err(io::Error::other("the program is not a template process")),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Has one piece of work done. After an error, or if this is not awaited to its end, the process is of no more use.
    ///
    /// # Errors
    /// The limit that was exceeded, if it was one.
    pub(super) async fn call(&mut self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        match timeout(WALL_CLOCK, self.exchange(frame)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.cause(error).await),
            Err(_) => Err(Fault::limit(FaultKind::Time).into()),
        }
    }

    /// Ends the process and waits until it is gone.
    pub(super) async fn kill(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(error = %error, "a template process could not be killed");
        }
    }

    async fn exchange(&mut self, frame: &[u8]) -> io::Result<Vec<u8>> {
        self.input.write_all(&length_of(frame)?).await?;
        self.input.write_all(frame).await?;
        self.input.flush().await?;
        self.read_frame().await
    }

    async fn read_frame(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.output.read_exact(&mut length).await?;
        let mut frame = vec![0; checked_length(length)?];
        self.output.read_exact(&mut frame).await?;
        Ok(frame)
    }

    /// Why the process does not answer any more.
    async fn cause(&mut self, error: io::Error) -> Error {
        match timeout(ENDING, self.child.wait()).await {
            Ok(Ok(status)) => match limit_exceeded(status) {
                Some(Limit::Time) => Fault::limit(FaultKind::Time).into(),
                Some(Limit::Memory) => Fault::limit(FaultKind::Memory).into(),
                None => Error::Process(io::Error::other(format!("it ended with {status}: {error}"))),
            },
            Ok(Err(error)) => Error::Process(error),
            Err(_) => Error::Process(error),
        }
    }
}
