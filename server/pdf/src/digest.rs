//! Digests of 16 bytes, as file identifiers and in names.

use sha2::{Digest as _, Sha256};

/// Returns the first half of a digest. Processors have instructions for SHA-256, which make it several times faster than
/// MD5.
pub(crate) fn first_half(digest: Sha256) -> [u8; 16] {
    let digest: [u8; 32] = digest.finalize().into();
    std::array::from_fn(|at| digest[at])
}
