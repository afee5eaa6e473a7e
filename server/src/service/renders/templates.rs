//! Template parts: their templates are looked up before a render is accepted, and filled afterwards.

use std::collections::HashMap;

use platen_engine::job::{Part, Warning};
use platen_template::{language::Undefined, pool};
use serde::Serialize;
use serde_json::Value;

use crate::{
    domain::{
        ids::{AccountId, TemplateId},
        render::{PartSource, RenderRequest, TemplatePart, no_such_template, noted_version},
        template::{faulty_template, settings::TemplateSettings},
        validation::Fault,
    },
    service::renders::FailureReason,
    state::AppState,
    store::{
        error::StoreError,
        templates::{self, PublishedTemplate},
    },
};

/// The templates that a request names, as they were published when it was accepted.
pub(super) struct Templates(HashMap<TemplateId, PublishedTemplate>);

/// What the engine takes, and what the author of a template should know.
pub(super) struct Filled {
    pub(super) parts: Vec<Part>,
    pub(super) warnings: Vec<Warning>,
}

impl Templates {
    /// Looks up every template and notes its version in the request. Inside, what the
    /// account does not have.
    pub(super) async fn find(
        app: &AppState,
        account: AccountId,
        request: &mut RenderRequest,
    ) -> Result<Result<Self, Vec<Fault>>, StoreError> {
        let named: Vec<_> = request.templates().collect();
        if named.is_empty() {
            return Ok(Ok(Self(HashMap::new())));
        }
        let ids: Vec<_> = named.iter().map(|(_, id)| *id).collect();
        let found = templates::list_published(&app.db, account, &ids).await?;
        let found: HashMap<_, _> = found.into_iter().map(|template| (template.id, template)).collect();
        let mut faults = Vec::new();
        for (part, id) in named {
            match found.get(&id) {
                Some(template) => request.note_version(part, template.version),
                None => faults.push(no_such_template(part, &id.to_string())),
            }
        }
        Ok(if faults.is_empty() {
            Ok(Self(found))
        } else {
            Err(faults)
        })
    }

    /// Looks up every template in the version that was noted in the `options` of the request when it was accepted.
    pub(super) async fn find_noted(
        app: &AppState,
        account: AccountId,
        request: &RenderRequest,
        options: &Value,
    ) -> Result<Self, StoreError> {
        let noted = |(part, id)| (id, noted_version(options, part).unwrap_or_default());
        let (ids, versions): (Vec<_>, Vec<_>) = request.templates().map(noted).unzip();
        if ids.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let found = templates::list_versions(&app.db, account, &ids, &versions).await?;
        Ok(Self(
            found.into_iter().map(|template| (template.id, template)).collect(),
        ))
    }

    /// Fills the templates among the parts, one after the other: an account has one process at a time for it. Fails with
    /// the first one that can't be filled.
    pub(super) async fn fill(
        &self,
        app: &AppState,
        account: AccountId,
        sources: Vec<PartSource>,
    ) -> Result<Filled, FailureReason> {
        let mut filled = Filled {
            parts: Vec::with_capacity(sources.len()),
            warnings: Vec::new(),
        };
        for (index, source) in sources.into_iter().enumerate() {
            let part = match source {
                PartSource::Given(part) => part,
                PartSource::Template(part) => {
                    let FilledTemplate { part, warnings } = self.fill_one(app, account, index, &part).await?;
                    filled.warnings.extend(warnings);
                    part
                }
            };
            filled.parts.push(part);
        }
        Ok(filled)
    }

    async fn fill_one(
        &self,
        app: &AppState,
        account: AccountId,
        index: usize,
        part: &TemplatePart,
    ) -> Result<FilledTemplate, FailureReason> {
        let pointer = format!("/parts/{index}");
        let template = self.0.get(&part.template);
        let template = template
            .ok_or_else(|| FailureReason::Templates(vec![no_such_template(index, &part.template.to_string())]))?;
        let filled = fill(
            app,
            account,
            &template.content,
            &part.context,
            template.settings,
            &pointer,
        )
        .await;
        filled.map_err(|error| match error {
            pool::Error::Template(fault) => FailureReason::Templates(vec![faulty_template(&pointer, &fault)]),
            error @ pool::Error::Process(_) => FailureReason::TemplateProcess(error),
        })
    }
}

/// A template with its places filled.
pub(in crate::service) struct FilledTemplate {
    pub(in crate::service) part: Part,
    pub(in crate::service) warnings: Vec<Warning>,
}

/// Fills a template, which the member of the request at `pointer` holds or names.
pub(in crate::service) async fn fill(
    app: &AppState,
    account: AccountId,
    template: &str,
    context: &(impl Serialize + ?Sized),
    settings: TemplateSettings,
    pointer: &str,
) -> Result<FilledTemplate, pool::Error> {
    let undefined = if settings.strict {
        Undefined::Refuse
    } else {
        Undefined::Warn
    };
    let filled = app.templates.render(account.0, template, context, undefined).await?;
    let warnings = filled.warnings.iter();
    Ok(FilledTemplate {
        warnings: warnings.map(|warning| undefined_name(pointer, warning)).collect(),
        part: Part::Html(filled.text),
    })
}

/// A warning about a name that counted as empty.
fn undefined_name(pointer: &str, warning: &platen_template::fault::Warning) -> Warning {
    let (name, place) = (&warning.name, &warning.place);
    Warning {
        code: "template_undefined",
        message: format!(
            "{pointer}: line {}, column {}: {name} is undefined and counts as empty",
            place.line, place.column
        ),
    }
}
