//! A minimal DevTools client of its own: NUL-ended JSON over `--remote-debugging-pipe`, no more than the bench needs.

use std::{
    collections::HashMap,
    os::unix::fs::chown,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use command_fds::{CommandFdExt as _, FdMapping};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe,
    process::Child,
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::error::LoadError;

/// Chromium has no sandbox as root, so root runs it as this user, which the set-up script makes.
const BROWSER_USER: &str = "platen-browser";

/// A kept Chromium with its own folder for the profile; both are gone after [`Browser::close`].
pub(crate) struct Browser {
    child: Child,
    devtools: DevTools,
    // Removed when dropped.
    _profile: tempfile::TempDir,
}

/// Sends commands; cheap to clone.
#[derive(Clone)]
pub(crate) struct DevTools {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    shared: Arc<Mutex<Shared>>,
}

/// An attached page.
pub(crate) struct PageSession {
    pub(crate) target_id: String,
    devtools: DevTools,
    session_id: String,
    loads: mpsc::UnboundedReceiver<()>,
}

#[derive(Default)]
struct Shared {
    last_id: u64,
    closed: bool,
    answers: HashMap<u64, oneshot::Sender<Result<Box<RawValue>, String>>>,
    loads: HashMap<String, mpsc::UnboundedSender<()>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
    method: Option<&'a str>,
    #[serde(rename = "sessionId")]
    session_id: Option<&'a str>,
}

impl Browser {
    /// Starts Chromium's real binary with its sandbox on and the flags that Platen's own browser has.
    pub(crate) fn launch(chromium: &Path) -> Result<Self, LoadError> {
        let profile = tempfile::Builder::new().prefix("platen-load-").tempdir()?;
        let (commands_in, commands_out) = std::io::pipe()?;
        let (answers_in, answers_out) = std::io::pipe()?;
        let mut command = Command::new(chromium);
        command
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args([
                "--headless",
                "--no-first-run",
                "--disable-gpu",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
                "--disable-quic",
                "--dns-prefetch-disable",
                "--hide-scrollbars",
                "--mute-audio",
                "--disable-features=RenderDocument,BackForwardCache",
            ])
            .env_clear()
            .env("HOME", profile.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .fd_mappings(vec![
                FdMapping {
                    parent_fd: commands_in.into(),
                    child_fd: 3,
                },
                FdMapping {
                    parent_fd: answers_out.into(),
                    child_fd: 4,
                },
            ])
            .map_err(|error| LoadError::Chromium(error.to_string()))?;
        if rustix::process::geteuid().is_root() {
            use std::os::unix::process::CommandExt as _;
            let (uid, gid) = browser_user()?;
            chown(profile.path(), Some(uid), Some(gid))?;
            command.uid(uid).gid(gid);
        }
        let child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| LoadError::Chromium(format!("{}: {error}", chromium.display())))?;
        let devtools = DevTools::connect(
            pipe::Sender::from_owned_fd(commands_out.into())?,
            pipe::Receiver::from_owned_fd(answers_in.into())?,
        );
        Ok(Self {
            child,
            devtools,
            _profile: profile,
        })
    }

    /// Process id of the browser process.
    pub(crate) fn pid(&self) -> Result<u32, LoadError> {
        self.child
            .id()
            .ok_or_else(|| LoadError::Chromium("has ended already".into()))
    }

    /// The client's end.
    pub(crate) fn devtools(&self) -> DevTools {
        self.devtools.clone()
    }

    /// Asks Chromium to leave and makes sure of it.
    pub(crate) async fn close(mut self) -> Result<(), LoadError> {
        const PATIENCE: Duration = Duration::from_secs(5);
        // A browser that is already gone can't answer, and needs no other end.
        let _ = timeout(PATIENCE, self.devtools.send(None, "Browser.close", json!({}))).await;
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

impl DevTools {
    fn connect(mut commands: pipe::Sender, answers: pipe::Receiver) -> Self {
        let (outgoing, mut queue) = mpsc::unbounded_channel::<Vec<u8>>();
        let shared = Arc::<Mutex<Shared>>::default();
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if commands.write_all(&message).await.is_err() {
                    break;
                }
            }
        });
        tokio::spawn(read_messages(
            BufReader::with_capacity(1 << 16, answers),
            shared.clone(),
        ));
        Self { outgoing, shared }
    }

    /// Sends one command to the browser, or to a page if `session_id` names one, and waits for its answer.
    async fn send(&self, session_id: Option<&str>, method: &str, params: Value) -> Result<Box<RawValue>, LoadError> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut shared = lock(&self.shared);
            if shared.closed {
                return Err(LoadError::Chromium(format!("{method}: the pipe is closed")));
            }
            shared.last_id += 1;
            let id = shared.last_id;
            shared.answers.insert(id, answer);
            id
        };
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session_id) = session_id {
            message["sessionId"] = session_id.into();
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        let gone = || LoadError::Chromium(format!("{method}: Chromium has ended"));
        self.outgoing.send(bytes).map_err(|_| gone())?;
        answered
            .await
            .map_err(|_| gone())?
            .map_err(|error| LoadError::Chromium(format!("{method}: {error}")))
    }

    /// Chromium's name and version, for instance `HeadlessChrome/156.0.8078.79`.
    pub(crate) async fn version(&self) -> Result<String, LoadError> {
        #[derive(Deserialize)]
        struct Version {
            product: String,
        }
        let version: Version = parse(&self.send(None, "Browser.getVersion", json!({})).await?)?;
        Ok(version.product)
    }

    /// Opens a tab in the browser's default context and attaches to it.
    pub(crate) async fn open_page(&self) -> Result<PageSession, LoadError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            target_id: String,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Attached {
            session_id: String,
        }
        let created: Created = parse(
            &self
                .send(None, "Target.createTarget", json!({ "url": "about:blank" }))
                .await?,
        )?;
        let attach = json!({ "targetId": created.target_id, "flatten": true });
        let attached: Attached = parse(&self.send(None, "Target.attachToTarget", attach).await?)?;
        let (load, loads) = mpsc::unbounded_channel();
        lock(&self.shared).loads.insert(attached.session_id.clone(), load);
        let page = PageSession {
            target_id: created.target_id,
            devtools: self.clone(),
            session_id: attached.session_id,
            loads,
        };
        page.send("Page.enable", json!({})).await?;
        Ok(page)
    }

    /// Closes a tab.
    pub(crate) async fn close_page(&self, page: PageSession) -> Result<(), LoadError> {
        lock(&self.shared).loads.remove(&page.session_id);
        let close = json!({ "targetId": page.target_id });
        self.send(None, "Target.closeTarget", close).await.map(drop)
    }
}

