//! Reads settings one by one and collects all invalid ones, so that they are reported together. An invalid value counts
//! as unset until then.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr, time::Duration};

use url::Url;

/// An environment variable, as `--help` shows it.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub purpose: &'static str,
    /// The values that are accepted.
    pub allowed: &'static str,
    /// The value if the variable is unset or empty; a description if it is computed.
    pub default: &'static str,
}

impl Setting {
    /// Creates a setting without purpose and default; see the fields.
    pub(super) const fn new(name: &'static str, allowed: &'static str) -> Self {
        Self {
            name,
            purpose: "",
            allowed,
            default: "",
        }
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn purpose(self, purpose: &'static str) -> Self {
        Self { purpose, ..self }
    }
}

/// An invalid setting.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A value that is not allowed.
    #[error("{name}: {value:?} is not allowed; allowed: {allowed}")]
    Value {
        /// The variable's name.
        name: &'static str,
        value: String,
        /// See [`Setting::allowed`].
        allowed: &'static str,
    },
    /// A secret that is not allowed; the message omits its value.
    #[error("{name}: the value is not allowed; allowed: {allowed}")]
    Secret {
        /// The variable's name.
        name: &'static str,
        /// See [`Setting::allowed`].
        allowed: &'static str,
    },
    /// Values that are valid alone but contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

/// Reads settings through a lookup function.
pub struct Reader<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The invalid settings found so far.
    pub problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Creates a reader that gets the values of variables from `lookup`.
    pub fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            lookup,
            problems: Vec::new(),
        }
    }

    /// Returns the unparsed value, or `None` if it is unset or empty.
    pub fn text(&self, setting: &Setting) -> Option<String> {
        (self.lookup)(setting.name).filter(|value| !value.is_empty())
    }

    /// Returns the parsed value, or the parsed default if the value is unset or invalid.
    pub fn parsed<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Option<T>) -> T {
        let default = || parse(setting.default).expect("an allowed default");
        self.parsed_if_set(setting, &parse).unwrap_or_else(default)
    }

    /// Returns the parsed value, or `None` if it is unset or invalid.
    pub fn parsed_if_set<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = self.text(setting)?;
        let parsed = parse(&value);
        if parsed.is_none() {
            self.problems.push(Problem::Value {
                name: setting.name,
                value,
                allowed: setting.allowed,
            });
        }
        parsed
    }

    /// Returns a parsed secret. `None` if the variable is not set, or if a problem was added, which does not reveal the
    /// secret.
    pub fn secret<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let parsed = parse(&self.text(setting)?);
        if parsed.is_none() {
            self.refuse_secret(setting);
        }
        parsed
    }

    /// Adds a problem for a secret that is not allowed.
    pub fn refuse_secret(&mut self, setting: &Setting) {
        self.problems.push(Problem::Secret {
            name: setting.name,
            allowed: setting.allowed,
        });
    }

    /// Returns a number within `bounds`, or the default.
    pub fn number<T: FromStr + PartialOrd>(&mut self, setting: &Setting, bounds: RangeInclusive<T>) -> T {
        self.parsed(setting, |text| within(&bounds, text))
    }

    /// Returns a number within `bounds`, or `None` if it is unset or invalid.
    pub fn number_if_set<T: FromStr + PartialOrd>(
        &mut self,
        setting: &Setting,
        bounds: RangeInclusive<T>,
    ) -> Option<T> {
        self.parsed_if_set(setting, |text| within(&bounds, text))
    }

    /// Returns whole seconds within `bounds`, or the default.
    pub fn seconds(&mut self, setting: &Setting, bounds: RangeInclusive<u64>) -> Duration {
        Duration::from_secs(self.number(setting, bounds))
    }

    /// Returns `true` for `on` and `false` for `off`, or the default.
    pub fn switch(&mut self, setting: &Setting) -> bool {
        self.parsed(setting, |text| match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        })
    }

    /// Adds a problem for settings that contradict each other.
    pub fn contradiction(&mut self, explanation: impl Display) {
        self.problems.push(Problem::Contradiction(explanation.to_string()));
    }
}

/// Parses an `http` or `https` address without query and fragment.
pub(super) fn http_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none())
}

fn within<T: FromStr + PartialOrd>(bounds: &RangeInclusive<T>, text: &str) -> Option<T> {
    text.parse().ok().filter(|number| bounds.contains(number))
}
