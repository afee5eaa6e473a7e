//! Requests for batches.

use platen_domain::{
    batch::{RowFormat, file_name, part_pattern, path_pattern, row_reader::row_problem},
    callback::{CallbackTarget, shown_address},
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};
use platen_engine::job::Part;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use url::Url;

use crate::render_request::{AsynchronousRequest, PartSource, RenderRequest, TemplatePart, rules, wire::WireCallback};

/// The member that contains all others.
const BATCH: &str = "/batch";
/// The member that contains the request of each row.
const RENDER: &str = "/batch/render";
/// The member that contains the pattern of the names of documents in their archive.
const FILE_NAMES: &str = "/batch/file_names";
/// Limits for bodies.
const LAYOUT: Layout = Layout {
    data: &["batch", "rows", "*"],
    data_values: json::MOST_DATA_VALUES,
    list: None,
};
/// The context of a template part that has none.
const NO_CONTEXT: &str = "{}";
/// Maximum size of the parts of a row, with their placeholders filled, in bytes: as that of the request that the row completes.
const LARGEST_PARTS: usize = 256 << 10;

/// A valid request for a batch.
#[derive(Debug, Clone)]
pub struct BatchCreation {
    pub name: String,
    /// Pattern of the names of documents in their archive.
    pub file_names: Option<String>,
    /// The webhook to send when the batch has ended.
    pub callback: Option<CallbackTarget>,
    /// The request that each row completes.
    pub request: AsynchronousRequest,
    /// JSON objects; empty if they are uploaded later.
    pub rows: Vec<String>,
}

/// A body, with the parts that are passed on as they were sent.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    batch: SentBatch<'a>,
}

#[derive(Deserialize)]
struct SentBatch<'a> {
    name: Option<String>,
    file_names: Option<String>,
    callback: Option<WireCallback>,
    #[serde(borrow)]
    render: &'a RawValue,
    #[serde(borrow)]
    rows: Option<Vec<&'a RawValue>>,
}

impl BatchCreation {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(text: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(body) = json::parse(text, &LAYOUT, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::BatchCreation.check(&body.value, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body.value));
        }
        // The schema has found its members.
        let sent: Sent<'_> =
            serde_json::from_slice(text).map_err(|error| vec![Problem::invalid("", error.to_string())])?;
        let mut of_callback = Problems::default();
        rules::check_callback(&body.value["batch"], &mut of_callback);
        if !of_callback.is_empty() {
            return Err(of_batch(of_callback.sorted(&body.value["batch"])));
        }
        let request = AsynchronousRequest::parse(sent.batch.render.get().as_bytes()).map_err(of_render)?;
        check_parts(&request.render, &body.value["batch"]["render"], &mut problems);
        check_patterns(&request, sent.batch.file_names.as_deref(), &mut problems);
        let callback = sent.batch.callback.map(TryInto::try_into).transpose();
        let callback = callback.map_err(of_batch)?;
        let rows = sent.batch.rows.unwrap_or_default().into_iter();
        let rows: Vec<_> = rows.map(|row| json::compact(row).get().to_owned()).collect();
        for (index, row) in rows.iter().enumerate() {
            if let Some(reason) = row_problem(row) {
                problems.add(Problem::invalid(format!("/batch/rows/{index}"), reason));
            }
        }
        if !problems.is_empty() {
            return Err(problems.sorted(&body.value));
        }
        Ok(Self {
            name: sent.batch.name.unwrap_or_default(),
            file_names: sent.batch.file_names,
            callback,
            request,
            rows,
        })
    }
}

/// The file that a request for the rows of a batch names.
pub struct RowsSource {
    /// `http` or `https`.
    pub url: Url,
    /// `None`: as the file's media type or name tells.
    pub format: Option<RowFormat>,
}

impl RowsSource {
    /// JSON pointers of its members.
    pub const URL: &str = "/url";
    pub const FORMAT: &str = "/format";
    /// Maximum length of the URL in bytes.
    pub const LONGEST_URL: usize = rules::LONGEST_URL;

    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(text: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: body, .. }) = json::parse(text, &Layout::PLAIN, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::BatchRowsSource.check(&body, &mut problems);
        let address = body["url"].as_str().unwrap_or_default();
        if !address.is_empty() && !problems.within(Self::URL) {
            rules::check_url(address, Self::URL.into(), &mut problems);
        }
        match Url::parse(address) {
            Ok(url) if problems.is_empty() => Ok(Self {
                url,
                format: body["format"].as_str().and_then(RowFormat::named),
            }),
            _ => Err(problems.sorted(&body)),
        }
    }
}

/// Returns validation errors of members of the batch, as errors of the body.
pub fn of_batch(problems: Vec<Problem>) -> Vec<Problem> {
    within(BATCH, problems)
}

/// Returns validation errors of the request of each row, as errors of the body.
pub fn of_render(problems: Vec<Problem>) -> Vec<Problem> {
    within(RENDER, problems)
}

fn within(parent: &str, problems: Vec<Problem>) -> Vec<Problem> {
    let problems = problems.into_iter().map(|problem| Problem {
        pointer: format!("{parent}{}", problem.pointer),
        ..problem
    });
    problems.collect()
}

