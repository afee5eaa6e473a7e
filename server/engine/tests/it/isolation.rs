//! No state survives between accounts, and only the warm process between two renders of one account.
//!
//! One render leaves traces wherever a page can; the next prints everything that it can read, which must equal the
//! output of the first render in a fresh session.

mod lateness;
mod sessions;
mod traces;
