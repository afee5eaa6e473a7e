//! Settings. Each one is an environment variable with a default that suits a laptop. All are read and validated once,
//! at start; no module reads the environment later.

pub mod billing;
pub mod browser;
pub mod connections;
pub mod data;
pub mod database;
pub mod disclosure;
pub mod egress;
pub mod http;
pub mod jobs;
pub mod limits;
pub mod log;
pub mod mail;
pub mod memory;
pub mod metrics;
pub mod reader;
pub mod secrets;
pub mod site;
pub mod storage;
pub mod traces;

use crate::config::{
    billing::BillingConfig,
    browser::BrowserConfig,
    connections::ConnectionsConfig,
    data::DataConfig,
    database::DatabaseConfig,
    disclosure::DisclosureConfig,
    egress::EgressConfig,
    http::HttpConfig,
    jobs::{JobsConfig, Role},
    limits::LimitsConfig,
    log::LogConfig,
    mail::MailConfig,
    memory::MemoryConfig,
    metrics::MetricsConfig,
    reader::{Problem, Reader, Setting},
    secrets::SecretsConfig,
    site::SiteConfig,
    storage::StorageConfig,
    traces::TracesConfig,
};

#[derive(Debug)]
pub struct Config {
    /// See [`mod@http`].
    pub http: HttpConfig,
    /// See [`mod@connections`].
    pub connections: ConnectionsConfig,
    /// See [`mod@disclosure`].
    pub disclosure: DisclosureConfig,
    /// See [`mod@site`].
    pub site: SiteConfig,
    /// See [`mod@database`].
    pub database: DatabaseConfig,
    /// See [`mod@data`].
    pub data: DataConfig,
    /// See [`mod@secrets`].
    pub secrets: SecretsConfig,
    /// See [`mod@browser`].
    pub browser: BrowserConfig,
    /// See [`mod@memory`].
    pub memory: MemoryConfig,
    /// See [`mod@egress`].
    pub egress: EgressConfig,
    /// See [`mod@limits`].
    pub limits: LimitsConfig,
    /// See [`mod@jobs`].
    pub jobs: JobsConfig,
    /// See [`mod@storage`].
    pub storage: StorageConfig,
    /// See [`mod@mail`].
    pub mail: MailConfig,
    /// See [`mod@billing`].
    pub billing: BillingConfig,
    /// See [`mod@log`].
    pub log: LogConfig,
    /// See [`mod@metrics`].
    pub metrics: MetricsConfig,
    /// See [`mod@traces`].
    pub traces: TracesConfig,
}

/// All invalid settings, reported together.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Problem>);

impl Config {
    /// Reads the settings from the process's environment.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(&|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// Returns the settings with the role replaced if `role` is given.
    #[must_use]
    pub fn with_role(mut self, role: Option<Role>) -> Self {
        self.jobs.role = role.unwrap_or(self.jobs.role);
        self
    }

    /// Reads the settings through `lookup`, which returns the value of a variable.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut reader = Reader::new(lookup);
        let database = DatabaseConfig::from_env(&mut reader);
        let (browser, memory) = BrowserConfig::from_env(&mut reader, database.url.is_none());
        let config = Self {
            http: HttpConfig::from_env(&mut reader),
            connections: ConnectionsConfig::from_env(&mut reader),
            disclosure: DisclosureConfig::from_env(&mut reader),
            site: SiteConfig::from_env(&mut reader),
            database,
            data: DataConfig::from_env(&mut reader),
            secrets: SecretsConfig::from_env(&mut reader),
            browser,
            memory,
            egress: EgressConfig::from_env(&mut reader),
            limits: LimitsConfig::from_env(&mut reader),
            jobs: JobsConfig::from_env(&mut reader),
            storage: StorageConfig::from_env(&mut reader),
            mail: MailConfig::from_env(&mut reader),
            billing: BillingConfig::from_env(&mut reader),
            log: LogConfig::from_env(&mut reader),
            metrics: MetricsConfig::from_env(&mut reader),
            traces: TracesConfig::from_env(&mut reader),
        };
        if reader.problems.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError(reader.problems))
        }
    }
}

/// The settings of every section, in the order in which `--help` lists them.
pub const SECTIONS: [(&str, &[&Setting]); 18] = [
    ("Service", http::SETTINGS),
    ("Client connections", connections::SETTINGS),
    ("Reports of security problems", disclosure::SETTINGS),
    ("Dashboard", site::SETTINGS),
    ("Database", database::SETTINGS),
    ("Data folder", data::SETTINGS),
    ("Secrets", secrets::SETTINGS),
    ("Browser", browser::SETTINGS),
    ("Memory", memory::SETTINGS),
    ("Network access of pages", egress::SETTINGS),
    ("Limits", limits::SETTINGS),
    ("Background work", jobs::SETTINGS),
    ("Storage", storage::SETTINGS),
    ("Mail", mail::SETTINGS),
    ("Payment", billing::SETTINGS),
    ("Logs", log::SETTINGS),
    ("Metrics", metrics::SETTINGS),
    ("Traces", traces::SETTINGS),
];

/// Returns the list of settings that `--help` shows.
pub fn help() -> String {
    let mut lines = vec!["Settings (environment variables):".to_owned()];
    for (title, settings) in SECTIONS {
        lines.push(format!("\n  {title}"));
        for setting in settings {
            lines.push(format!("    {}", setting.name));
            lines.push(format!("        {}", setting.purpose));
            lines.push(format!("        [{}; default: {}]", setting.allowed, setting.default));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
