//! Nothing survives between accounts, and nothing but the warm process between two renders of one account.
//!
//! A writing render leaves traces wherever a page can; a reading one then tells what it sees, which must be what the first
//! render of a fresh session sees.

mod lateness;
mod sessions;
mod traces;
