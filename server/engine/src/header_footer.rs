//! Running header and footer: what Chromium would fill wrongly is filled by us.
//!
//! Chromium prints `about:blank` as the address of an HTML part and its own clock as the date, so `title`, `url` and
//! `date` are written into the template here; `pageNumber` and `totalPages` are left to Chromium.

use lol_html::{
    RewriteStrSettings, element,
    html_content::{ContentType, Element},
    rewrite_str, text,
};
use time::{OffsetDateTime, macros::format_description};

use crate::job::Warning;

/// A template without a font size would be set in a size that nobody can read.
const DEFAULT_FONT_SIZE_PX: u32 = 10;

/// The classes that are filled here.
const FILLED_CLASSES: [&str; 3] = ["title", "url", "date"];

/// What a class is called once its element is filled; rules for it in the template's own `<style>` follow.
fn filled_class(class: &str) -> String {
    format!("platen-{class}")
}

/// What the classes stand for.
pub(crate) struct Fields<'a> {
    /// Class `title`.
    pub(crate) title: &'a str,
    /// Class `url`; empty for HTML.
    pub(crate) url: &'a str,
    /// Class `date`, in UTC.
    pub(crate) date: OffsetDateTime,
}

/// A template ready for `Page.printToPDF`. An empty one becomes an empty element, because Chromium takes an empty string
/// as a wish for its own default.
pub(crate) fn fill(template: &str, fields: &Fields<'_>, name: &str) -> (String, Option<Warning>) {
    if template.trim().is_empty() {
        return ("<span></span>".to_owned(), None);
    }
    let date = fields
        .date
        .format(&format_description!("[year]-[month]-[day] [hour]:[minute] UTC"));
    let date = date.unwrap_or_default();
    let mut remote = false;
    let refuse = |element: &mut Element<'_, '_>| {
        for attribute in ["src", "srcset", "href", "xlink:href", "data", "poster"] {
            let Some(value) = element.get_attribute(attribute) else {
                continue;
            };
            let is_link = attribute == "href" && element.tag_name() == "a";
            if !is_link && !value.trim_start().starts_with("data:") && !value.starts_with('#') {
                element.remove_attribute(attribute);
                remote = true;
            }
        }
        Ok(())
    };
    let fill_with = |class: &'static str, text: &str| {
        let text = text.to_owned();
        move |element: &mut Element<'_, '_>| {
            element.set_inner_content(&text, ContentType::Text);
            // Chromium would fill it again, with what it knows.
            let classes = element.get_attribute("class").unwrap_or_default();
            let renamed: Vec<String> = classes
                .split_ascii_whitespace()
                .map(|other| {
                    if other == class {
                        filled_class(class)
                    } else {
                        other.to_owned()
                    }
                })
                .collect();
            element.set_attribute("class", &renamed.join(" "))?;
            Ok(())
        }
    };
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("script", |script| {
            script.remove();
            Ok(())
        }))
        .append_element_content_handler(element!("*", refuse))
        .append_element_content_handler(element!(".title", fill_with("title", fields.title)))
        .append_element_content_handler(element!(".url", fill_with("url", fields.url)))
        .append_element_content_handler(element!(".date", fill_with("date", &date)))
        .append_element_content_handler(text!("style", |rules| {
            let renamed = FILLED_CLASSES.iter().fold(rules.as_str().to_owned(), |rules, class| {
                rules.replace(&format!(".{class}"), &format!(".{}", filled_class(class)))
            });
            rules.replace(&renamed, ContentType::Html);
            Ok(())
        }));
    let filled = rewrite_str(template, settings).unwrap_or_default();
    let warning = (remote || template.contains("url(http") || template.contains("@import")).then(|| Warning {
        code: "header_footer_asset_refused",
        message: format!("{name} names an asset by address, which is not loaded; put it in as a data: URL"),
    });
    let framed = format!(
        "<div style=\"font-size:{DEFAULT_FONT_SIZE_PX}px;width:100%;-webkit-print-color-adjust:exact\">{filled}</div>"
    );
    (framed, warning)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn fill_header(template: &str) -> (String, Option<Warning>) {
        let fields = Fields {
            title: "A < B",
            url: "",
            date: datetime!(2026-11-21 08:05 UTC),
        };
        fill(template, &fields, "header_template")
    }

    #[test]
    fn classes_are_filled_with_text() {
        let (header, warning) = fill_header("<b class='x title'>old</b><i class=date></i><u class=pageNumber></u>");
        assert!(header.contains("<b class=\"x platen-title\">A &lt; B</b>"), "{header}");
        assert!(
            header.contains("<i class=\"platen-date\">2026-11-21 08:05 UTC</i>"),
            "{header}"
        );
        assert!(header.contains("<u class=pageNumber></u>"));
        assert_eq!(warning, None);
    }

    #[test]
    fn rules_for_the_classes_still_apply() {
        let (header, _) = fill_header("<style>.date{color:red}.x.title{top:0}</style><i class=date></i>");
        assert!(
            header.contains(".platen-date{color:red}.x.platen-title{top:0}"),
            "{header}"
        );
    }

    #[test]
    fn scripts_and_remote_assets_are_taken_out() {
        let (header, warning) = fill_header("<script>x()</script><img src='http://x/y.png'><a href='http://x'>y</a>");
        assert!(!header.contains("x()") && !header.contains("y.png"), "{header}");
        assert!(header.contains("<a href='http://x'>y</a>"));
        assert_eq!(warning.map(|warning| warning.code), Some("header_footer_asset_refused"));
    }

    #[test]
    fn an_empty_template_brings_no_default() {
        assert_eq!(fill_header("  ").0, "<span></span>");
    }
}
