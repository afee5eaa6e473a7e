//! Finds the block that a template doesn't close, which the engine reports only at the end of the template.

use minijinja::{
    machinery::{Token, tokenize},
    syntax::SyntaxConfig,
};

/// Statements with an end tag. `set` has one only without an assignment; `raw` has no tokens.
pub(super) const PAIRED: [&str; 9] = [
    "autoescape",
    "block",
    "call",
    "filter",
    "for",
    "if",
    "macro",
    "set",
    "with",
];

/// A block without its end tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclosed<'t> {
    /// `for`, `if` and so on.
    pub(crate) keyword: &'t str,
    /// Place of its tag, in bytes from the start of the template.
    pub(crate) offset: usize,
}

/// A tag that is being read: `{{ … }}` or `{% … %}`.
struct Tag<'t> {
    offset: usize,
    /// The first word of a statement.
    keyword: Option<&'t str>,
    /// Whether `=` comes before any filter, as only in the `set` that has no end tag.
    assigns: Option<bool>,
}

/// Returns the innermost open block at the first end tag of another block or at the end of the template. Returns `None`
/// if all blocks are closed, and if the error is within a tag: it can't be split into tokens, or has no end.
pub(crate) fn find_unclosed(template: &str) -> Option<Unclosed<'_>> {
    let mut open: Vec<Unclosed> = Vec::new();
    let mut tag: Option<Tag> = None;
    for token in tokenize(template, false, SyntaxConfig::default()) {
        let (token, span) = token.ok()?;
        match (token, &mut tag) {
            (start @ (Token::BlockStart | Token::VariableStart), _) => {
                tag = Some(Tag {
                    offset: span.start_offset as usize,
                    keyword: matches!(start, Token::VariableStart).then_some(""),
                    assigns: None,
                });
            }
            (Token::Ident(word), Some(tag)) => _ = tag.keyword.get_or_insert(word),
            (Token::Assign, Some(tag)) => _ = tag.assigns.get_or_insert(true),
            (Token::Pipe, Some(tag)) => _ = tag.assigns.get_or_insert(false),
            (Token::BlockEnd | Token::VariableEnd, _) => {
                let Tag {
                    offset,
                    keyword,
                    assigns,
                } = tag.take()?;
                let keyword = keyword.unwrap_or_default();
                if let Some(closed) = keyword.strip_prefix("end") {
                    if open.last().is_some_and(|block| block.keyword != closed) {
                        break;
                    }
                    open.pop();
                } else if PAIRED.contains(&keyword) && !(keyword == "set" && assigns == Some(true)) {
                    open.push(Unclosed { keyword, offset });
                }
            }
            _ => {}
        }
    }
    if tag.is_some() { None } else { open.pop() }
}
