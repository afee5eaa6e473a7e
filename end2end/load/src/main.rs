//! Measures Platen against the raw limit; see `make bench`.

fn main() {}
