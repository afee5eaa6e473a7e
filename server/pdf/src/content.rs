//! The data of content streams: filters, and a quick scan for what PDF/A forbids in them.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use memchr::{memchr, memchr3, memmem};

use crate::object::{Object, Stream};
use crate::text::MAX_STRING;

/// Longest data of one stream, uncompressed, in bytes. A page of dense vector graphics has some ten million.
const MAX_LENGTH: usize = 256 * 1024 * 1024;
/// Ratio of the length of most content to its compressed length, rounded up, so that the buffer is allocated once.
const USUAL_RATIO: usize = 8;
const LEAST_ROOM: usize = 1024;
const TOO_LONG: &str = "expected fewer bytes in a stream";
/// A number with fewer digits is within the limits of PDF/A, regardless of its sign and decimal point.
pub(crate) const SUSPICIOUS_DIGITS: usize = 10;

/// Reads the data of streams. The decompressor is reused, because its state is larger than most streams.
#[derive(Debug)]
pub(crate) struct StreamReader {
    inflater: Decompress,
}

impl Default for StreamReader {
    fn default() -> Self {
        Self {
            inflater: Decompress::new(true),
        }
    }
}

impl StreamReader {
    /// Reads a stream's data into `output`, whose former content is discarded. Accepts data without a filter or with
    /// Flate, as Chromium writes it. Fails if there are more than 256 MiB.
    pub(crate) fn read(&mut self, stream: &Stream, output: &mut Vec<u8>) -> Result<(), &'static str> {
        self.read_up_to(MAX_LENGTH, stream, output)
    }

    /// Like [`read`](Self::read), but fails if there are more than `limit` bytes.
    pub(crate) fn read_up_to(
        &mut self,
        limit: usize,
        stream: &Stream,
        output: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        match stream.dictionary.get("Filter") {
            None if stream.data.len() > limit => Err(TOO_LONG),
            None => {
                output.clear();
                output.extend_from_slice(&stream.data);
                Ok(())
            }
            Some(filter) if filter.is_name("FlateDecode") && stream.dictionary.get("DecodeParms").is_none() => {
                self.inflate(&stream.data, limit, output)
            }
            Some(_) => Err("expected a stream without a filter or with Flate"),
        }
    }

    /// Inflates data into `output`, whose former content is discarded. Fails if there are more than `limit` bytes.
    ///
    /// Writes directly into the output, because there are many small streams: the buffers of a reader would take longer
    /// than the data.
    pub(crate) fn inflate(&mut self, data: &[u8], limit: usize, output: &mut Vec<u8>) -> Result<(), &'static str> {
        output.clear();
        let inflater = &mut self.inflater;
        inflater.reset(true);
        let mut rest = data;
        output.reserve(data.len().saturating_mul(USUAL_RATIO).min(limit).max(LEAST_ROOM));
        loop {
            let (consumed, length) = (inflater.total_in(), output.len());
            let status = inflater.decompress_vec(rest, output, FlushDecompress::None);
            rest = &rest[(inflater.total_in() - consumed) as usize..];
            match status {
                Ok(Status::StreamEnd) if output.len() <= limit => return Ok(()),
                Ok(_) if output.len() > limit => return Err(TOO_LONG),
                Ok(_) if output.len() == output.capacity() => output.reserve(output.len()),
                Ok(_) if inflater.total_in() > consumed || output.len() > length => {}
                // The stream is not at its end, but there is no more data.
                Ok(_) | Err(_) => return Err("expected Flate data"),
            }
        }
    }
}

/// Replaces the data of a stream by `data`, compressed.
pub(crate) fn replace_data(stream: &mut Stream, data: &[u8]) {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(data.len() / 4), Compression::default());
    let compressed = encoder.write_all(data).and_then(|()| encoder.finish());
    stream.data = compressed
        .unwrap_or_else(|_| unreachable!("writing to memory does not fail"))
        .into();
    stream.dictionary.set("Filter", Object::name("FlateDecode"));
}

