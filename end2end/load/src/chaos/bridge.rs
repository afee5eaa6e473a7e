//! Makes a Unix socket reachable by TCP: Toxiproxy forwards only to TCP, and a private Postgres listens only on a socket.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream, UnixStream},
    task::JoinHandle,
};

/// A running bridge; it stops accepting connections when it is dropped.
pub(super) struct Bridge {
    /// Host and port.
    pub(super) authority: String,
    serving: JoinHandle<()>,
}

impl Bridge {
    pub(super) async fn start(socket: PathBuf) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let authority = listener.local_addr()?.to_string();
        let serving = tokio::spawn(async move {
            if let Err(error) = serve(&listener, &socket).await {
                eprintln!("the bridge to Postgres has ended: {error}");
            }
        });
        Ok(Self { authority, serving })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: &TcpListener, socket: &Path) -> io::Result<()> {
    loop {
        let (client, _) = listener.accept().await?;
        let socket = socket.to_owned();
        tokio::spawn(async move {
            // Both sides notice how a connection ends, and broken ones are the purpose.
            let _ = forward(client, socket).await;
        });
    }
}

async fn forward(mut client: TcpStream, socket: PathBuf) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut server = UnixStream::connect(socket).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
