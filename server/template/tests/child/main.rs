//! The worker process of the tests. With the argument `try` it runs no tasks; it attempts, once confined, what a worker
//! must not be able to do, and prints the results.

use std::{
    fs::File,
    io::{self, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    os::unix::net::UnixStream,
    process::Command,
    thread,
};

use platen_template::child::{self, MEMORY};

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("try") => {
            platen_confined::confine(MEMORY)?;
            report()
        }
        Some("panic") => {
            platen_confined::confine(MEMORY)?;
            panic!("the test asks for a panic");
        }
        _ => child::run(),
    }
}

type Attempt = (&'static str, fn() -> io::Result<()>);

fn report() -> io::Result<()> {
    let attempts: [Attempt; 8] = [
        ("read a file", || File::open("/etc/passwd").map(drop)),
        ("write a file", || File::create("/tmp/platen-template-escape").map(drop)),
        ("list processes", || std::fs::read_dir("/proc").map(drop)),
        ("connect", || TcpStream::connect("127.0.0.1:1").map(drop)),
        ("listen", || TcpListener::bind("127.0.0.1:0").map(drop)),
        ("send", || UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("connect to a socket of the machine", || {
            UnixStream::connect("/run/dbus/system_bus_socket").map(drop)
        }),
        ("start a program", || Command::new("/bin/true").status().map(drop)),
    ];
    let mut output = io::stdout().lock();
    for (name, attempt) in attempts {
        let answer = match attempt() {
            Ok(()) => "done".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        };
        writeln!(output, "{name}: {answer}")?;
    }
    let thread = match thread::Builder::new().spawn(|| ()) {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    };
    writeln!(output, "start a thread: {thread}")?;
    let other = rustix::process::kill_process(rustix::process::Pid::INIT, rustix::process::Signal::TERM);
    writeln!(
        output,
        "end another process: {:?}",
        other.map_err(|error| io::Error::from(error).kind())
    )
}
