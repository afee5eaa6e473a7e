//! Demo templates, which are created in the first account, and from which new templates can start.

use serde_json::{Map, Value};

use crate::template::NewTemplate;

/// A demo template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// Line items, totals, and a payment code.
    Invoice,
    /// One landscape page.
    Certificate,
    /// A cover, charts, tables and running headers.
    Report,
    /// A nearly empty page.
    Blank,
}

impl Demo {
    /// The templates of the first account.
    pub const FIRST: [Self; 3] = [Self::Invoice, Self::Certificate, Self::Report];

    /// Returns the default name of a template created from the demo.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invoice => "Invoice",
            Self::Certificate => "Certificate",
            Self::Report => "Report",
            Self::Blank => "Blank page",
        }
    }

    /// Returns a template with this name and the demo's content.
    pub fn named(self, name: String) -> NewTemplate {
        NewTemplate {
            name,
            content: self.content().to_owned(),
            preview_context: self.data(),
        }
    }

    fn content(self) -> &'static str {
        match self {
            Self::Invoice => include_str!("demos/invoice.html"),
            Self::Certificate => include_str!("demos/certificate.html"),
            Self::Report => include_str!("demos/report.html"),
            Self::Blank => include_str!("demos/blank.html"),
        }
    }

    fn data(self) -> Map<String, Value> {
        let json = match self {
            Self::Invoice => include_str!("demos/invoice.json"),
            Self::Certificate => include_str!("demos/certificate.json"),
            Self::Report => include_str!("demos/report.json"),
            Self::Blank => include_str!("demos/blank.json"),
        };
        serde_json::from_str(json).expect("demo data is checked by the test below")
    }
}

#[cfg(test)]
mod tests {
    use minijinja::value::Serde;
    use platen_template::{analysis, language};

    use super::*;

    #[test]
    fn demos_use_all_of_their_data_and_nothing_else() {
        for demo in [Demo::Invoice, Demo::Certificate, Demo::Report, Demo::Blank] {
            let template = demo.named(demo.name().to_owned());
            let data = minijinja::Value::from(Serde(&template.preview_context));
            let filled = language::render(&template.content, data.clone(), language::Undefined::Refuse);
            assert!(filled.is_ok(), "{demo:?}: {filled:?}");
            assert_eq!(analysis::unused(&template.content, &data), Ok(Vec::new()), "{demo:?}");
        }
    }
}