impl PageSession {
    /// Sends one command to the page.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Result<Box<RawValue>, LoadError> {
        self.devtools.send(Some(&self.session_id), method, params).await
    }

    /// Sends a command that replaces the document, and waits until that has loaded.
    pub(crate) async fn send_and_load(&mut self, method: &str, params: Value) -> Result<(), LoadError> {
        while self.loads.try_recv().is_ok() {}
        self.send(method, params).await?;
        self.loads
            .recv()
            .await
            .ok_or_else(|| LoadError::Chromium(format!("{method}: Chromium has ended")))
    }
}

/// Reads an answer.
pub(crate) fn parse<'a, T: Deserialize<'a>>(answer: &'a RawValue) -> Result<T, LoadError> {
    Ok(serde_json::from_str(answer.get())?)
}

async fn read_messages(mut answers: BufReader<pipe::Receiver>, shared: Arc<Mutex<Shared>>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match answers.read_until(0, &mut bytes).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        bytes.pop();
        if let Ok(message) = serde_json::from_slice::<Message>(&bytes) {
            dispatch(&shared, message);
        }
    }
    // The pipe's end: everybody who waits hears of it at once.
    let mut shared = lock(&shared);
    shared.closed = true;
    shared.answers.clear();
    shared.loads.clear();
}

fn dispatch(shared: &Mutex<Shared>, message: Message) {
    if let Some(id) = message.id {
        let waiting = lock(shared).answers.remove(&id);
        if let Some(waiting) = waiting {
            let answer = match (message.error, message.result) {
                (None, Some(result)) => Ok(result.to_owned()),
                (error, _) => Err(error.unwrap_or_default().to_string()),
            };
            // Nobody waits any more: then nobody misses it.
            let _ = waiting.send(answer);
        }
    } else if let (Some("Page.loadEventFired"), Some(session_id)) = (message.method, message.session_id)
        && let Some(load) = lock(shared).loads.get(session_id)
    {
        let _ = load.send(());
    }
}

/// User and group id of the browser's user.
fn browser_user() -> Result<(u32, u32), LoadError> {
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&BROWSER_USER))
        .and_then(|fields| Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?)))
        .ok_or_else(|| {
            LoadError::Chromium(format!(
                "can't be sandboxed as root: make an unprivileged user with `useradd --system {BROWSER_USER}`"
            ))
        })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
