//! Demo templates, which are created in the first account, and from which new templates can start.

use serde_json::{Map, Value};

use crate::template::{NewTemplate, translations::Translations};

/// A demo template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Demo {
    /// Line items, totals, and a payment code.
    Invoice,
    /// A price with options, a schedule and an acceptance.
    Quote,
    /// A strip as long as its contents.
    Receipt,
    /// A letterhead, and a recipient for window envelopes.
    Letter,
    /// A cover, contents, charts, tables and running headers.
    Report,
    /// One landscape page.
    Certificate,
    /// A page of 100 × 150 mm in black alone.
    ShippingLabel,
    /// A picture, and a stub with a QR code.
    Ticket,
    /// A nearly empty page.
    Blank,
}

/// Content of a new partial.
const PARTIAL: &str = "\
{# Templates show this with {% include %} and its handle, and fill it with their own data. #}
<footer>
  <p>{{ company }}</p>
</footer>
";

/// Returns a partial with this name, which contains a few lines.
pub fn new_partial(name: String) -> NewTemplate {
    NewTemplate {
        name,
        content: PARTIAL.to_owned(),
        preview_context: Map::from_iter([("company".to_owned(), "Acme GmbH".into())]),
        translations: Translations::default(),
    }
}

impl Demo {
    /// The templates of the first account.
    pub const FIRST: [Self; 3] = [Self::Invoice, Self::Certificate, Self::Report];

    /// Returns the default name of a template created from the demo.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invoice => "Invoice",
            Self::Quote => "Quote",
            Self::Receipt => "Receipt",
            Self::Letter => "Letter",
            Self::Report => "Report",
            Self::Certificate => "Certificate",
            Self::ShippingLabel => "Shipping label",
            Self::Ticket => "Ticket",
            Self::Blank => "Blank page",
        }
    }

    /// Returns a template with this name and the demo's content.
    pub fn named(self, name: String) -> NewTemplate {
        NewTemplate {
            name,
            content: self.content().to_owned(),
            preview_context: self.data(),
            translations: Translations::default(),
        }
    }

    fn content(self) -> &'static str {
        match self {
            Self::Invoice => include_str!("demos/invoice.html"),
            Self::Quote => include_str!("demos/quote.html"),
            Self::Receipt => include_str!("demos/receipt.html"),
            Self::Letter => include_str!("demos/letter.html"),
            Self::Report => include_str!("demos/report.html"),
            Self::Certificate => include_str!("demos/certificate.html"),
            Self::ShippingLabel => include_str!("demos/shipping-label.html"),
            Self::Ticket => include_str!("demos/ticket.html"),
            Self::Blank => include_str!("demos/blank.html"),
        }
    }

    fn data(self) -> Map<String, Value> {
        let json = match self {
            Self::Invoice => include_str!("demos/invoice.json"),
            Self::Quote => include_str!("demos/quote.json"),
            Self::Receipt => include_str!("demos/receipt.json"),
            Self::Letter => include_str!("demos/letter.json"),
            Self::Report => include_str!("demos/report.json"),
            Self::Certificate => include_str!("demos/certificate.json"),
            Self::ShippingLabel => include_str!("demos/shipping-label.json"),
            Self::Ticket => include_str!("demos/ticket.json"),
            Self::Blank => include_str!("demos/blank.json"),
        };
        serde_json::from_str(json).expect("demo data is checked by the test below")
    }
}

#[cfg(test)]
mod tests {
    use minijinja::value::Serde;
    use platen_template::{analysis, language};
    use strum::VariantArray;

    use super::*;

    #[test]
    fn demos_use_all_of_their_data_and_nothing_else() {
        for &demo in Demo::VARIANTS {
            let template = demo.named(demo.name().to_owned());
            let data = minijinja::Value::from(Serde(&template.preview_context));
            let filled = language::render(template.content.as_str(), data.clone(), language::Undefined::Refuse);
            assert!(filled.is_ok(), "{demo:?}: {filled:?}");
            assert_eq!(
                analysis::unused(template.content.as_str(), &data),
                Ok(Vec::new()),
                "{demo:?}"
            );
        }
    }

    #[test]
    fn demos_are_structured_for_assistive_technology() {
        for &demo in Demo::VARIANTS {
            let template = demo.named(demo.name().to_owned());
            let data = minijinja::Value::from(Serde(&template.preview_context));
            let filled = language::render(template.content.as_str(), data, language::Undefined::Refuse);
            let html = filled.map(|filled| filled.text).unwrap_or_default();
            // What follows the name of each element that begins like this.
            let tags = |name: &'static str| html.split(name).skip(1).filter_map(|rest| rest.split('>').next());

            assert!(html.contains("<html lang=\"en"), "{demo:?}");
            let title = html.split("<title>").nth(1).unwrap_or_default();
            assert!(!title.starts_with("</title>") && !title.is_empty(), "{demo:?}");

            let levels: Vec<_> = tags("<h").filter_map(|tag| tag.chars().next()?.to_digit(10)).collect();
            assert_eq!(levels.first(), Some(&1), "{demo:?}");
            assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{demo:?}");
            let mut steps = levels.iter().zip(levels.iter().skip(1));
            assert!(steps.all(|(above, below)| *below <= *above + 1), "{demo:?}: {levels:?}");

            assert!(tags("<img").all(|tag| tag.contains(" alt=\"")), "{demo:?}");
            let described =
                |tag: &str| tag.contains("role=\"img\" aria-label=\"") || tag.contains("aria-hidden=\"true\"");
            assert!(tags("<svg").all(described), "{demo:?}");
            let mut headers = tags("<th").filter(|tag| !tag.starts_with("ead"));
            assert!(headers.all(|tag| tag.contains(" scope=\"")), "{demo:?}");
        }
    }
}
