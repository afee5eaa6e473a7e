//! Texts in quotes in CSV (RFC 4180, section 2): readers accept malformed ones, but take the rows that follow for a part of the text.

/// Where the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Position {
    #[default]
    FieldStart,
    /// In a field without quotes, in which a quote is a character like others.
    Unquoted,
    Quoted,
    /// After a quote that ends the text, or is the first of two.
    AfterQuote,
}

/// A check of quotes. Feed it with [`Self::check`], in pieces of any size.
pub(super) struct QuoteCheck {
    delimiter: u8,
    position: Position,
    /// Number of the next byte's line, from 1.
    line: u64,
    /// The line on which the last text in quotes begins.
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
            self.position = match (self.position, byte) {
                (Position::FieldStart, b'"') => {
                    self.began = self.line;
                    Position::Quoted
                }
                (Position::Quoted, b'"') => Position::AfterQuote,
                (Position::AfterQuote, b'"') | (Position::Quoted, _) => Position::Quoted,
                _ if is_end => Position::FieldStart,
                (Position::AfterQuote, _) => return Err(index),
                (Position::FieldStart | Position::Unquoted, _) => Position::Unquoted,
            };
            self.line += u64::from(*byte == b'\n');
        }
        Ok(())
    }

    /// Returns the line on which a text begins that has not ended.
    pub(super) fn unclosed(&self) -> Option<u64> {
        (self.position == Position::Quoted).then_some(self.began)
    }
}
