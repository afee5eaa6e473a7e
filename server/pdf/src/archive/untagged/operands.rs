//! The operands of an operator.

use memchr::memchr;

use crate::lexer::{Lexer, Token, only_content_identifier};
use crate::object::Object;
use crate::parse::parse_number;

/// Operands as written, which are read only where they matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Operands<'c>(pub(super) &'c [u8]);

impl<'c> Operands<'c> {
    /// Returns the name with which the operands begin; `None` if they begin with anything else.
    pub(super) fn name(self) -> Option<&'c [u8]> {
        match self.tokens().next()? {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the marked-content identifier; `None` if there is none.
    pub(super) fn identifier(self) -> Option<usize> {
        let start = memchr(b'<', self.0);
        let entries = start.and_then(|start| self.0[start..].strip_prefix(b"<<")?.strip_suffix(b">>"));
        if let Some(identifier) = entries.and_then(only_content_identifier) {
            return Some(identifier);
        }
        let mut tokens = self.tokens();
        // The name of the mark comes first, and may be this key.
        tokens.next();
        tokens.find(|token| *token == Token::Name(b"MCID"))?;
        match tokens.next()? {
            Token::Number(raw) => std::str::from_utf8(raw).ok()?.parse().ok(),
            _ => None,
        }
    }

    /// Returns the last `N` operands; `None` if there are fewer, or one of them is not a number.
    pub(super) fn numbers<const N: usize>(self) -> Option<[f64; N]> {
        let raw = self.0.rsplit(u8::is_ascii_whitespace).filter(|raw| !raw.is_empty());
        let mut count = 0;
        let mut numbers = [0.0; N];
        for (number, raw) in numbers.iter_mut().rev().zip(raw) {
            *number = parse_number(raw).as_ref().and_then(Object::as_number)?;
            count += 1;
        }
        (count == N).then_some(numbers)
    }

    fn tokens(self) -> impl Iterator<Item = Token<'c>> {
        let mut lexer = Lexer::new(self.0, 0);
        std::iter::from_fn(move || lexer.next_token().ok()?.map(|(_, token)| token))
    }
}
