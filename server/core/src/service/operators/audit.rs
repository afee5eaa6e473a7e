//! Verification of the operator audit log, a hash chain.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use sqlx::PgPool;

use crate::store::{
    audit_log::{self, Link},
    error::StoreError,
};

/// Rows that one statement reads.
const ROWS: i64 = 1000;

/// End of a verified chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnd {
    /// Number of entries.
    pub number: i64,
    /// Digest of the last entry, in lower-case hexadecimal digits; zeros if there is none.
    pub digest: String,
}

/// Error of [`verify`]: the log was tampered with, or can't be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditFault {
    /// A number is missing.
    #[error("entry {0} is missing")]
    Missing(i64),
    /// An entry's digest doesn't match its content.
    #[error("entry {0} was changed after it was written")]
    Changed(i64),
    /// An entry doesn't continue the previous one.
    #[error("entry {0} doesn't follow the previous entry: one of the two was replaced")]
    Broken(i64),
    /// The chain doesn't contain the entry that was noted earlier.
    #[error("entry {number} differs from the recorded entry: its digest is {digest}. The log was rewritten")]
    NotAsNoted {
        /// Number of the noted entry.
        number: i64,
        /// Its current digest; empty if the entry no longer exists.
        digest: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the whole log and verifies the content and order of its entries. `noted` is the number and digest of an entry
/// that were stored elsewhere; without it, a chain that was rewritten or truncated can't be detected.
pub async fn verify(db: &PgPool, noted: Option<&ChainEnd>) -> Result<ChainEnd, AuditFault> {
    let mut end = ChainEnd {
        number: 0,
        digest: HEXLOWER.encode(&[0; 32]),
    };
    let mut seen = noted.is_none_or(|noted| *noted == end);
    loop {
        let links = audit_log::list_links(db, end.number, ROWS).await?;
        if links.is_empty() {
            break;
        }
        for link in links {
            end = follow(&end, &link)?;
            if let Some(noted) = noted.filter(|noted| noted.number == end.number) {
                if noted.digest != end.digest {
                    return Err(AuditFault::NotAsNoted {
                        number: end.number,
                        digest: end.digest,
                    });
                }
                seen = true;
            }
        }
    }
    match noted {
        Some(noted) if !seen => Err(AuditFault::NotAsNoted {
            number: noted.number,
            digest: String::new(),
        }),
        _ => Ok(end),
    }
}

fn follow(end: &ChainEnd, link: &Link) -> Result<ChainEnd, AuditFault> {
    if link.number != end.number + 1 {
        return Err(AuditFault::Missing(end.number + 1));
    }
    if HEXLOWER.encode(&link.previous) != end.digest {
        return Err(AuditFault::Broken(link.number));
    }
    let digest = Sha256::new()
        .chain_update(&link.previous)
        .chain_update(&link.entry)
        .finalize();
    if link.digest != digest.as_slice() {
        return Err(AuditFault::Changed(link.number));
    }
    Ok(ChainEnd {
        number: link.number,
        digest: HEXLOWER.encode(&link.digest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(entries: &[&str]) -> Vec<Link> {
        let mut previous = vec![0; 32];
        let links = entries.iter().zip(1..).map(|(entry, number)| {
            let digest = Sha256::new()
                .chain_update(&previous)
                .chain_update(entry)
                .finalize()
                .to_vec();
            Link {
                number,
                entry: (*entry).to_owned(),
                previous: std::mem::replace(&mut previous, digest.clone()),
                digest,
            }
        });
        links.collect()
    }

    fn check(links: &[Link]) -> Result<ChainEnd, String> {
        let beginning = ChainEnd {
            number: 0,
            digest: HEXLOWER.encode(&[0; 32]),
        };
        links
            .iter()
            .try_fold(beginning, |end, link| follow(&end, link))
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_chain_holds_until_it_is_changed() {
        let links = chain(&["a", "b", "c"]);
        assert_eq!(check(&links).expect("a chain").number, 3);
        let mut changed = links.clone();
        changed[1].entry = "B".to_owned();
        assert_eq!(
            check(&changed),
            Err("entry 2 was changed after it was written".to_owned())
        );
        let gap = [links[0].clone(), links[2].clone()];
        assert_eq!(check(&gap), Err("entry 2 is missing".to_owned()));
        let mut replaced = links.clone();
        replaced[1] = chain(&["a", "B"])[1].clone();
        replaced[0] = chain(&["A"])[0].clone();
        assert!(
            check(&replaced)
                .expect_err("no chain")
                .contains("entry 2 doesn't follow")
        );
    }
}
