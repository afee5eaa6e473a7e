//! A connection to a server that counts its bytes.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{connection::Connection, render::Entry};

/// Counts the bytes that it reads and writes toward the render's limit. At the limit it fails and closes the browser's
/// connection; bytes beyond the limit are never forwarded.
pub(super) struct Metered {
    stream: TcpStream,
    connection: Arc<Connection>,
    entry: Arc<Entry>,
}

impl Metered {
    pub(super) fn new(stream: TcpStream, connection: Arc<Connection>, entry: Arc<Entry>) -> Self {
        Self {
            stream,
            connection,
            entry,
        }
    }

    /// Returns the log record of this connection.
    pub(super) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    fn check_share(&self, within_share: bool) -> io::Result<()> {
        self.connection.note_progress();
        if within_share {
            return Ok(());
        }
        self.connection.cut_over_limit(&self.entry);
        Err(io::Error::other("the render's byte limit is reached"))
    }

    fn book_written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let bytes = ready!(written)?;
        self.check_share(self.connection.render.book_sent(bytes as u64))?;
        Poll::Ready(Ok(bytes))
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.entry.set_closed();
    }
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let bytes = buf.filled().len() - before;
        if bytes > 0 {
            self.check_share(self.connection.render.book_received(&self.entry, bytes as u64))?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.book_written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.book_written(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
