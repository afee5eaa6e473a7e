//! Declares the standards that a file has earned. Which ones is known only when the file is written, so its metadata has
//! room for the longest declaration (ISO 16684-1, 7.3.2), which is filled in afterwards.

use memchr::memmem;

use super::metadata::Metadata;
use crate::PdfError;
use crate::check::standards::Conformance;
use crate::xmp::pad_packet;

/// The declaration in the metadata of a file.
pub(super) struct Declaration {
    metadata: Metadata,
    /// Length of the packet in bytes, whatever it declares.
    length: usize,
}

impl Declaration {
    pub(super) fn new(metadata: Metadata) -> Self {
        let longest = metadata.packet(&[Conformance::PdfA2a, Conformance::PdfUa1]);
        Self {
            metadata,
            length: longest.len(),
        }
    }

    /// Returns the packet that declares these standards.
    pub(super) fn packet(&self, declared: &[Conformance]) -> String {
        pad_packet(&self.metadata.packet(declared), self.length)
    }

    /// Replaces the declaration of PDF/A-2b in a file by that of all standards that it has earned. The packet is found
    /// by its bytes: it is not compressed, and contains the identifier of the file, so nothing else is equal.
    pub(super) fn fill_in(&self, file: &mut [u8], earned: &[Conformance]) -> Result<(), PdfError> {
        let (former, packet) = (self.packet(&[Conformance::PdfA2b]), self.packet(earned));
        let at = memmem::rfind(file, former.as_bytes());
        let place = at.and_then(|at| file.get_mut(at..at + packet.len()));
        let place = place.ok_or(PdfError::damaged(0, "expected the metadata in the file"))?;
        place.copy_from_slice(packet.as_bytes());
        Ok(())
    }
}
