//! How numbers are written.

/// A whole number with its thousands apart: `12,345`.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut written = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        for (number, written) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (-12_345, "-12,345"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), written);
        }
    }
}
