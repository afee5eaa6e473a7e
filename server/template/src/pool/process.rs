//! One child process, as its parent sees it.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{
    fault::{Fault, FaultKind},
    pool::{ChildCommand, Error},
    wire::{checked_length, length_of},
};

/// The longest that one piece of work may take, whatever else the machine does.
const WALL_CLOCK: Duration = Duration::from_secs(2);

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
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
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
                Some(kind) => Fault::limit(kind).into(),
                None => Error::Process(io::Error::other(format!("it ended with {status}: {error}"))),
            },
            Ok(Err(error)) => Error::Process(error),
            Err(_) => Error::Process(error),
        }
    }
}

/// The limit that ends a process in this way.
fn limit_exceeded(status: ExitStatus) -> Option<FaultKind> {
    use rustix::process::Signal;
    let signal = Signal::from_named_raw(status.signal()?)?;
    match signal {
        Signal::XCPU => Some(FaultKind::Time),
        // An allocation that fails aborts, a stack that cannot grow faults, and the system itself kills when it runs out.
        Signal::ABORT | Signal::SEGV | Signal::BUS | Signal::KILL => Some(FaultKind::Memory),
        _ => None,
    }
}
