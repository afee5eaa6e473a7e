//! Reads settings one by one and gathers every fault, so that all of them are told at once.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

/// An environment variable, as `--help` shows it.
#[derive(Debug)]
pub struct Setting {
    /// The variable's name.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Which values it takes.
    pub allowed: &'static str,
    /// Which value it has when it is not set or empty; words where it is computed.
    pub default: &'static str,
}

/// A setting that can't be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A value outside what is allowed.
    #[error("{name}: {value:?} is not allowed; allowed: {allowed}")]
    Value {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// See [`Setting::allowed`].
        allowed: &'static str,
    },
    /// A secret outside what is allowed: the value stays out of the message.
    #[error("{name}: the value is not allowed; allowed: {allowed}")]
    Secret {
        /// The variable.
        name: &'static str,
        /// See [`Setting::allowed`].
        allowed: &'static str,
    },
    /// Values that are sound alone but not together.
    #[error("{0}")]
    Contradiction(String),
}

/// See the module.
pub struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// What was found wrong so far.
    pub faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    /// A reader without faults.
    pub fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            lookup,
            faults: Vec::new(),
        }
    }

    /// The value as it stands; `None` when it is unset or empty.
    pub fn text(&self, setting: &Setting) -> Option<String> {
        (self.lookup)(setting.name).filter(|value| !value.is_empty())
    }

    /// A parsed value, else the default. `None` only beside a fault.
    pub fn parsed<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.parsed_or(setting, parse(setting.default), parse)
    }

    /// A parsed value, else a computed default. `None` only when that is `None`, or beside a fault.
    pub fn parsed_or<T>(
        &mut self,
        setting: &Setting,
        default: Option<T>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = self.text(setting) else {
            return default;
        };
        let parsed = parse(&value);
        if parsed.is_none() {
            self.faults.push(Fault::Value {
                name: setting.name,
                value,
                allowed: setting.allowed,
            });
        }
        parsed
    }

    /// A number within bounds, else the default.
    pub fn number<T: FromStr + PartialOrd>(&mut self, setting: &Setting, bounds: RangeInclusive<T>) -> Option<T> {
        self.parsed(setting, |text| {
            text.parse().ok().filter(|number| bounds.contains(number))
        })
    }

    /// A number within bounds, or `None` inside when it is not set. `None` outside only beside a fault.
    pub fn number_if_set<T: FromStr + PartialOrd>(
        &mut self,
        setting: &Setting,
        bounds: RangeInclusive<T>,
    ) -> Option<Option<T>> {
        self.parsed_or(setting, Some(None), |text| {
            text.parse().ok().filter(|number| bounds.contains(number)).map(Some)
        })
    }

    /// A number within bounds, else a computed default.
    pub fn number_or<T: FromStr + PartialOrd>(
        &mut self,
        setting: &Setting,
        default: T,
        bounds: RangeInclusive<T>,
    ) -> Option<T> {
        self.parsed_or(setting, Some(default), |text| {
            text.parse().ok().filter(|number| bounds.contains(number))
        })
    }

    /// Whole seconds within bounds, else the default.
    pub fn seconds(&mut self, setting: &Setting, bounds: RangeInclusive<u64>) -> Option<Duration> {
        self.number(setting, bounds).map(Duration::from_secs)
    }

    /// `on` or `off`, else the default.
    pub fn switch(&mut self, setting: &Setting) -> Option<bool> {
        self.parsed(setting, |text| match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        })
    }

    /// Notes that two settings contradict each other.
    pub fn contradiction(&mut self, explanation: impl Display) {
        self.faults.push(Fault::Contradiction(explanation.to_string()));
    }
}
