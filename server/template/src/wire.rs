//! The protocol between a pool and its workers: frames of a length in four bytes, least significant first, and JSON.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
};

use serde::{Deserialize, Serialize};

use crate::{language::Undefined, sources::Sources};

/// Longest frame, in bytes. A long output full of characters that JSON escapes can need more, and is refused.
pub(crate) const LONGEST_FRAME: usize = 48 << 20;

/// One task. The pool holds the context as its caller provides it, the worker as the engine needs it.
///
/// The answer is `Result<T, Fault>`, where `T` depends on the task.
#[derive(Serialize, Deserialize)]
pub(crate) enum Work<'a, Context> {
    /// Answered by a [`crate::language::Rendered`].
    Render {
        sources: Sources<'a>,
        context: Context,
        undefined: Undefined,
    },
    /// Answered by a [`crate::language::Traced`].
    Trace {
        sources: Sources<'a>,
        context: Context,
        undefined: Undefined,
    },
    /// Answered by nothing.
    Check { template: Cow<'a, str> },
    /// Answered by a list of [`crate::partials::Missing`].
    Missing {
        sources: Sources<'a>,
        own: Option<Cow<'a, str>>,
    },
    /// Answered by a JSON schema.
    Schema { sources: Sources<'a> },
    /// Answered by a list of [`crate::analysis::TranslationKey`].
    TranslationKeys { sources: Sources<'a> },
    /// Answered by a list of names.
    Unused { sources: Sources<'a>, context: Context },
}

/// Reads the next frame; returns `None` at the end of the input. Fails if the frame exceeds [`LONGEST_FRAME`].
pub(crate) fn read_frame(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = checked_length(length)?;
    let mut frame = vec![0; length];
    input.read_exact(&mut frame)?;
    Ok(Some(frame))
}

/// Writes a frame of at most [`LONGEST_FRAME`] bytes.
pub(crate) fn write_frame(output: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    output.write_all(&length_of(frame)?)?;
    output.write_all(frame)?;
    output.flush()
}

/// Returns the four bytes that precede a frame. Fails if the frame exceeds [`LONGEST_FRAME`].
pub(crate) fn length_of(frame: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(frame.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    checked_length(length.to_le_bytes())?;
    Ok(length.to_le_bytes())
}

/// Decodes the length of a frame. Fails if it exceeds [`LONGEST_FRAME`].
pub(crate) fn checked_length(bytes: [u8; 4]) -> io::Result<usize> {
    match u32::from_le_bytes(bytes) as usize {
        length if length <= LONGEST_FRAME => Ok(length),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}
