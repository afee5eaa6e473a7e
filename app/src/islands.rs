//! The live parts of pages: what is written by the server and then taken over in the browser. Everything else stays as the
//! server has written it.

#![expect(missing_docs, reason = "the macro writes a function without one for each island")]

pub mod copy_button;
