//! Stripe's stripe-mock, which validates requests but is stateless.

use std::{
    env,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use crate::support::process::PATIENCE;

/// A running stripe-mock; stopped on drop.
pub(crate) struct StripeMock {
    process: Child,
    /// With a trailing slash.
    pub(crate) url: String,
}

impl StripeMock {
    pub(crate) fn start() -> Self {
        let home = PathBuf::from(env::var("HOME").expect("HOME"));
        let [http, https] = [free_port(), free_port()].map(|port| format!("127.0.0.1:{port}"));
        // Without the second address it would listen on all interfaces.
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
