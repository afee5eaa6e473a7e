//! One worker process, seen from its parent.

use std::{io, time::Duration};

use platen_confined::parent::{self, Limit, limit_exceeded};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::{
    diagnostic::{Diagnostic, DiagnosticKind},
    pool::{ChildCommand, Error},
    wire::{checked_length, length_of},
};

/// Wall-clock limit for one task. Templates are bounded by their processor time, which on a busy machine may be spread
/// over several seconds through no fault of the template.
const WALL_CLOCK: Duration = Duration::from_secs(5);

/// Time limit for starting a worker, which reads a program that may not be in memory.
const START: Duration = Duration::from_secs(20);

/// Time limit for the exit of a process whose pipe has closed.
const ENDING: Duration = Duration::from_millis(300);

pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Process {
    /// Starts a worker and waits until it reports that it is ready.
    pub(super) async fn start(command: &ChildCommand) -> io::Result<Self> {
        let mut child = parent::command(&command.program, &command.arguments).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut process = Self { child, input, output };
        match timeout(START, process.read_frame()).await {
            Ok(Ok(frame)) if frame.is_empty() => Ok(process),
            Ok(Ok(_)) => Err(io::Error::other("the program is not a template worker")),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Runs one task. Fails with the limit that was exceeded, if that was the cause. After an error, or if the future
    /// is dropped before it completes, the process must not be used again.
    pub(super) async fn call(&mut self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        match timeout(WALL_CLOCK, self.exchange(frame)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.cause(error).await),
            Err(_) => Err(Diagnostic::limit(DiagnosticKind::Time).into()),
        }
    }

    /// Kills the process and waits until it is gone.
    pub(super) async fn kill(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(error = %error, "template worker process could not be killed");
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

    /// Returns why the process no longer answers.
    async fn cause(&mut self, error: io::Error) -> Error {
        match timeout(ENDING, self.child.wait()).await {
            Ok(Ok(status)) => match limit_exceeded(status) {
                Some(Limit::Time) => Diagnostic::limit(DiagnosticKind::Time).into(),
                Some(Limit::Memory) => Diagnostic::limit(DiagnosticKind::Memory).into(),
                None => Error::Process(io::Error::other(format!("it exited with {status}: {error}"))),
            },
            Ok(Err(error)) => Error::Process(error),
            Err(_) => Error::Process(error),
        }
    }
}
