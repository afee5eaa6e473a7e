//! Requests for batches.

use platen_domain::{
    batch::{RowFormat, file_name, path_pattern, row_reader::row_problem},
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use url::Url;

use crate::render_request::{AsynchronousRequest, PartSource, RenderRequest, TemplatePart, rules};

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

/// A valid request for a batch.
#[derive(Debug, Clone)]
pub struct BatchCreation {
    pub name: String,
    /// Pattern of the names of documents in their archive.
    pub file_names: Option<String>,
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
        let request = AsynchronousRequest::parse(sent.batch.render.get().as_bytes()).map_err(of_render)?;
        check(&request, sent.batch.file_names.as_deref(), &mut problems);
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

/// Returns validation errors of the request of each row, as errors of the batch.
pub fn of_render(problems: Vec<Problem>) -> Vec<Problem> {
    let problems = problems.into_iter().map(|problem| Problem {
        pointer: format!("{RENDER}{}", problem.pointer),
        ..problem
    });
    problems.collect()
}

fn check(request: &AsynchronousRequest, file_names: Option<&str>, problems: &mut Problems) {
    if request.render.templates_of_rows().next().is_none() {
        let detail = "Must have a part that is a template without context; each row becomes its context";
        problems.add(Problem::invalid(format!("{RENDER}/parts"), detail));
    }
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
}