/// Checks that rows complete at least one part, and that the placeholders of all are valid. `sent` is the request as JSON.
fn check_parts(request: &RenderRequest, sent: &Value, problems: &mut Problems) {
    let mut has_data = request.templates_of_rows().next().is_some();
    for (index, part) in request.parts.iter().enumerate() {
        match names_in(part) {
            Ok(names) => has_data |= !names.is_empty(),
            Err(reason) => {
                let content = if sent["parts"][index].is_string() {
                    ""
                } else {
                    "/content"
                };
                problems.add(Problem::invalid(format!("{RENDER}/parts/{index}{content}"), reason));
            }
        }
    }
    for name in ["header_template", "footer_template"] {
        if let Some(Err(reason)) = sent[name].as_str().map(part_pattern::names_in_html) {
            problems.add(Problem::invalid(format!("{RENDER}/{name}"), reason));
        }
    }
    if !has_data && problems.is_empty() {
        let detail = "Must have a part that the data of each row completes: a template without context, or HTML or a URL with a \
                      placeholder such as {{ number }}";
        problems.add(Problem::invalid(format!("{RENDER}/parts"), detail));
    }
}

/// Returns the names of the placeholders in a part; or what is wrong with one. A template has none.
fn names_in(part: &PartSource) -> Result<Vec<String>, String> {
    match part {
        PartSource::Given(Part::Html(html)) => part_pattern::names_in_html(html),
        PartSource::Given(Part::Url(url)) => part_pattern::names_in_url(url),
        PartSource::Template(_) => Ok(Vec::new()),
    }
}

fn check_patterns(request: &AsynchronousRequest, file_names: Option<&str>, problems: &mut Problems) {
    if let Some(destination) = &request.destination
        && let Err(reason) = check_pattern(&destination.path, "path")
    {
        problems.add(Problem::invalid(format!("{RENDER}/destination/path"), reason));
    }
    let Some(pattern) = file_names else { return };
    let checked = if request.destination.is_some() {
        Err("Must be left out with a destination, which has a path of its own".to_owned())
    } else {
        file_name::check(pattern).and_then(|()| check_pattern(pattern, "name"))
    };
    if let Err(reason) = checked {
        problems.add(Problem::invalid(FILE_NAMES, reason));
    }
}

/// Checks that a pattern has valid placeholders, so that each row has a path or name of its own.
fn check_pattern(pattern: &str, kind: &str) -> Result<(), String> {
    path_pattern::check(pattern)?;
    if pattern.contains("{{") {
        Ok(())
    } else {
        Err(format!(
            "Must have a placeholder such as {{{{ number }}}}, so that each row has a {kind} of its own"
        ))
    }
}

impl RenderRequest {
    /// Returns the templates whose context is the row.
    pub fn templates_of_rows(&self) -> impl Iterator<Item = &TemplatePart> {
        let templates = self.templates().map(|(_, part)| part);
        templates.filter(|part| part.context.get() == NO_CONTEXT)
    }

    /// Returns the names of the placeholders in its parts, header and footer. Malformed ones have been refused.
    pub fn placeholders(&self) -> impl Iterator<Item = String> {
        let of_html = |html: &str| part_pattern::names_in_html(html).unwrap_or_default();
        let parts = self.parts.iter().flat_map(|part| names_in(part).unwrap_or_default());
        let decoration = self.print.header_footer.iter();
        parts.chain(decoration.flat_map(move |drawn| [of_html(&drawn.header), of_html(&drawn.footer)].concat()))
    }

    /// Returns the request with a row, a JSON object, as the context of all templates without one.
    #[must_use]
    pub fn with_row(&self, row: &RawValue) -> Self {
        let mut request = self.clone();
        for part in &mut request.parts {
            if let PartSource::Template(part) = part
                && part.context.get() == NO_CONTEXT
            {
                row.clone_into(&mut part.context);
            }
        }
        request
    }

    /// Returns the size of its parts, header and footer in bytes.
    pub fn bytes_of_parts(&self) -> usize {
        let parts = self.parts.iter().map(|part| match part {
            PartSource::Given(Part::Html(html)) => html.len(),
            PartSource::Given(Part::Url(url)) => url.as_str().len(),
            PartSource::Template(part) => part.context.get().len(),
        });
        let decoration = self.print.header_footer.iter();
        let decoration = decoration.map(|drawn| drawn.header.len() + drawn.footer.len());
        parts.chain(decoration).sum()
    }

    /// Fills the placeholders of its parts, header and footer with the members of a row, a JSON object. The error says which can't be
    /// filled, and why.
    pub fn fill(&mut self, row: &Value) -> Result<(), String> {
        let mut room = LARGEST_PARTS;
        for part in &mut self.parts {
            match part {
                PartSource::Given(Part::Html(html)) => *html = part_pattern::fill_html(html, row, &mut room)?,
                PartSource::Given(Part::Url(url)) => {
                    *url = part_pattern::fill_url(url, row, &mut room)?;
                    if url.as_str().len() > rules::LONGEST_URL {
                        return Err(format!(
                            "A URL may have {} KiB with the data of the row",
                            rules::LONGEST_URL >> 10
                        ));
                    }
                }
                PartSource::Template(_) => {}
            }
        }
        if let Some(drawn) = &mut self.print.header_footer {
            for html in [&mut drawn.header, &mut drawn.footer] {
                *html = part_pattern::fill_html(html, row, &mut room)?;
            }
        }
        Ok(())
    }

    /// Notes the filled parts, header and footer in the options that are stored with the render of a row.
    pub fn note_filled(&self, options: &mut Value) {
        if let Some(drawn) = &self.print.header_footer {
            for (name, html) in [("header_template", &drawn.header), ("footer_template", &drawn.footer)] {
                if options[name].is_object() {
                    options[name]["bytes"] = json!(html.len());
                }
            }
        }
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PartSource::Given(Part::Html(html)) => options["parts"][index]["bytes"] = json!(html.len()),
                PartSource::Given(Part::Url(url)) => options["parts"][index]["url"] = shown_address(url).into(),
                PartSource::Template(_) => {}
            }
        }
    }
}
