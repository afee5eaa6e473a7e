//! What passes between a pool and its children: frames of four bytes of length, least significant first, and JSON.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
};

use serde::{Deserialize, Serialize};

use crate::language::Undefined;

/// The longest frame, in bytes. A long output full of characters that JSON escapes can need more, and is refused.
pub(crate) const LONGEST_FRAME: usize = 48 << 20;

/// One piece of work. The pool holds the context as its caller has it, the child as the engine wants it.
///
/// The answer is `Result<T, Fault>`, where `T` depends on the work.
#[derive(Serialize, Deserialize)]
pub(crate) enum Work<'a, Context> {
    /// To a [`crate::language::Rendered`].
    Render {
        template: Cow<'a, str>,
        context: Context,
        undefined: Undefined,
    },
    /// To nothing.
    Check { template: Cow<'a, str> },
    /// To a JSON schema.
    Schema { template: Cow<'a, str> },
    /// To a list of names.
    Unused { template: Cow<'a, str>, context: Context },
}

/// Reads the next frame; `None` at the end.
///
/// # Errors
/// What reading says, and a frame that is too long.
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

/// The four bytes before a frame.
pub(crate) fn length_of(frame: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(frame.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    checked_length(length.to_le_bytes())?;
    Ok(length.to_le_bytes())
}

/// The length that four bytes say.
pub(crate) fn checked_length(bytes: [u8; 4]) -> io::Result<usize> {
    match u32::from_le_bytes(bytes) as usize {
        length if length <= LONGEST_FRAME => Ok(length),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}
