//! Sample data generated from a template.

use std::time::Instant;

use platen_domain::{
    caller::Caller,
    sentence::sentence,
    template::{
        LONGEST_CONTENT,
        sample_generation::complete,
        sample_sets::{indented, parse_data},
    },
};
use platen_template::pool;
use serde_json::Map;

use crate::service::{
    Services,
    templates::{
        TemplateError, faulty_template,
        live::{LiveError, QUOTA},
        partials,
    },
};

/// Adds values to the sample data of an editor for everything that the template uses and the data lacks. The inner error
/// is a sentence for the author. Counts as a live preview.
pub async fn generate(
    app: &Services,
    caller: &Caller,
    content: String,
    data: String,
) -> Result<Result<String, String>, LiveError> {
    let account = caller.account;
    if let Some(retry_after) = app.live_previews.take(account, QUOTA, Instant::now()).refused_for {
        return Err(LiveError::TooMany { retry_after });
    }
    if content.len() > LONGEST_CONTENT {
        return Ok(Err("The template is larger than 2 MiB. Shorten it first.".to_owned()));
    }
    let schema = match partials::resolve(app, caller, None, &content).await? {
        Ok(partials) => app.templates.schema(account.0, partials.with(&content)).await,
        Err(problem) => Err(problem.into()),
    };
    let schema = match schema {
        Ok(schema) => schema,
        Err(pool::Error::Template(problem)) => return Ok(Err(sentence(&faulty_template("", &problem).detail))),
        Err(error) => return Err(TemplateError::from(error).into()),
    };
    let bytes = content.len() + data.len();
    let generating = app.parsers.run(account, app.parsing_deadline(), bytes, move || {
        let data = if data.trim().is_empty() {
            Some(Map::new())
        } else {
            parse_data(&data)
        };
        data.map(|data| indented(&complete(&content, &schema, data)))
    });
    let generated = generating.await.map_err(TemplateError::from)?;
    Ok(generated.ok_or_else(|| "Sample data must be a JSON object of at most 256 KiB. Correct it first.".to_owned()))
}
