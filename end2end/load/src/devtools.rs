//! A minimal DevTools client: NUL-terminated JSON over `--remote-debugging-pipe`, limited to the needs of the
//! benchmark.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe,
    sync::{mpsc, oneshot},
};

use crate::{browser::Frames, error::LoadError};

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

impl DevTools {
    /// Starts the reader and writer tasks on the two pipe ends.
    pub(crate) fn connect(mut commands: pipe::Sender, answers: pipe::Receiver) -> Self {
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

    /// Sends a command to the browser, or to the page that `session_id` names, and waits for its response.
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

    /// Closes the browser. Ignores errors, because a browser that has exited can't respond.
    pub(crate) async fn close_browser(&self) {
        let _ = self.send(None, "Browser.close", json!({})).await;
    }

    /// Returns Chromium's name and version, such as `HeadlessChrome/156.0.8078.79`.
    pub(crate) async fn version(&self) -> Result<String, LoadError> {
        #[derive(Deserialize)]
        struct Version {
            product: String,
        }
        let version: Version = parse(&self.send(None, "Browser.getVersion", json!({})).await?)?;
        Ok(version.product)
    }

    /// Opens a tab in the browser's default context and attaches to it.
    pub(crate) async fn open_page(&self, frames: Frames) -> Result<PageSession, LoadError> {
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
        let create = json!({ "url": "about:blank", "enableBeginFrameControl": frames == Frames::None });
        let created: Created = parse(&self.send(None, "Target.createTarget", create).await?)?;
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
    /// Sends a command to the page and waits for its response.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Result<Box<RawValue>, LoadError> {
        self.devtools.send(Some(&self.session_id), method, params).await
    }

    /// Sends a command that replaces the document, and waits for its load event.
    pub(crate) async fn send_and_load(&mut self, method: &str, params: Value) -> Result<(), LoadError> {
        while self.loads.try_recv().is_ok() {}
        self.send(method, params).await?;
        self.loads
            .recv()
            .await
            .ok_or_else(|| LoadError::Chromium(format!("{method}: Chromium has ended")))
    }
}

/// Deserializes a response.
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
    // End of the pipe: fails all pending commands.
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
            // The receiver may be gone, if its command was cancelled.
            let _ = waiting.send(answer);
        }
    } else if let (Some("Page.loadEventFired"), Some(session_id)) = (message.method, message.session_id)
        && let Some(load) = lock(shared).loads.get(session_id)
    {
        let _ = load.send(());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
