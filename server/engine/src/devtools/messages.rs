//! Reads messages of the browser in bounded memory, skipping those above the limit.
//!
//! Chromium doesn't limit messages: a page can make it report a frame name or request headers of any size, over the
//! pipe that all pages of the browser share.

use std::{ffi::CStr, io};

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Maximum size of a message, in bytes. Exceeds twice the longest URL that Chromium passes on (2 MiB), and a chunk of a
/// printed document in Base64.
pub(super) const MESSAGE_LIMIT: usize = 4 << 20;
/// Bytes stored of either end of a skipped message: the head contains its kind, the tail its session.
const EDGE: usize = 256;
/// Size, in bytes, to which the buffer is shrunk after a message.
const BUFFER_KEPT: usize = 256 << 10;

/// Splits the browser's output into messages, each terminated by NUL.
pub(super) struct MessageReader<R> {
    reader: R,
    buffer: Vec<u8>,
}

/// A message of the browser.
#[derive(Debug, PartialEq)]
pub(super) enum Message<'a> {
    /// JSON, without the NUL.
    Whole(&'a [u8]),
    /// A message above the limit.
    Skipped(Skipped),
}

/// Head and tail of a message above the limit.
#[derive(Debug, PartialEq)]
pub(super) struct Skipped {
    /// Length of the message.
    pub(super) bytes: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> MessageReader<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
        }
    }

    /// Reads the next message. Returns `None` at the end of the pipe, even in the middle of a message.
    pub(super) async fn next(&mut self) -> io::Result<Option<Message<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_KEPT);
        let mut skipped: Option<Skipped> = None;
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = CStr::from_bytes_until_nul(available).map(CStr::count_bytes).ok();
            let piece = &available[..end.unwrap_or(available.len())];
            match &mut skipped {
                Some(skipped) => skipped.skip(piece),
                None if self.buffer.len() + piece.len() > MESSAGE_LIMIT => {
                    let mut begun = Skipped::begin(&self.buffer);
                    begun.skip(piece);
                    skipped = Some(begun);
                    self.buffer = Vec::new();
                }
                None => self.buffer.extend_from_slice(piece),
            }
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(Some(match skipped {
            Some(skipped) => Message::Skipped(skipped),
            None => Message::Whole(&self.buffer),
        }))
    }
}

impl Skipped {
    fn begin(read: &[u8]) -> Self {
        let mut begun = Self {
            bytes: 0,
            head: Vec::with_capacity(EDGE),
            tail: Vec::with_capacity(2 * EDGE),
        };
        begun.skip(read);
        begun
    }

    fn skip(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        let room = EDGE - self.head.len();
        self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(EDGE));
    }

    /// Returns the id of the command, if the message is a response. Chromium writes the id first.
    pub(super) fn id(&self) -> Option<u64> {
        let digits = self.head.strip_prefix(br#"{"id":"#)?;
        let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
        str::from_utf8(&digits[..end]).ok()?.parse().ok()
    }

    /// Returns the name of the event, if the message is one.
    pub(super) fn method(&self) -> Option<&str> {
        let name = self.head.strip_prefix(br#"{"method":""#)?;
        let end = name.iter().position(|&byte| byte == b'"')?;
        str::from_utf8(&name[..end]).ok()
    }

    /// Returns the session that the message belongs to. Chromium writes it last, and text of a page can't imitate it,
    /// because quotes in it are escaped.
    pub(super) fn session(&self) -> Option<&str> {
        let tail = self.tail.strip_suffix(br#""}"#)?;
        let before = tail.iter().rposition(|&byte| byte == b'"')?;
        let session = &tail[before + 1..];
        let named = tail[..=before].ends_with(br#","sessionId":""#);
        named.then(|| str::from_utf8(session).ok())?
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    /// Reads messages that arrive in chunks of `piece` bytes.
    async fn read(messages: &[&str], piece: usize) -> Vec<Result<String, Skipped>> {
        let bytes: Vec<u8> = messages
            .iter()
            .flat_map(|message| [message.as_bytes(), &[0]].concat())
            .collect();
        let mut reader = MessageReader::new(BufReader::with_capacity(piece, bytes.as_slice()));
        let mut read = Vec::new();
        while let Some(message) = reader.next().await.unwrap() {
            read.push(match message {
                Message::Whole(bytes) => Ok(String::from_utf8(bytes.to_vec()).unwrap()),
                Message::Skipped(skipped) => Err(skipped),
            });
        }
        read
    }

    #[tokio::test]
    async fn a_message_above_the_limit_is_skipped_between_others() {
        let text = r#"\",\"sessionId\":\"OTHER\"}"#.repeat(MESSAGE_LIMIT / 20);
        let answer = format!(r#"{{"id":17,"result":{{"result":{{"value":"{text}"}}}},"sessionId":"S1"}}"#);
        let event = format!(r#"{{"method":"Page.windowOpen","params":{{"url":"{text}"}},"sessionId":"S2"}}"#);
        let of_the_browser = format!(r#"{{"id":18,"result":{{"product":"{text}"}}}}"#);
        for piece in [100, 4096, 1 << 20] {
            let read = read(&["{}", &answer, "[1]", &event, &of_the_browser, "[2]"], piece).await;
            assert_eq!(read.len(), 6, "{piece}");
            for (at, whole) in [(0, "{}"), (2, "[1]"), (5, "[2]")] {
                assert_eq!(read[at].as_deref(), Ok(whole));
            }
            let known = |at: usize| {
                let skipped: &Skipped = read[at].as_ref().unwrap_err();
                (skipped.bytes, skipped.id(), skipped.method(), skipped.session())
            };
            assert_eq!(known(1), (answer.len(), Some(17), None, Some("S1")));
            assert_eq!(known(3), (event.len(), None, Some("Page.windowOpen"), Some("S2")));
            assert_eq!(known(4), (of_the_browser.len(), Some(18), None, None));
        }
    }

    #[tokio::test]
    async fn a_message_at_the_limit_is_read_whole() {
        let longest = "x".repeat(MESSAGE_LIMIT);
        assert_eq!(read(&[&longest], 1 << 20).await, [Ok(longest)]);
    }

    #[tokio::test]
    async fn the_pipe_may_end_in_the_middle() {
        let mut reader = MessageReader::new(BufReader::new(b"{}\0{".as_slice()));
        assert_eq!(reader.next().await.unwrap(), Some(Message::Whole(b"{}")));
        assert_eq!(reader.next().await.unwrap(), None);
    }
}
