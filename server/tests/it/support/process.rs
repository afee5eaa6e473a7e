//! A running `platen serve`: its log, its signals, its end.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Anything that takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);

/// A service under test; ended with the value.
pub(crate) struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
    stdout: Arc<Mutex<String>>,
}

impl Process {
    /// Starts a command that goes on running.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let log = collect(child.stderr.take().expect("piped"));
        let stdout = collect(child.stdout.take().expect("piped"));
        Self { child, log, stdout }
    }

    /// Process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// All that it logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no panic").clone()
    }

    /// All that it printed so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.lock().expect("no panic").clone()
    }

    /// The first event of the log with this message, once it is there.
    #[track_caller]
    pub(crate) fn wait_for_event(&mut self, message: &str) -> Value {
        self.wait_for(|process| {
            let log = process.log();
            log.lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .find(|event| event["message"] == message)
        })
    }

    /// What `look` finds, once it finds it; the process has to go on running.
    #[track_caller]
    pub(crate) fn wait_for<T>(&mut self, look: impl Fn(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            let status = self.child.try_wait().expect("our child");
            assert!(status.is_none(), "it ended early, {status:?}:\n{}", self.log());
            assert!(Instant::now() < deadline, "it did not happen:\n{}", self.log());
            thread::sleep(POLL);
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(self.child.id().cast_signed()).expect("a process id");
        kill_process(process, signal).expect("it runs");
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("our child") {
                return status;
            }
            assert!(Instant::now() < deadline, "it did not end:\n{}", self.log());
            thread::sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        self.signal(Signal::TERM);
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(POLL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gathers lines on a thread of its own, so that the process never waits for us.
fn collect(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let gathered = text.clone();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut text = text.lock().expect("no panic");
            text.push_str(&line);
            text.push('\n');
        }
    });
    gathered
}

/// Ids of running processes (no zombies) whose command line names this path.
pub(crate) fn processes_naming(path: &Path) -> Vec<u32> {
    let path = path.to_str().expect("a plain path");
    let processes = fs::read_dir("/proc").expect("Linux").flatten().filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command_line = fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&command_line).contains(path).then_some(id)
    });
    processes.collect()
}
