#![doc = include_str!("../filters.md")]

pub(crate) mod arguments;
mod barcodes;
mod dates;
mod markdown;
pub(crate) mod numbers;
mod svg;

use minijinja::Environment;

/// Adds the filters for documents.
pub(crate) fn add_to(environment: &mut Environment) {
    environment.add_filter("number", numbers::number);
    environment.add_filter("percent", numbers::percent);
    environment.add_filter("currency", numbers::currency);
    environment.add_filter("plural", numbers::plural);
    environment.add_filter("date", dates::date);
    environment.add_filter("time", dates::time);
    environment.add_filter("datetime", dates::datetime);
    environment.add_filter("markdown", markdown::markdown);
    environment.add_filter("qrcode", barcodes::qrcode);
    environment.add_filter("barcode", barcodes::barcode);
}

#[cfg(test)]
mod tests;
