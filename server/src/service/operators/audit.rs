//! Whether the audit log is what was written.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use sqlx::PgPool;

use crate::store::{
    audit_log::{self, Link},
    error::StoreError,
};

/// Rows that are read at once.
const ROWS: i64 = 1000;

/// The end of a chain without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnd {
    /// How many entries there are.
    pub number: i64,
    /// The digest of the last one, in hexadecimal digits; zeros if there is none.
    pub digest: String,
}

/// Why the log can't be believed.
#[derive(Debug, thiserror::Error)]
pub enum AuditFault {
    /// A number is left out.
    #[error("entry {0} is missing")]
    Missing(i64),
    /// A row's digest is not that of what it holds.
    #[error("entry {0} was changed after it was written")]
    Changed(i64),
    /// A row does not continue the one before.
    #[error("entry {0} does not follow the one before it: one of the two was replaced")]
    Broken(i64),
    /// The chain does not hold the entry that somebody noted earlier.
    #[error("entry {number} is not the one that was noted: its digest is {digest}. The log was written anew")]
    NotAsNoted {
        /// Its place.
        number: i64,
        /// What it is now; empty: there is no such entry any more.
        digest: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the whole log and checks that each entry is what was written, and where. `noted` is an entry's number and digest
/// that somebody has kept elsewhere: without it nobody can tell a chain from one that was made anew, or cut off at its end.
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
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_chain_holds_until_somebody_touches_it() {
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
                .contains("entry 2 does not follow")
        );
    }
}
