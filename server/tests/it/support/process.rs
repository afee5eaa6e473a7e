//! A running `platen serve`: its log, signals and exit.

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

/// Timeout after which an operation counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);

/// A service under test; stopped on drop.
pub(crate) struct Process {
    child: Child,
    log: Arc<Mutex<String>>,
    stdout: Arc<Mutex<String>>,
}

impl Process {
    /// Starts a long-running command.
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

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the log so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no panic").clone()
    }

    /// Returns the standard output so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.lock().expect("no panic").clone()
    }

    /// Waits for the first log event with this message and returns it.
    #[track_caller]
    pub(crate) fn wait_for_event(&mut self, message: &str) -> Value {
        self.wait_for(|process| {
            let log = process.log();
            log.lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .find(|event| event["message"] == message)
        })
    }

    /// Polls `look` until it returns something; fails if the process ends or time runs out.
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

    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(self.child.id().cast_signed()).expect("a process id");
        kill_process(process, signal).expect("it runs");
    }

    /// Waits for the process to exit.
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

/// Collects lines on a separate thread, so that the process never blocks on its output.
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

/// Returns the ids of running processes (no zombies) whose command line contains this path.
pub(crate) fn processes_naming(path: &Path) -> Vec<u32> {
    let path = path.to_str().expect("a plain path");
    let processes = fs::read_dir("/proc").expect("Linux").flatten().filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command_line = fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&command_line).contains(path).then_some(id)
    });
    processes.collect()
}
