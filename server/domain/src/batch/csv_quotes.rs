//! Texts in quotes in CSV (RFC 4180, section 2): readers accept malformed ones, but take the rows that follow for a part of the text.

/// Where the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    FieldStart,
    /// In a field without quotes, in which a quote is a character like others.
    Unquoted,
    Quoted,
    /// After a quote that ends the text, or is the first of two.
    AfterQuote,
}

impl Position {
    /// Returns the position after a byte, which `is_end` if it ends a field outside of quotes. `None` if the byte follows the end of a
    /// text in quotes, but is neither a quote nor an end.
    fn after(self, byte: u8, is_end: bool) -> Option<Self> {
        match (self, byte) {
            (Self::Quoted, b'"') => Some(Self::AfterQuote),
            (Self::FieldStart | Self::AfterQuote, b'"') | (Self::Quoted, _) => Some(Self::Quoted),
            _ if is_end => Some(Self::FieldStart),
            (Self::AfterQuote, _) => None,
            (Self::FieldStart | Self::Unquoted, _) => Some(Self::Unquoted),
        }
    }
}

/// Returns the delimiter of the columns that a header names. Spreadsheets separate them by semicolons where the comma is the decimal
/// separator.
pub(super) fn delimiter_of(header: &[u8]) -> u8 {
    const DELIMITERS: [u8; 3] = [b'\t', b';', b','];
    let (mut counts, mut position) = ([0_usize; 3], Position::FieldStart);
    for byte in header {
        let found = DELIMITERS.iter().position(|delimiter| delimiter == byte);
        if let Some(index) = found.filter(|_| position != Position::Quoted) {
            counts[index] += 1;
        }
        position = position.after(*byte, found.is_some()).unwrap_or(Position::Unquoted);
    }
    let most = (0..).zip(counts).max_by_key(|(_, count)| *count);
    DELIMITERS[most.map_or(2, |(index, _): (usize, _)| index)]
}

/// A check of quotes. Feed it with [`Self::check`], in pieces of any size.
pub(super) struct QuoteCheck {
    delimiter: u8,
    position: Position,
    /// Number of the next byte's line, from 1.
    line: u64,
    /// The line on which the last field begins.
    began: u64,
}

impl QuoteCheck {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            position: Position::FieldStart,
            line: 1,
            began: 1,
        }
    }

    /// Returns the number of bytes before the first that is neither a quote, a delimiter nor a line break, but follows the end of a
    /// text in quotes.
    pub(super) fn check(&mut self, bytes: &[u8]) -> Result<(), usize> {
        for (index, byte) in bytes.iter().enumerate() {
            let is_end = *byte == self.delimiter || matches!(byte, b'\r' | b'\n');
            if self.position == Position::FieldStart {
                self.began = self.line;
            }
            self.position = self.position.after(*byte, is_end).ok_or(index)?;
            self.line += u64::from(*byte == b'\n');
        }
        Ok(())
    }

    /// Returns the line on which a text begins that has not ended.
    pub(super) fn unclosed(&self) -> Option<u64> {
        (self.position == Position::Quoted).then_some(self.began)
    }
}
