//! Numbers, names and strings: their form and limits (ISO 19005-2, 6.1.6, 6.1.8, 6.1.13), in objects and content alike.

use std::borrow::Cow;

use super::Finding;
use crate::lexer::{decode_literal_string, decode_name};
use crate::object::MAX_NAME;
use crate::parse::parse_number;
use crate::text::MAX_STRING;

/// Length, with sign and decimal point, up to which every number is in range.
pub(super) const SAFE_NUMBER: usize = 9;
/// The same for a number with a decimal point: it is below 10³⁷, and zero or at least 10⁻³⁷.
const SAFE_REAL: usize = 38;
const SMALLEST_REAL: f64 = 1.175e-38;
const LARGEST_REAL: f64 = 3.403e38;

/// Checks the form and range of a number (6.1.13).
pub(super) fn check_number(raw: &[u8]) -> Result<(), Finding> {
    let digits = raw.strip_prefix(b"-").or(raw.strip_prefix(b"+")).unwrap_or(raw);
    let mut points = 0;
    let is_plain = digits.iter().all(|byte| {
        points += usize::from(*byte == b'.');
        byte.is_ascii_digit() || *byte == b'.'
    });
    if !is_plain || points > 1 || digits.len() == points {
        return Err(Finding::new("6.1", "a malformed number"));
    }
    if raw.len() <= SAFE_NUMBER || points == 1 && raw.len() <= SAFE_REAL {
        return Ok(());
    }
    let value = parse_number(raw);
    if points == 0 {
        let value = value.and_then(|value| value.as_integer());
        return match value.map(i32::try_from) {
            Some(Ok(_)) => Ok(()),
            _ => Err(Finding::new("6.1.13-1", "an integer beyond 32 bits")),
        };
    }
    match value.and_then(|value| value.as_number()).map(f64::abs) {
        Some(value) if value == 0.0 || (SMALLEST_REAL..=LARGEST_REAL).contains(&value) => Ok(()),
        Some(value) if value < SMALLEST_REAL => Err(Finding::new("6.1.13-5", "a number too close to zero")),
        _ => Err(Finding::new("6.1.13-2", "a number too far from zero")),
    }
}

/// Decodes a name and checks its length and encoding.
pub(super) fn check_name(raw: &[u8]) -> Result<Cow<'_, [u8]>, Finding> {
    let name = decode_name(raw);
    if name.len() > MAX_NAME {
        return Err(Finding::new("6.1.13-4", "a name over 127 bytes"));
    }
    if !name.is_ascii() && std::str::from_utf8(&name).is_err() {
        return Err(Finding::new("6.1.8-1", "a name that is not UTF-8"));
    }
    Ok(name)
}

pub(super) fn check_literal_string(raw: &[u8]) -> Result<(), Finding> {
    if raw.len() > MAX_STRING && decode_literal_string(raw).len() > MAX_STRING {
        return Err(Finding::new("6.1.13-3", "a string over 32,767 bytes"));
    }
    Ok(())
}

pub(super) fn check_hex_string(raw: &[u8]) -> Result<(), Finding> {
    // Without an early end, many digits are compared at once.
    let are_digits = raw.iter().fold(true, |all, byte| all & byte.is_ascii_hexdigit());
    if !raw.len().is_multiple_of(2) || !are_digits {
        return Err(Finding::new(
            "6.1.6",
            "a hexadecimal string that is not made of pairs of digits",
        ));
    }
    if raw.len() / 2 > MAX_STRING {
        return Err(Finding::new("6.1.13-3", "a string over 32,767 bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_held_to_their_range() {
        let zeros = "0".repeat(35);
        let nines = "9".repeat(37);
        let fine = [
            "2147483647",
            "-2147483648",
            "-31384.375",
            "0.00000000000",
            "340000000000.5",
        ];
        let longest = [
            format!("{nines}."),
            format!("-.{zeros}1"),
            format!(".0{zeros}1"),
            format!("1{nines}."),
        ];
        for raw in fine.into_iter().chain(longest.iter().map(String::as_str)) {
            assert!(check_number(raw.as_bytes()).is_ok(), "{raw}");
        }
        let too_small = [format!(".00{zeros}1"), format!("-.0000{zeros}1")];
        let too_large = [format!("4{nines}9."), format!("-4{nines}9.5")];
        let no_numbers = ["2147483648", "-2147483649", "1e5", "1.2.3", "-", "+.", "--1", "1-"];
        for raw in no_numbers
            .into_iter()
            .chain(too_small.iter().chain(&too_large).map(String::as_str))
        {
            assert!(check_number(raw.as_bytes()).is_err(), "{raw}");
        }
    }
}
