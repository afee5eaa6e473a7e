//! The outcome of a render, as stored for idempotent requests.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::validation::Problem;

/// An outcome that depends only on the request, not on queue or browser: the same request would have the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotentResponse {
    Document(Facts, Bytes),
    /// The render failed because of the request.
    Refused(Vec<Problem>),
}

/// The data of a document in the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The title of the first part.
    pub title: Option<String>,
    pub page_count: usize,
    /// The standard to which the document conforms.
    pub conformance: Option<String>,
    /// Charged credits.
    pub credits: i64,
}

/// The JSON before the document.
#[derive(Serialize, Deserialize)]
enum Head {
    Document(Facts),
    Refused(Vec<Problem>),
}

/// The bytes were not written by [`IdempotentResponse::to_bytes`].
#[derive(Debug, thiserror::Error)]
#[error("the idempotent response can't be read: {0}")]
pub struct Unreadable(#[from] serde_json::Error);

impl IdempotentResponse {
    /// Serializes the outcome as a line of JSON, followed by the document.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Unreadable> {
        let (head, pdf) = match self {
            Self::Document(facts, pdf) => (Head::Document(facts.clone()), &pdf[..]),
            Self::Refused(problems) => (Head::Refused(problems.clone()), &[][..]),
        };
        let head = serde_json::to_vec(&head)?;
        // Encryption appends a few bytes; spare capacity avoids a reallocation.
        let mut bytes = Vec::with_capacity(head.len() + pdf.len() + 64);
        bytes.extend(head);
        bytes.push(b'\n');
        bytes.extend_from_slice(pdf);
        Ok(bytes)
    }

    /// Parses the result of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &Bytes) -> Result<Self, Unreadable> {
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let head = serde_json::from_slice(&bytes[..end])?;
        Ok(match head {
            Head::Document(facts) => Self::Document(facts, bytes.slice(bytes.len().min(end + 1)..)),
            Head::Refused(problems) => Self::Refused(problems),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_back() {
        let facts = Facts {
            title: Some("One\nTwo \u{1f4c4}".into()),
            page_count: 3,
            conformance: Some("PDF/A-2b".into()),
            credits: 1,
        };
        for outcome in [
            IdempotentResponse::Document(facts, Bytes::from_static(b"%PDF-1.7\n\xff\n")),
            IdempotentResponse::Refused(vec![Problem::invalid("/parts/0", "It can't be.")]),
        ] {
            let bytes = outcome.to_bytes().expect("bytes");
            assert_eq!(
                IdempotentResponse::from_bytes(&bytes.into()).expect("an outcome"),
                outcome
            );
        }
        for bytes in [&b""[..], b"{}\n", b"%PDF-1.7\n"] {
            assert!(IdempotentResponse::from_bytes(&Bytes::from_static(bytes)).is_err());
        }
    }
}
