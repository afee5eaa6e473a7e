//! Sample data generated from a template.

use std::collections::BTreeMap;

use platen_domain::{
    caller::Caller,
    ids::AccountId,
    sentence::sentence,
    template::{
        LONGEST_CONTENT,
        sample_generation::complete,
        sample_sets::{indented, parse_data},
    },
};
use platen_template::{
    pool,
    sources::{Catalogue, Sources},
};
use serde_json::{Map, Value};

use crate::service::{
    Services,
    templates::{
        TemplateError, faulty_template,
        live::{self, LiveError},
        partials,
    },
};

/// Language of an empty catalogue.
const DEFAULT_LANGUAGE: &str = "en";

/// Adds values to the sample data of an editor for everything that the template uses and the data lacks. The inner error
/// is a sentence for the author. Counts as a live preview.
pub async fn generate(
    app: &Services,
    caller: &Caller,
    content: String,
    data: String,
) -> Result<Result<String, String>, LiveError> {
    let account = caller.account;
    live::count(app, account).await?;
    if content.len() > LONGEST_CONTENT {
        return Ok(Err("The template is larger than 2 MiB. Shorten it first.".to_owned()));
    }
    let schema = match partials::resolve(app, caller, None, &content).await? {
        Ok(partials) => schema(app, account, partials.with(&content)).await,
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

/// Infers the schema of the data. The data of a template that prints translations contains neither their function nor their
/// language, which would take precedence.
async fn schema(app: &Services, account: AccountId, mut sources: Sources<'_>) -> Result<Value, pool::Error> {
    let keys = app.templates.translation_keys(account.0, sources.clone()).await?;
    if !keys.is_empty() {
        let language = DEFAULT_LANGUAGE.into();
        let texts = BTreeMap::new();
        sources = sources.with_catalogues([Catalogue { language, texts }]);
    }
    app.templates.schema(account.0, sources).await
}