/// Returns whether a content stream may contain a number, a string or a character that PDF/A forbids. False positives
/// are harmless, because the stream is then scanned precisely; this scan is many times faster.
pub(crate) fn may_need_repair(content: &[u8]) -> bool {
    // Inline images, which Chromium doesn't write.
    if memmem::find(content, b"BI").is_some() {
        return true;
    }
    let mut rest = content;
    while let Some(at) = memchr3(b'<', b'(', b'%', rest) {
        let (before, from) = rest.split_at(at);
        let length = match from {
            [b'<', b'<', ..] => Some(2),
            [b'<', inside @ ..] => memchr(b'>', inside)
                .filter(|length| !is_suspicious_hex(&inside[..*length]))
                .map(|length| length + 2),
            [b'(', ..] => literal_string_length(from).filter(|length| *length <= MAX_STRING),
            // Comments, which Chromium doesn't write either.
            _ => None,
        };
        match length {
            Some(length) if !has_long_number(before) => rest = &from[length..],
            _ => return true,
        }
    }
    has_long_number(rest)
}

/// Returns whether there are enough consecutive digits for a number beyond the limits.
pub(crate) fn has_long_number(bytes: &[u8]) -> bool {
    has_run(bytes, SUSPICIOUS_DIGITS, |byte| byte.is_ascii_digit())
}

/// Returns whether `length` consecutive bytes satisfy `is_of_kind`. Skips most bytes: each window is searched from its
/// end, and the next window begins after the last byte of another kind.
pub(crate) fn has_run(bytes: &[u8], length: usize, is_of_kind: impl Fn(u8) -> bool) -> bool {
    let mut rest = bytes;
    while let Some(start) = rest.get(..length) {
        match start.iter().rposition(|byte| !is_of_kind(*byte)) {
            Some(other) => rest = &rest[other + 1..],
            None => return true,
        }
    }
    false
}

/// Returns whether hexadecimal digits may contain the code 0000, or more bytes than a string may have.
fn is_suspicious_hex(digits: &[u8]) -> bool {
    let codes = digits.chunks_exact(4);
    digits.len() > MAX_STRING * 2 || !codes.remainder().is_empty() || codes.into_iter().any(|code| code == b"0000")
}

fn literal_string_length(content: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    let end = content.iter().position(|byte| {
        match byte {
            _ if is_escaped => {}
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        is_escaped = !is_escaped && *byte == b'\\';
        depth == 0
    });
    end.map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::object::Dictionary;

    #[test]
    fn finds_what_needs_care() {
        for content in [
            "<00570000> Tj",
            "1 0 0 1 99999999999 0 cm",
            "0.0000000000000000000000000000000000000001 w",
            "BI /W 1 ID x EI",
            "<00570",
            "(open",
        ] {
            assert!(may_need_repair(content.as_bytes()), "{content}");
        }
        assert!(may_need_repair(format!("<{}> Tj", "0041".repeat(20_000)).as_bytes()));
        assert!(may_need_repair(format!("({}) Tj", "a".repeat(40_000)).as_bytes()));
        for content in [
            "/Span<</ActualText <feffe123> >> BDC <01000020> Tj EMC",
            ".23999999 0 0 -.23999999 0 792 cm",
            "(<00000000> \\) 00000000000) Tj",
        ] {
            assert!(!may_need_repair(content.as_bytes()), "{content}");
        }
    }

    #[test]
    fn finds_runs_wherever_they_stand() {
        for start in 0..30 {
            let with_run = |length| format!("{}{}{}", "a".repeat(start), "1".repeat(length), "a".repeat(12));
            assert!(has_run(with_run(10).as_bytes(), 10, |byte| byte.is_ascii_digit()));
            assert!(!has_run(with_run(9).as_bytes(), 10, |byte| byte.is_ascii_digit()));
        }
    }

    #[test]
    fn data_survives_its_compression() {
        let mut stream = Stream::plain(Dictionary::default(), Cow::Borrowed(b"".as_slice()));
        replace_data(&mut stream, b"q Q");
        let mut output = b"former".to_vec();
        let mut reader = StreamReader::default();
        reader.read(&stream, &mut output).expect("valid");
        assert_eq!(output, b"q Q");
        stream.data.to_mut().truncate(4);
        assert!(reader.read(&stream, &mut output).is_err());
        // Many times longer than the initial allocation.
        let long = b"q Q ".repeat(50_000);
        replace_data(&mut stream, &long);
        reader.read(&stream, &mut output).expect("valid");
        assert!(output == long);
        let mut is_read = |limit| reader.inflate(&stream.data, limit, &mut output).is_ok();
        assert!(is_read(200_000) && !is_read(199_999) && !is_read(0));
    }
}
