//! `platen doctor`: checks everything that the service depends on, and suggests fixes.

mod billing;
mod browser;
mod database;
mod fonts;
mod machine;
mod mail;
mod storage;
mod templates;

use std::fmt::Display;

use platen_core::config::Config;

use crate::cli::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// No problem.
    Fine,
    /// The service runs, but not as well or as safely as it could.
    Warning,
    /// The service can't run, or not for long.
    Broken,
}

/// The result of one check.
#[derive(Debug)]
struct Finding {
    verdict: Verdict,
    subject: &'static str,
    fact: String,
    /// Suggested fix; empty if none is needed.
    remedy: String,
}

impl Finding {
    fn fine(subject: &'static str, fact: impl Display) -> Self {
        Self::new(Verdict::Fine, subject, fact, "")
    }

    fn warning(subject: &'static str, fact: impl Display, remedy: impl Display) -> Self {
        Self::new(Verdict::Warning, subject, fact, remedy)
    }

    fn broken(subject: &'static str, fact: impl Display, remedy: impl Display) -> Self {
        Self::new(Verdict::Broken, subject, fact, remedy)
    }

    fn new(verdict: Verdict, subject: &'static str, fact: impl Display, remedy: impl Display) -> Self {
        Self {
            verdict,
            subject,
            fact: fact.to_string(),
            remedy: remedy.to_string(),
        }
    }

    fn print(&self) {
        let verdict = match self.verdict {
            Verdict::Fine => "ok",
            Verdict::Warning => "warning",
            Verdict::Broken => "BROKEN",
        };
        println!("{verdict:8} {:9} {}", self.subject, self.fact);
        if !self.remedy.is_empty() {
            println!("{:18} → {}", "", self.remedy);
        }
    }
}

/// Prints all findings; fails if one of them is [`Verdict::Broken`].
pub(super) async fn execute(config: &Config) -> Result<(), Failure> {
    let mut broken = 0;
    let mut report = |findings: &[Finding]| {
        for finding in findings {
            finding.print();
            broken += usize::from(finding.verdict == Verdict::Broken);
        }
    };
    // Prints the findings of each check at once, because starting a browser takes a moment.
    report(&machine::look(config));
    report(&fonts::look());
    report(&database::look(config).await);
    report(&storage::look(config).await);
    report(&[mail::look(config).await]);
    report(&[billing::look(config).await]);
    report(&[templates::look().await]);
    report(&browser::look(config).await);
    match broken {
        0 => Ok(()),
        count => Err(Failure::by_machine(format!(
            "{count} of the above keep the service from working"
        ))),
    }
}
