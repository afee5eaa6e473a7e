//! Places.
use super::levels::Finding;
use crate::document::Document;
use crate::object::ObjectNumber;

pub(super) fn locate(_document: &Document, _pages: &[ObjectNumber], _findings: &mut [Finding]) {}
