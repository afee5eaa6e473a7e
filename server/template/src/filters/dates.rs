//! Dates and times as a locale writes them, in an IANA time zone. The calendar is always Gregorian: a document's date
//! should not depend on the reader's settings.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the engine passes named arguments only by value"
)]

use icu_calendar::{Date, Gregorian};
use icu_datetime::{
    FixedCalendarDateTimeFormatter,
    fieldsets::{T, YMD, YMDE, enums::CompositeDateTimeFieldSet},
    input::{DateTime, Time},
    pattern::{DateTimePattern, FixedCalendarDateTimeNames},
};
use icu_locale::Locale;
use jiff::{Timestamp, civil, tz::TimeZoneDatabase};
use minijinja::{Error, State, Value, value::Kwargs};

use super::arguments::{invalid, is_empty, locale, named_or_variable};

const DEFAULT_TIME_ZONE: &str = "UTC";

/// Longest pattern, in bytes; no pattern for a date needs more.
const LONGEST_PATTERN: usize = 200;

/// Parts that are shown if the format is a style rather than a pattern.
#[derive(Clone, Copy)]
enum Parts {
    Date,
    Time,
    DateAndTime,
}

pub(super) fn date(state: &State, value: &Value, format: Option<&str>, arguments: Kwargs) -> Result<String, Error> {
    formatted(state, value, format, &arguments, Parts::Date)
}

pub(super) fn time(state: &State, value: &Value, format: Option<&str>, arguments: Kwargs) -> Result<String, Error> {
    formatted(state, value, format, &arguments, Parts::Time)
}

pub(super) fn datetime(state: &State, value: &Value, format: Option<&str>, arguments: Kwargs) -> Result<String, Error> {
    formatted(state, value, format, &arguments, Parts::DateAndTime)
}

fn formatted(
    state: &State,
    value: &Value,
    format: Option<&str>,
    arguments: &Kwargs,
    parts: Parts,
) -> Result<String, Error> {
    let locale = locale(state, arguments)?;
    let time_zone = named_or_variable(state, arguments, "time_zone")?;
    arguments.assert_all_used()?;
    if is_empty(state, value)? {
        return Ok(String::new());
    }
    let local = local_time(value, time_zone.as_deref().unwrap_or(DEFAULT_TIME_ZONE))?;
    match (format.unwrap_or("medium"), parts) {
        ("iso", Parts::Date) => Ok(local.date().to_string()),
        ("iso", Parts::Time) => Ok(local.time().to_string()),
        ("iso", Parts::DateAndTime) => Ok(local.to_string()),
        (format, parts) => match field_set(format, parts) {
            Some(fields) => in_style(local, locale, fields),
            None => in_pattern(local, locale, format),
        },
    }
}

fn field_set(style: &str, parts: Parts) -> Option<CompositeDateTimeFieldSet> {
    use icu_datetime::fieldsets::enums::{DateAndTimeFieldSet, DateFieldSet, TimeFieldSet};
    let date = match style {
        "short" => DateFieldSet::YMD(YMD::short()),
        "medium" => DateFieldSet::YMD(YMD::medium()),
        "long" => DateFieldSet::YMD(YMD::long()),
        "full" => DateFieldSet::YMDE(YMDE::long()),
        _ => return None,
    };
    let time = if style == "short" { T::hm() } else { T::hms() };
    Some(match (parts, date) {
        (Parts::Date, date) => CompositeDateTimeFieldSet::Date(date),
        (Parts::Time, _) => CompositeDateTimeFieldSet::Time(TimeFieldSet::T(time)),
        (Parts::DateAndTime, DateFieldSet::YMDE(date)) => {
            CompositeDateTimeFieldSet::DateTime(DateAndTimeFieldSet::YMDET(date.with_time_hm()))
        }
        (Parts::DateAndTime, DateFieldSet::YMD(date)) => {
            CompositeDateTimeFieldSet::DateTime(DateAndTimeFieldSet::YMDT(date.with_time_hm()))
        }
        (Parts::DateAndTime, _) => return None,
    })
}

fn in_style(local: civil::DateTime, locale: Locale, fields: CompositeDateTimeFieldSet) -> Result<String, Error> {
    let formatter = FixedCalendarDateTimeFormatter::<Gregorian, _>::try_new(locale.into(), fields)
        .map_err(|error| invalid(format!("there is no data for this locale: {error}")))?;
    Ok(formatter.format(&gregorian(local)?).to_string())
}

fn in_pattern(local: civil::DateTime, locale: Locale, pattern: &str) -> Result<String, Error> {
    let unknown = || invalid("the format must be short, medium, long, full, iso or a pattern such as d MMMM y");
    if pattern.len() > LONGEST_PATTERN {
        return Err(unknown());
    }
    let pattern = DateTimePattern::try_from_pattern_str(pattern).map_err(|_| unknown())?;
    let mut names = FixedCalendarDateTimeNames::<Gregorian, CompositeDateTimeFieldSet>::try_new(locale.into())
        .map_err(|error| invalid(format!("there is no data for this locale: {error}")))?;
    let formatter = names
        .include_for_pattern(&pattern)
        .map_err(|error| invalid(error.to_string()))?;
    let datetime = gregorian(local)?;
    let mut text = String::new();
    match writeable::TryWriteable::try_write_to(&formatter.format(&datetime), &mut text)? {
        Ok(()) => Ok(text),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Parses RFC 3339 with or without offset, a date alone, or seconds since 1970, and returns the local time in a time
/// zone. A time without offset counts as local already.
fn local_time(value: &Value, time_zone: &str) -> Result<civil::DateTime, Error> {
    if value.is_number() {
        let seconds = f64::try_from(value.clone())?;
        let instant = jiff::SignedDuration::try_from_secs_f64(seconds)
            .and_then(Timestamp::from_duration)
            .map_err(|_| invalid(format!("{seconds} is not a time in seconds since 1970")))?;
        return in_zone(instant, time_zone);
    }
    let text = value.as_str().unwrap_or_default().trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return in_zone(instant, time_zone);
    }
    text.parse::<civil::DateTime>().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        invalid(format!(
            "{shown:?} is not a date such as 2026-11-21 or 2026-11-21T12:00:00Z"
        ))
    })
}

fn in_zone(instant: Timestamp, time_zone: &str) -> Result<civil::DateTime, Error> {
    // The bundled database, never the system's: a worker process cannot open files.
    let zone = TimeZoneDatabase::bundled()
        .get(time_zone)
        .map_err(|_| invalid(format!("{time_zone:?} is not a time zone such as Europe/Berlin")))?;
    Ok(instant.to_zoned(zone).datetime())
}

fn gregorian(local: civil::DateTime) -> Result<DateTime<Gregorian>, Error> {
    let out_of_range = || invalid("the date is out of range");
    let date = Date::try_new_gregorian(
        local.year().into(),
        local.month().unsigned_abs(),
        local.day().unsigned_abs(),
    )
    .map_err(|_| out_of_range())?;
    let time = Time::try_new(
        local.hour().unsigned_abs(),
        local.minute().unsigned_abs(),
        local.second().unsigned_abs(),
        local.subsec_nanosecond().unsigned_abs(),
    )
    .map_err(|_| out_of_range())?;
    Ok(DateTime { date, time })
}
