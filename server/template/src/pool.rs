//! A pool of warm worker processes that fill templates.
//!
//! An account has one worker at a time and its further tasks wait for it, so that an account's templates, however long
//! they take, delay only that account. A worker that exceeds a limit is killed and replaced; so is a worker whose
//! caller drops the call.

mod process;

use std::{
    ffi::OsString,
    io,
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use platen_confined::account_queues::{AccountQueues, Turn};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use uuid::Uuid;

use crate::{
    analysis::TranslationKey,
    diagnostic::{Diagnostic, DiagnosticKind},
    language::{Rendered, Traced, Undefined},
    partials::Missing,
    pool::process::Process,
    sources::Sources,
    wire::Work,
};

/// Longest template, partials, catalogues and context together, in bytes of JSON.
pub const LONGEST_INPUT: usize = 16 << 20;

/// The command that starts a worker. It must call [`crate::child::run`], and gets no environment variables.
#[derive(Clone, Debug)]
pub struct ChildCommand {
    /// Path of the program, usually [`platen_confined::parent::OWN_PROGRAM`].
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
}

/// Why a task has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The template or its context is invalid, or exceeded a limit.
    #[error(transparent)]
    Template(#[from] Diagnostic),
    /// The service failed: no worker could be started, or one ended in a way that no template should be able to cause.
    #[error("template worker process failed: {0}")]
    Process(#[source] io::Error),
}

/// A pool of worker processes. Clones share the pool.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    command: ChildCommand,
    size: usize,
    /// One permit for each worker that may run.
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Process>>,
    queues: Arc<AccountQueues>,
    /// Runtime that replaces workers, wherever their leases are dropped.
    runtime: Handle,
}

impl Pool {
    /// Starts `size` workers and returns when they are ready. Fails if one cannot be started.
    pub async fn start(command: ChildCommand, size: NonZeroUsize) -> io::Result<Self> {
        let mut idle = Vec::with_capacity(size.get());
        for _ in 0..size.get() {
            idle.push(Process::start(&command).await?);
        }
        Ok(Self {
            shared: Arc::new(Shared {
                command,
                size: size.get(),
                permits: Arc::new(Semaphore::new(size.get())),
                idle: Mutex::new(idle),
                queues: Arc::default(),
                runtime: Handle::current(),
            }),
        })
    }

    /// Returns the number of workers, and how many of them are running a task or being replaced.
    pub fn children(&self) -> (usize, usize) {
        let free = self.shared.permits.available_permits();
        (self.shared.size, self.shared.size - free)
    }

    /// Fills a template; see [`crate::language::render`].
    pub async fn render(
        &self,
        account: Uuid,
        sources: impl Into<Sources<'_>>,
        context: &(impl Serialize + ?Sized),
        undefined: Undefined,
    ) -> Result<Rendered, Error> {
        let sources = sources.into();
        self.call(
            account,
            &Work::Render {
                sources,
                context,
                undefined,
            },
        )
        .await
    }

    /// Fills a template, and finds the lines that made its text; see [`crate::language::trace`].
    pub async fn trace(
        &self,
        account: Uuid,
        sources: impl Into<Sources<'_>>,
        context: &(impl Serialize + ?Sized),
        undefined: Undefined,
    ) -> Result<Traced, Error> {
        let sources = sources.into();
        self.call(
            account,
            &Work::Trace {
                sources,
                context,
                undefined,
            },
        )
        .await
    }

    /// Checks a template without filling it; see [`crate::language::check`].
    pub async fn check(&self, account: Uuid, template: &str) -> Result<(), Error> {
        let template = template.into();
        self.call(account, &Work::Check::<()> { template }).await
    }

    /// Returns the partials that are named but not among the sources; see [`crate::partials::missing`].
    pub async fn missing_partials(
        &self,
        account: Uuid,
        sources: impl Into<Sources<'_>>,
        own: Option<&str>,
    ) -> Result<Vec<Missing>, Error> {
        let (sources, own) = (sources.into(), own.map(Into::into));
        self.call(account, &Work::Missing::<()> { sources, own }).await
    }

    /// Returns the JSON schema of the contexts that suit a template; see [`crate::analysis::schema`].
    pub async fn schema(&self, account: Uuid, sources: impl Into<Sources<'_>>) -> Result<Value, Error> {
        let sources = sources.into();
        self.call(account, &Work::Schema::<()> { sources }).await
    }

    /// Returns the texts that a template prints by constant keys; see [`crate::analysis::translation_keys`].
    pub async fn translation_keys(
        &self,
        account: Uuid,
        sources: impl Into<Sources<'_>>,
    ) -> Result<Vec<TranslationKey>, Error> {
        let sources = sources.into();
        self.call(account, &Work::TranslationKeys::<()> { sources }).await
    }

    /// Returns the names in a context that a template never uses; see [`crate::analysis::unused`].
    pub async fn unused(
        &self,
        account: Uuid,
        sources: impl Into<Sources<'_>>,
        context: &(impl Serialize + ?Sized),
    ) -> Result<Vec<String>, Error> {
        let sources = sources.into();
        self.call(account, &Work::Unused { sources, context }).await
    }

    async fn call<Context, T>(&self, account: Uuid, work: &Work<'_, Context>) -> Result<T, Error>
    where
        Context: Serialize,
        T: DeserializeOwned,
    {
        let frame = encoded(work)?;
        let mut lease = self.lease(account).await.map_err(Error::Process)?;
        let answer = lease.process.as_mut().ok_or_else(no_process)?.call(&frame).await?;
        lease.give_back();
        let result: Result<T, Diagnostic> =
            serde_json::from_slice(&answer).map_err(|error| Error::Process(error.into()))?;
        Ok(result?)
    }

    async fn lease(&self, account: Uuid) -> io::Result<Lease> {
        let turn = self.shared.queues.wait(account).await?;
        let permit = Arc::clone(&self.shared.permits)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let idle = self.shared.idle().pop();
        let process = match idle {
            Some(process) => process,
            // The replacement of a killed worker could not be started.
            None => Process::start(&self.shared.command).await?,
        };
        Ok(Lease {
            shared: Arc::clone(&self.shared),
            process: Some(process),
            permit: Some(permit),
            _turn: turn,
        })
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that is running a task. If the lease is dropped without being given back, the worker is killed and
/// replaced.
struct Lease {
    shared: Arc<Shared>,
    process: Option<Process>,
    permit: Option<OwnedSemaphorePermit>,
    _turn: Turn,
}

impl Lease {
    fn give_back(mut self) {
        if let Some(process) = self.process.take() {
            self.shared.idle().push(process);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else {
            return;
        };
        let (shared, permit) = (Arc::clone(&self.shared), self.permit.take());
        self.shared.runtime.spawn(async move {
            let ((), started) = tokio::join!(process.kill(), Process::start(&shared.command));
            match started {
                Ok(process) => shared.idle().push(process),
                Err(error) => tracing::error!(error = %error, "template worker process could not be replaced"),
            }
            drop(permit);
        });
    }
}

/// Encodes a task for a worker. Stops as soon as it exceeds [`LONGEST_INPUT`].
fn encoded(work: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut frame = Frame(Vec::new());
    match serde_json::to_writer(&mut frame, work) {
        Ok(()) => Ok(frame.0),
        Err(error) if error.is_io() => Err(Diagnostic::limit(DiagnosticKind::Input).into()),
        Err(error) => Err(Error::Process(error.into())),
    }
}

/// A buffer of at most [`LONGEST_INPUT`] bytes.
struct Frame(Vec<u8>);

impl io::Write for Frame {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST_INPUT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn no_process() -> Error {
    Error::Process(io::ErrorKind::NotFound.into())
}
