//! Stripe's own stripe-mock: it knows how every request has to look, and remembers nothing.

use std::{
    env,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use crate::support::process::PATIENCE;

/// A running one; ended with the value.
pub(crate) struct StripeMock {
    process: Child,
    /// With a slash at its end.
    pub(crate) url: String,
}

impl StripeMock {
    pub(crate) fn start() -> Self {
        let home = PathBuf::from(env::var("HOME").expect("HOME"));
        let [http, https] = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
        // Without the second address it would listen everywhere.
        let process = Command::new(home.join(".cache/platen/stripe-mock/stripe-mock"))
            .args(["-http-addr", &http, "-https-addr", &https])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("deploy/setup.sh --test has built it");
        let url = format!("http://{http}/");
        let started = Instant::now();
        while std::net::TcpStream::connect(&http).is_err() {
            assert!(started.elapsed() < PATIENCE, "stripe-mock does not answer");
            thread::yield_now();
        }
        Self { process, url }
    }
}

impl Drop for StripeMock {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}
