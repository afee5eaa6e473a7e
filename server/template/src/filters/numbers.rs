//! Numbers, percentages, money and plurals as a locale writes them, by the Unicode consortium's data (CLDR).

#![expect(
    clippy::needless_pass_by_value,
    reason = "the engine passes named arguments only by value"
)]

use fixed_decimal::{Decimal, SignedRoundingMode, UnsignedRoundingMode};
use icu_decimal::{DecimalFormatter, options::DecimalFormatterOptions};
use icu_experimental::dimension::{
    currency::{CurrencyType, formatter::CurrencyFormatter, options::CurrencyFormatterOptions},
    percent::{formatter::PercentFormatter, options::PercentFormatterOptions},
};
use icu_locale::Locale;
use icu_plurals::{PluralCategory, PluralRules};
use minijinja::{Error, State, Value, value::Kwargs};

use super::arguments::{invalid, is_empty, locale};

/// Most digits after the decimal point, unless the template specifies a number.
const MOST_DIGITS_BY_DEFAULT: i16 = 3;

/// Most digits after the decimal point that a template may request.
const MOST_DIGITS: i16 = 20;

/// Longest text that is parsed as a number, in bytes.
const LONGEST_NUMBER: usize = 400;

pub(super) fn number(state: &State, value: &Value, digits: Option<i16>, arguments: Kwargs) -> Result<String, Error> {
    let locale = locale(state, &arguments)?;
    arguments.assert_all_used()?;
    let Some(mut number) = decimal(state, value)? else {
        return Ok(String::new());
    };
    match checked_digits(digits)? {
        Some(digits) => round_to(&mut number, digits),
        None => round_by_default(&mut number),
    }
    formatted(&number, locale)
}

/// Returns a number as it is printed without a number of digits, or `None` for an empty value.
pub(crate) fn count(state: &State, value: &Value) -> Result<Option<Decimal>, Error> {
    let mut number = decimal(state, value)?;
    if let Some(number) = &mut number {
        round_by_default(number);
        number.absolute.trim_start();
    }
    Ok(number)
}

/// Returns a number as a locale writes it.
pub(crate) fn formatted(number: &Decimal, locale: Locale) -> Result<String, Error> {
    let formatter = DecimalFormatter::try_new(locale.into(), DecimalFormatterOptions::default()).map_err(no_data)?;
    Ok(formatter.format(number).to_string())
}

/// Returns the plural category of a number in a locale.
pub(crate) fn category(number: &Decimal, locale: Locale) -> Result<PluralCategory, Error> {
    let rules = PluralRules::try_new_cardinal(locale.into()).map_err(no_data)?;
    Ok(rules.category_for(number))
}

pub(super) fn percent(state: &State, value: &Value, digits: Option<i16>, arguments: Kwargs) -> Result<String, Error> {
    let locale = locale(state, &arguments)?;
    arguments.assert_all_used()?;
    let Some(mut ratio) = decimal(state, value)? else {
        return Ok(String::new());
    };
    ratio.absolute.multiply_pow10(2);
    ratio.absolute.trim_start();
    round_to(&mut ratio, checked_digits(digits)?.unwrap_or(0));
    let formatter = PercentFormatter::try_new(locale.into(), PercentFormatterOptions::default()).map_err(no_data)?;
    let mut text = String::new();
    writeable::Writeable::write_to(&formatter.format(&ratio), &mut text)?;
    Ok(text)
}

pub(super) fn currency(state: &State, value: &Value, code: &str, arguments: Kwargs) -> Result<String, Error> {
    let locale = locale(state, &arguments)?;
    let display: Option<&str> = arguments.get("display")?;
    arguments.assert_all_used()?;
    let Some(amount) = decimal(state, value)? else {
        return Ok(String::new());
    };
    let currency = CurrencyType::try_from_str(&code.to_ascii_lowercase())
        .map_err(|_| invalid(format!("{code:?} is not a currency such as EUR")))?;
    match display.unwrap_or("symbol") {
        "symbol" => CurrencyFormatter::try_new_symbol(locale.into(), currency, CurrencyFormatterOptions::default())
            .map(|formatter| formatter.format_fixed_decimal(&amount).to_string()),
        "code" => CurrencyFormatter::try_new_code(locale.into(), currency, CurrencyFormatterOptions::default())
            .map(|formatter| formatter.format_fixed_decimal(&amount).to_string()),
        "name" => CurrencyFormatter::try_new_name(locale.into(), currency)
            .map(|formatter| formatter.format_fixed_decimal(&amount).to_string()),
        other => return Err(invalid(format!("display must be symbol, code or name, not {other:?}"))),
    }
    .map_err(no_data)
}

pub(super) fn plural(state: &State, value: &Value, arguments: Kwargs) -> Result<Value, Error> {
    let locale = locale(state, &arguments)?;
    let forms: [Option<Value>; 6] = [
        arguments.get("zero")?,
        arguments.get("one")?,
        arguments.get("two")?,
        arguments.get("few")?,
        arguments.get("many")?,
        arguments.get("other")?,
    ];
    arguments.assert_all_used()?;
    let [zero, one, two, few, many, other] = forms;
    let Some(other) = other else {
        return Err(invalid("plural needs the argument other"));
    };
    let Some(number) = decimal(state, value)? else {
        return Ok(other);
    };
    let form = match category(&number, locale)? {
        PluralCategory::Zero => zero,
        PluralCategory::One => one,
        PluralCategory::Two => two,
        PluralCategory::Few => few,
        PluralCategory::Many => many,
        PluralCategory::Other => None,
    };
    Ok(form.unwrap_or(other))
}

/// Parses a number, or a text that contains one, exactly as it is written: an amount such as `"19.90"` loses nothing as
/// text. Returns `None` for an empty value.
fn decimal(state: &State, value: &Value) -> Result<Option<Decimal>, Error> {
    if is_empty(state, value)? {
        return Ok(None);
    }
    if !value.is_number() && value.as_str().is_none() {
        return Err(invalid(format!("{} is not a number", value.kind())));
    }
    // The engine prints floats in the shortest form that round-trips, with an exponent if they are very large or small.
    let text = match f64::try_from(value.clone()) {
        Ok(float) if !value.is_integer() && float.is_finite() => float.to_string(),
        _ => value.to_string(),
    };
    let text = text.trim();
    if text.len() <= LONGEST_NUMBER
        && let Ok(decimal) = Decimal::try_from_str(text)
    {
        return Ok(Some(decimal));
    }
    let shown: String = text.chars().take(40).collect();
    Err(invalid(format!("{shown:?} is not a number")))
}

fn checked_digits(digits: Option<i16>) -> Result<Option<i16>, Error> {
    match digits {
        Some(digits) if !(0..=MOST_DIGITS).contains(&digits) => {
            Err(invalid(format!("digits must be 0 to {MOST_DIGITS}, not {digits}")))
        }
        digits => Ok(digits),
    }
}

/// Rounds to at most [`MOST_DIGITS_BY_DEFAULT`] digits after the decimal point.
fn round_by_default(number: &mut Decimal) {
    round_to(number, MOST_DIGITS_BY_DEFAULT);
    number.absolute.trim_end();
}

/// Rounds to exactly `digits` digits after the decimal point, halves away from zero, as on invoices.
fn round_to(number: &mut Decimal, digits: i16) {
    number.round_with_mode(-digits, SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand));
    number.absolute.pad_end(-digits);
}

fn no_data(error: impl std::fmt::Display) -> Error {
    invalid(format!("there is no data for this locale: {error}"))
}
