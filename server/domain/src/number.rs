//! Formatting of numbers.

/// Formats an integer with thousands separators: `12,345`.
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

/// Formats a duration: `41 ms`, `4.1 s`, `2 min 5 s`, `2 h 5 min`.
pub fn duration(milliseconds: f64) -> String {
    let milliseconds = milliseconds.round() as i64;
    let tenths = (milliseconds + 50) / 100;
    match milliseconds {
        ..1000 => format!("{milliseconds} ms"),
        _ if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ => in_minutes((milliseconds + 500) / 1000),
    }
}

/// Formats a waiting time, rounded: `40 s`, `4 min`, `3 h`.
pub fn wait(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h", (seconds + 1800) / 3600),
    }
}

fn in_minutes(seconds: i64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes} min {seconds} s"),
        _ => format!("{hours} h {minutes} min"),
    }
}

/// Formats a size: `812 B`, `41 KB`, `1.2 MB`.
pub fn size(bytes: i64) -> String {
    const KILO: f64 = 1024.0;
    let kilobytes = bytes as f64 / KILO;
    if bytes < 1000 {
        format!("{bytes} B")
    } else if kilobytes < 999.5 {
        format!("{:.0} KB", kilobytes.max(1.0))
    } else {
        format!("{:.1} MB", kilobytes / KILO)
    }
}

/// Formats a size for comparison with a limit: `0 KB`, `499.7 MB`, `10 GB`, `1 TB`. It is rounded down, so that only a
/// full storage is shown as full.
pub fn storage_size(bytes: i64) -> String {
    const KILO: i64 = 1024;
    let (unit, name) = match bytes {
        ..0x10_0000 => (KILO, "KB"),
        0x10_0000..0x4000_0000 => (KILO.pow(2), "MB"),
        0x4000_0000..0x100_0000_0000 => (KILO.pow(3), "GB"),
        _ => (KILO.pow(4), "TB"),
    };
    let (whole, tenth) = (bytes / unit, bytes % unit * 10 / unit);
    match tenth {
        0 => format!("{} {name}", grouped(whole)),
        _ => format!("{}.{tenth} {name}", grouped(whole)),
    }
}

/// Formats a number with its noun: `1 page`, `2 pages`.
pub fn counted(number: impl TryInto<i64>, one: &str, many: &str) -> String {
    let number = number.try_into().unwrap_or(i64::MAX);
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        for (given, written) in [
            (0.4, "0 ms"),
            (41.2, "41 ms"),
            (999.6, "1.0 s"),
            (4100.0, "4.1 s"),
            (50_906.0, "50.9 s"),
            (59_949.4, "59.9 s"),
            (59_950.0, "1 min 0 s"),
            (125_000.0, "2 min 5 s"),
            (228_000.0, "3 min 48 s"),
            (7_500_000.0, "2 h 5 min"),
        ] {
            assert_eq!(duration(given), written);
        }
        for (given, written) in [(0, "0 s"), (59, "59 s"), (245, "4 min"), (11_000, "3 h")] {
            assert_eq!(wait(given), written);
        }
        for (given, written) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1 KB"),
            (188_416, "184 KB"),
            (1_300_000, "1.2 MB"),
        ] {
            assert_eq!(size(given), written);
        }
        for (given, written) in [
            (0, "0 KB"),
            (100_000, "97.6 KB"),
            (524_287_999, "499.9 MB"),
            (0x4000_0000, "1 GB"),
            (0x4000_0000 * 100, "100 GB"),
            (0x100_0000_0000, "1 TB"),
        ] {
            assert_eq!(storage_size(given), written);
        }
        assert_eq!(
            (counted(1, "page", "pages"), counted(0, "page", "pages")),
            ("1 page".into(), "0 pages".into())
        );
    }

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
