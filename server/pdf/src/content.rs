//! The data of content streams: filters, and a look for what PDF/A forbids in them.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::object::{Object, Stream};
use crate::text::MAX_STRING;

/// What one stream may hold, uncompressed, in bytes. A page of dense vector graphics has some ten million.
const MAX_LENGTH: u64 = 256 * 1024 * 1024;
/// A number with fewer digits is within the limits of PDF/A, whatever its sign and point.
pub(crate) const SUSPICIOUS_DIGITS: usize = 10;

/// Reads a stream's data into `output`, whose former content is dropped. Chromium writes it plain or with Flate.
pub(crate) fn read_stream(stream: &Stream, output: &mut Vec<u8>) -> Result<(), &'static str> {
    output.clear();
    match stream.dictionary.get("Filter") {
        None => {
            output.extend_from_slice(&stream.data);
            Ok(())
        }
        Some(filter) if filter.is_name("FlateDecode") && stream.dictionary.get("DecodeParms").is_none() => {
            let length = ZlibDecoder::new(stream.data.as_ref())
                .take(MAX_LENGTH + 1)
                .read_to_end(output);
            match length {
                Ok(length) if length as u64 <= MAX_LENGTH => Ok(()),
                Ok(_) => Err("a stream of at most 256 MiB expected"),
                Err(_) => Err("Flate data expected"),
            }
        }
        Some(_) => Err("a stream without a filter, or with Flate, expected"),
    }
}

/// Puts new data into a stream, compressed.
pub(crate) fn replace_data(stream: &mut Stream, data: &[u8]) {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(data.len() / 4), Compression::default());
    let compressed = encoder.write_all(data).and_then(|()| encoder.finish());
    stream.data = compressed
        .unwrap_or_else(|_| unreachable!("writing to memory does not fail"))
        .into();
    stream.dictionary.set("Filter", Object::name("FlateDecode"));
}

/// Whether a content stream may hold a number, a string or a character that PDF/A forbids. It may answer yes too often,
/// for then the stream is looked at with care; it is many times faster than that.
pub(crate) fn may_need_mending(content: &[u8]) -> bool {
    let mut index = 0;
    let mut digits = 0;
    while let Some(&byte) = content.get(index) {
        if byte.is_ascii_digit() {
            digits += 1;
            if digits == SUSPICIOUS_DIGITS {
                return true;
            }
            index += 1;
            continue;
        }
        digits = 0;
        match byte {
            b'<' if content.get(index + 1) == Some(&b'<') => index += 2,
            b'<' => {
                let inside = &content[index + 1..];
                let Some(length) = inside.iter().position(|byte| *byte == b'>') else {
                    return true;
                };
                if is_suspicious_hex(&inside[..length]) {
                    return true;
                }
                index += length + 2;
            }
            b'(' => match literal_string_length(&content[index..]) {
                Some(length) if length <= MAX_STRING => index += length,
                _ => return true,
            },
            // Comments and inline images, which Chromium doesn't write.
            b'%' => return true,
            b'B' if content.get(index + 1) == Some(&b'I') => return true,
            _ => index += 1,
        }
    }
    false
}

/// Whether there may be a code 0000 in it, or more bytes than a string may have.
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
            assert!(may_need_mending(content.as_bytes()), "{content}");
        }
        assert!(may_need_mending(format!("<{}> Tj", "0041".repeat(20_000)).as_bytes()));
        assert!(may_need_mending(format!("({}) Tj", "a".repeat(40_000)).as_bytes()));
        for content in [
            "/Span<</ActualText <feffe123> >> BDC <01000020> Tj EMC",
            ".23999999 0 0 -.23999999 0 792 cm",
            "(<00000000> \\) 00000000000) Tj",
        ] {
            assert!(!may_need_mending(content.as_bytes()), "{content}");
        }
    }

    #[test]
    fn data_survives_its_compression() {
        let mut stream = Stream::plain(Dictionary::default(), Cow::Borrowed(b"".as_slice()));
        replace_data(&mut stream, b"q Q");
        let mut output = b"former".to_vec();
        read_stream(&stream, &mut output).expect("valid");
        assert_eq!(output, b"q Q");
        stream.data.to_mut().truncate(4);
        assert!(read_stream(&stream, &mut output).is_err());
    }
}
