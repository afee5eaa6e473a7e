//! Requests for batches.

use platen_domain::{
    batch::{LONGEST_NAME, path_pattern},
    validation::{
        Problem, Problems,
        json::{self, Layout},
        schema::RequestBody,
    },
};
use serde_json::{Value, value::RawValue};

use crate::render_request::{AsynchronousRequest, PartSource, RenderRequest};

/// The member that contains the request of each row.
const RENDER: &str = "/batch/render";
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
    /// The request that each row completes.
    pub request: AsynchronousRequest,
    /// JSON objects; empty if they are uploaded later.
    pub rows: Vec<String>,
}

impl BatchCreation {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(body) = json::parse(body, &LAYOUT, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::BatchCreation.check(&body.value, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body.value));
        }
        let batch = &body.value["batch"];
        let request = AsynchronousRequest::parse(batch["render"].to_string().as_bytes()).map_err(of_render)?;
        check(&request, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body.value));
        }
        let name = batch["name"].as_str().unwrap_or_default();
        let count = batch["rows"].as_array().map_or(0, Vec::len);
        let rows = (0..count).filter_map(|index| body.data.get(&format!("/batch/rows/{index}")));
        Ok(Self {
            name: name.chars().take(LONGEST_NAME).collect(),
            request,
            rows: rows.map(|row| json::compact(row).get().to_owned()).collect(),
        })
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

fn check(request: &AsynchronousRequest, problems: &mut Problems) {
    if !request
        .render
        .templates()
        .any(|(_, part)| part.context.get() == NO_CONTEXT)
    {
        let detail = "Must have a part that is a template without context; each row becomes its context";
        problems.add(Problem::invalid(format!("{RENDER}/parts"), detail));
    }
    if let Some(destination) = &request.destination {
        let pointer = format!("{RENDER}/destination/path");
        if let Err(reason) = path_pattern::check(&destination.path) {
            problems.add(Problem::invalid(pointer, reason));
        } else if !destination.path.contains("{{") {
            let detail = "Must have a placeholder such as {{ number }}, so that each row has a path of its own";
            problems.add(Problem::invalid(pointer, detail));
        }
    }
}

impl RenderRequest {
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
