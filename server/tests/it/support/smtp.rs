//! An SMTP server on loopback, without TLS.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
    time::timeout,
};

use crate::support::process::PATIENCE;

/// A received mail.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    /// The lines of the envelope: `MAIL FROM:…` and every `RCPT TO:…`.
    pub(crate) envelope: Vec<String>,
    /// Headers and body.
    pub(crate) data: String,
}

/// A running server; stopped on drop.
pub(crate) struct SmtpServer {
    pub(crate) port: u16,
    state: Arc<State>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    taken: Mutex<Vec<Taken>>,
    /// Responses to the next recipients, instead of accepting them.
    refusals: Mutex<VecDeque<&'static str>>,
    more: Notify,
}

impl SmtpServer {
    /// Starts the server on a free port.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move {
                    // A client may disconnect at any time.
                    let _ = converse(stream, &state).await;
                });
            }
        });
        Self { port, state, server }
    }

    /// Returns the value for `PLATEN_SMTP_URL`.
    pub(crate) fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Responds to the next recipient with this refusal.
    pub(crate) fn refuse(&self, answer: &'static str) {
        self.state.refusals.lock().expect("no panic").push_back(answer);
    }

    /// Returns all mails received so far.
    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.state.taken.lock().expect("no panic").clone()
    }

    /// Waits for this many mails and returns all.
    pub(crate) async fn takes(&self, count: usize) -> Vec<Taken> {
        let waiting = async {
            loop {
                let more = self.state.more.notified();
                let taken = self.taken();
                if taken.len() >= count {
                    return taken;
                }
                more.await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("mail comes")
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Taken {
    /// Returns the whole mail with its quoted-printable parts decoded (RFC 2045, section 6.7).
    pub(crate) fn decoded(&self) -> String {
        let joined = self.data.replace("=\r\n", "");
        let mut pieces = joined.split('=');
        let mut decoded = pieces.next().unwrap_or_default().as_bytes().to_vec();
        for piece in pieces {
            let byte = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            if let Some(byte) = byte {
                decoded.push(byte);
                decoded.extend_from_slice(&piece.as_bytes()[2..]);
            } else {
                decoded.push(b'=');
                decoded.extend_from_slice(piece.as_bytes());
            }
        }
        String::from_utf8_lossy(&decoded).into_owned()
    }

    /// Returns the header with this name, if there is exactly one.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = self.data.split("\r\n\r\n").next()?;
        let prefix = format!("{name}: ");
        let mut found = head.split("\r\n").filter_map(|line| line.strip_prefix(&prefix));
        let value = found.next()?.to_owned();
        found.next().is_none().then_some(value)
    }
}

async fn converse(stream: TcpStream, state: &State) -> std::io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading);
    let mut envelope = Vec::new();
    writing.write_all(b"220 test\r\n").await?;
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let command = line.trim_end().to_owned();
        let verb = command.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-test\r\n250 8BITMIME",
            "MAIL" => {
                envelope = vec![command];
                "250 ok"
            }
            "RCPT" => {
                let refusal = state.refusals.lock().expect("no panic").pop_front();
                envelope.push(command);
                refusal.unwrap_or("250 ok")
            }
            "DATA" => {
                writing.write_all(b"354 go on\r\n").await?;
                let mut data = String::new();
                while !data.ends_with("\r\n.\r\n") {
                    if lines.read_line(&mut data).await? == 0 {
                        return Ok(());
                    }
                }
                let data = data.strip_suffix(".\r\n").unwrap_or(&data).to_owned();
                let envelope = std::mem::take(&mut envelope);
                state.taken.lock().expect("no panic").push(Taken { envelope, data });
                state.more.notify_waiters();
                "250 taken"
            }
            "QUIT" => {
                writing.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "250 ok",
        };
        writing.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}
