//! Checks which scripts the installed fonts cover. Missing ones are printed as empty boxes.

use std::process::Command;

use crate::cli::doctor::Finding;

const NOTO: &str = "fonts-noto-core";
const NOTO_CJK: &str = "fonts-noto-cjk";
const NOTO_EMOJI: &str = "fonts-noto-color-emoji";

/// A script, a language of fontconfig that needs all of it, and the Debian package with a font for it.
const SCRIPTS: [(&str, &str, &str); 18] = [
    ("Latin", "en", "fonts-liberation"),
    ("Greek", "el", "fonts-liberation"),
    ("Cyrillic", "ru", "fonts-liberation"),
    ("Vietnamese", "vi", "fonts-dejavu-core"),
    ("Hebrew", "he", NOTO),
    ("Arabic", "ar", NOTO),
    ("Armenian", "hy", NOTO),
    ("Georgian", "ka", NOTO),
    ("Devanagari", "hi", NOTO),
    ("Bengali", "bn", NOTO),
    ("Tamil", "ta", NOTO),
    ("Thai", "th", NOTO),
    ("Khmer", "km", NOTO),
    ("Ethiopic", "am", NOTO),
    ("Chinese", "zh-cn", NOTO_CJK),
    ("Japanese", "ja", NOTO_CJK),
    ("Korean", "ko", NOTO_CJK),
    ("emoji", "und-zsye", NOTO_EMOJI),
];

pub(super) fn look() -> Vec<Finding> {
    let mut covered = Vec::new();
    let mut missing = Vec::new();
    for (script, language, package) in SCRIPTS {
        match has_font(language) {
            Some(true) => covered.push(script),
            Some(false) => missing.push((script, package)),
            None => {
                let fact = "the scripts that fonts cover are unknown: fc-list is not installed";
                return vec![Finding::warning("Fonts", fact, "apt-get install fontconfig")];
            }
        }
    }
    report(&covered, &missing)
}

fn report(covered: &[&str], missing: &[(&str, &str)]) -> Vec<Finding> {
    let names: Vec<&str> = missing.iter().map(|(script, _)| *script).collect();
    let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    let remedy = format!("apt-get install {}", packages.join(" "));
    if names.contains(&"Latin") {
        return vec![Finding::broken("Fonts", "no font for Latin letters", remedy)];
    }
    let mut findings = vec![Finding::fine("Fonts", covered.join(", "))];
    if !names.is_empty() {
        findings.push(Finding::warning(
            "Fonts",
            format!("none for {}", names.join(", ")),
            remedy,
        ));
    }
    findings
}

/// Returns whether a font covers the language; `None` if fontconfig can't be run.
fn has_font(language: &str) -> Option<bool> {
    let output = Command::new("fc-list")
        .args([&format!(":lang={language}"), "family"])
        .output()
        .ok()?;
    output.status.success().then_some(!output.stdout.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::Verdict;

    #[test]
    fn missing_scripts_name_their_packages_once() {
        let findings = report(&["Latin"], &[("Chinese", NOTO_CJK), ("Korean", NOTO_CJK)]);
        assert_eq!(findings[1].verdict, Verdict::Warning);
        assert_eq!(findings[1].fact, "none for Chinese, Korean");
        assert_eq!(findings[1].remedy, "apt-get install fonts-noto-cjk");
    }

    #[test]
    fn without_any_font_nothing_can_be_printed() {
        assert_eq!(
            report(&[], &[("Latin", "fonts-liberation")])[0].verdict,
            Verdict::Broken
        );
    }
}
