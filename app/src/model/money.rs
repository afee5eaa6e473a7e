//! Amounts of money.

use std::fmt;

/// Zero-decimal currencies, as Stripe lists them.
const WHOLE: [&str; 16] = [
    "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf",
];

/// An amount of money. It is displayed as `€ 19`, `€ 163.67` or `CHF 5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// In the smallest unit of the currency, such as cents.
    pub amount: i64,
    /// ISO 4217 code, in lower case.
    pub currency: String,
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.currency.as_str() {
            "eur" => "€".to_owned(),
            "usd" => "$".to_owned(),
            "gbp" => "£".to_owned(),
            other => other.to_uppercase(),
        };
        let minus = if self.amount < 0 { "−" } else { "" };
        let amount = self.amount.unsigned_abs();
        let (whole, rest) = if WHOLE.contains(&self.currency.as_str()) {
            (amount, 0)
        } else {
            (amount / 100, amount % 100)
        };
        let whole = platen_domain::number::grouped(i64::try_from(whole).unwrap_or(i64::MAX));
        match rest {
            0 => write!(formatter, "{minus}{sign} {whole}"),
            rest => write!(formatter, "{minus}{sign} {whole}.{rest:02}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_units_of_their_currency() {
        for (amount, currency, written) in [
            (1900, "eur", "€ 19"),
            (16_367, "eur", "€ 163.67"),
            (-205, "usd", "−$ 2.05"),
            (123_456_700, "chf", "CHF 1,234,567"),
            (500, "jpy", "JPY 500"),
        ] {
            let money = Money {
                amount,
                currency: currency.to_owned(),
            };
            assert_eq!(money.to_string(), written);
        }
    }
}
