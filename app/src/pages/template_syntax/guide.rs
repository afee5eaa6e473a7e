//! The text of the page, converted from Markdown once. The package `template` tests its examples and recipes.

use std::{mem, sync::LazyLock};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, html};

const SOURCES: [&str; 2] = [
    include_str!("../../../../server/template/guide.md"),
    include_str!("../../../../server/template/filters.md"),
];
/// Separates the template of an example from its output.
const ARROW: &str = " →";

/// The text of all sources.
pub(super) static GUIDE: LazyLock<Guide> = LazyLock::new(|| Guide::from_markdown(SOURCES));

/// A text with headings of one level.
#[derive(Default)]
pub(super) struct Guide {
    pub(super) headings: Vec<Heading>,
    pub(super) blocks: Vec<Block>,
}

pub(super) struct Heading {
    /// Unique in the page.
    pub(super) id: String,
    pub(super) title: String,
}

pub(super) enum Block {
    Html(String),
    Code {
        title: String,
        /// Accessible name.
        label: String,
        code: String,
    },
}

impl Guide {
    fn from_markdown(sources: [&'static str; 2]) -> Self {
        let mut guide = Self::default();
        let mut text = Vec::new();
        let mut events = sources
            .into_iter()
            .flat_map(|source| Parser::new_ext(source, Options::empty()));
        while let Some(event) = events.next() {
            match event {
                Event::Start(Tag::Heading { .. }) => {
                    let title = words_until(&mut events, |end| matches!(end, TagEnd::Heading(_)));
                    let id = id_of(&title);
                    text.extend([
                        Event::Html(format!("<h2 id=\"{id}\">").into()),
                        Event::Text(title.clone().into()),
                        Event::Html("</h2>\n".into()),
                    ]);
                    guide.headings.push(Heading { id, title });
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    let code = words_until(&mut events, |end| matches!(end, TagEnd::CodeBlock));
                    if code.lines().all(|line| line.contains(ARROW)) {
                        text.extend(examples(&code));
                    } else {
                        guide.end_text(&mut text);
                        guide.add_code(&language, code);
                    }
                }
                other => text.push(other),
            }
        }
        guide.end_text(&mut text);
        guide
    }

    fn end_text(&mut self, text: &mut Vec<Event<'static>>) {
        let mut html = String::new();
        html::push_html(&mut html, mem::take(text).into_iter());
        if !html.is_empty() {
            self.blocks.push(Block::Html(html));
        }
    }

    fn add_code(&mut self, language: &str, code: String) {
        let title = match language {
            "json" => "Data".to_owned(),
            "html" => "Output".to_owned(),
            "translations" => "Translations".to_owned(),
            "options" => "Options of the render".to_owned(),
            language => match language.strip_prefix("partial ") {
                Some(handle) => format!("Partial {handle}"),
                None => "Template".to_owned(),
            },
        };
        let heading = self.headings.last().map_or("", |heading| heading.title.as_str());
        let label = format!("{title}: {heading}");
        self.blocks.push(Block::Code { title, label, code });
    }
}

/// Joins the words of an element, and consumes its end.
fn words_until(events: &mut impl Iterator<Item = Event<'static>>, is_end: impl Fn(TagEnd) -> bool) -> String {
    events
        .take_while(|event| !matches!(event, Event::End(end) if is_end(*end)))
        .filter_map(|event| match event {
            Event::Text(words) | Event::Code(words) => Some(words),
            _ => None,
        })
        .map(|words| words.to_string())
        .collect()
}

/// Returns an `id` of lowercase letters, digits and hyphens.
fn id_of(title: &str) -> String {
    let kept = |character: char| character.is_ascii_alphanumeric() || character == ' ';
    let kept: String = title.chars().filter(|&character| kept(character)).collect();
    kept.to_lowercase().replace(' ', "-")
}

/// Shows the output of each example below its template.
fn examples(code: &str) -> Vec<Event<'static>> {
    let mut events = vec![Event::Html("<dl class=\"examples\">\n".into())];
    for (template, output) in code.lines().filter_map(|line| line.split_once(ARROW)) {
        events.extend([
            Event::Html("<div class=\"examples__item\"><dt><code>".into()),
            Event::Text(template.to_owned().into()),
        ]);
        match output.trim() {
            "" => events.push(Event::Html("</code></dt><dd><i>nothing</i></dd></div>\n".into())),
            output => events.extend([
                Event::Html("</code></dt><dd><samp>".into()),
                Event::Text(output.to_owned().into()),
                Event::Html("</samp></dd></div>\n".into()),
            ]),
        }
    }
    events.push(Event::Html("</dl>\n".into()));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_below_their_templates_and_escaped() {
        let guide = Guide::from_markdown([
            "# It's `x`\n\nText.\n\n```jinja\n{{ '<b>' }} → &lt;b&gt;\n{{ none }} →\n```\n",
            "",
        ]);
        assert_eq!(guide.headings.len(), 1);
        let [Block::Html(html)] = guide.blocks.as_slice() else {
            panic!("{} blocks", guide.blocks.len());
        };
        assert!(html.starts_with("<h2 id=\"its-x\">It's x</h2>"), "{html}");
        let first = "<dt><code>{{ '&lt;b&gt;' }}</code></dt><dd><samp>&amp;lt;b&amp;gt;</samp></dd>";
        assert!(html.contains(first), "{html}");
        assert!(
            html.contains("<dt><code>{{ none }}</code></dt><dd><i>nothing</i></dd>"),
            "{html}"
        );
    }

    #[test]
    fn headings_have_addresses_of_their_own() {
        let mut ids: Vec<_> = GUIDE.headings.iter().map(|heading| heading.id.as_str()).collect();
        assert!(
            ids.contains(&"table-with-a-total") && ids.contains(&"numbers"),
            "{ids:?}"
        );
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn recipes_can_be_copied() {
        let copied = |block: &&Block| matches!(block, Block::Code { title, code, .. } if title == "Template" && code.contains("namespace"));
        assert_eq!(GUIDE.blocks.iter().filter(copied).count(), 1);
    }
}
