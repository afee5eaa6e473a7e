//! Stored templates.

mod live;

use std::{num::NonZeroU16, time::Duration};

use async_trait::async_trait;
use platen_app::{
    backend::templates::{EditedTemplate, PreviewEvents, TemplateList, TemplatesBackend, Versions},
    error::AppError,
    model::{
        live_preview::PreviewRequest,
        rejection::{Field, Reason},
        template::{Beginning, TemplateFilter, TemplateForm},
    },
};
use platen_core::{
    service::{
        parsers::Busy,
        templates::{self, TemplateError, drafts, versions},
    },
    store::templates::TemplateFilter as StoredFilter,
};
use platen_domain::{
    editor::SavedTemplate,
    ids::TemplateId,
    page::PageRequest,
    role::Permission,
    template::{CONTENT, ExpectedVersion, MOST_PREVIEW_VALUES, NewTemplate, Submission, demos::Demo, labels},
    validation::{Problem, json},
};
use serde_json::{Map, Value};

use super::{RequestBackend, invalid, rejected, too_many};

/// Number of templates on a page of the list.
const PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Maximum number of versions listed. Older ones are available through the API.
const LISTED_VERSIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);

#[async_trait]
impl TemplatesBackend for RequestBackend {
    async fn templates(&self, filter: TemplateFilter) -> Result<TemplateList, AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let page = PageRequest::after(filter.cursor.as_deref().and_then(TemplateId::parse), PAGE);
        let filter = StoredFilter {
            search: Some(filter.search).filter(|search| !search.is_empty()),
            has_draft: filter.has_draft,
        };
        let found = templates::glances(&self.app.db, account, &filter, page).await;
        let found = found.map_err(|error| self.template_error(error))?;
        let mut hints = labels::hints(found.items.iter().map(|template| (template.id, template.name.as_str())));
        let glances = found.items.into_iter().map(|template| {
            let hint = hints.remove(&template.id);
            (template, hint)
        });
        Ok(TemplateList {
            templates: glances.collect(),
            next: found.next.map(|id| id.to_string()),
        })
    }

    async fn template(&self, id: String) -> Result<EditedTemplate, AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let edited = drafts::open(&self.app.db, account, parse(&id)?).await;
        let edited = edited.map_err(|error| self.template_error(error))?;
        Ok(EditedTemplate {
            id,
            published: edited.published,
            newest: edited.newest,
        })
    }

    async fn template_versions(&self, id: String, compared: Option<i32>) -> Result<Versions, AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let template = parse(&id)?;
        let (db, refused) = (&self.app.db, |error| self.template_error(error));
        let edited = drafts::open(db, account, template).await.map_err(refused)?;
        let page = PageRequest::after(None, LISTED_VERSIONS);
        let listed = versions::list(db, account, template, page).await.map_err(refused)?;
        let compared = match compared {
            Some(number) => Some(versions::get(db, account, template, number).await.map_err(refused)?),
            None => None,
        };
        Ok(Versions {
            id,
            published: edited.published,
            versions: listed.items,
            newest: edited.newest,
            compared,
        })
    }

    async fn create_template(&self, name: String, beginning: Beginning) -> Result<String, AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let demo = match beginning {
            Beginning::Invoice => Demo::Invoice,
            Beginning::Certificate => Demo::Certificate,
            Beginning::Report => Demo::Report,
            Beginning::Blank => Demo::Blank,
        };
        let begun = demo.named(name.trim().to_owned());
        let body = body(&begun.name, &begun.content, &begun.preview_context);
        let created = templates::create(&self.app, &caller, submission(&body)?).await;
        let created = created.map_err(|error| self.template_error(error))?;
        Ok(created.id.to_string())
    }

    async fn duplicate_template(&self, id: String) -> Result<String, AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let copied = templates::duplicate(&self.app.db, &caller, parse(&id)?).await;
        let copied = copied.map_err(|error| self.template_error(error))?;
        Ok(copied.to_string())
    }

    async fn delete_template(&self, id: String, typed_name: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let (db, id) = (&self.app.db, parse(&id)?);
        let refused = |error| self.template_error(error);
        let template = templates::get(db, caller.account, id).await.map_err(refused)?;
        if template.name != typed_name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        let deleted = templates::delete(db, &caller, id, &ExpectedVersion::Any).await;
        deleted.map_err(refused)
    }

    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let id = parse(&form.id)?;
        let refused = |error| self.template_error(error);
        let seen = form
            .seen
            .map_or(ExpectedVersion::Any, |seen| ExpectedVersion::OneOf(vec![seen]));
        let publish = form.publish;
        let deadline = self.app.parsing_deadline();
        let bytes = form.content.len() + form.data.len();
        let parsing = self
            .app
            .parsers
            .run(caller.account, deadline, bytes, move || draft(&form));
        let draft = parsing.await.map_err(|Busy| too_many(Duration::ZERO))??;
        let saved = drafts::save(&self.app, &caller, id, &seen, draft).await;
        let mut saved = saved.map_err(refused)?;
        if publish && saved.version > saved.published {
            let published = drafts::publish(&self.app.db, &caller, id, saved.version).await;
            published.map_err(refused)?;
            saved.published = saved.version;
        }
        Ok(saved)
    }

    async fn restore_template(&self, id: String, number: i32) -> Result<(), AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let restored = drafts::restore(&self.app.db, &caller, parse(&id)?, number).await;
        restored.map(drop).map_err(|error| self.template_error(error))
    }

    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError> {
        let caller = self.caller_who_may(Permission::Produce).await?;
        let id = parse(&wanted.id)?;
        self.live_preview(&caller, id, wanted).await
    }
}

impl RequestBackend {
    /// Converts an error of the service to one for the visitor.
    fn template_error(&self, error: TemplateError) -> AppError {
        match error {
            TemplateError::NotFound => AppError::NotFound,
            TemplateError::Changed => rejected(Reason::SavedMeanwhile),
            TemplateError::Invalid(problems) => faulty(&problems),
            error @ (TemplateError::Process(_)
            | TemplateError::Render(_)
            | TemplateError::Memory(_)
            | TemplateError::Picture(_)
            | TemplateError::Store(_)) => self.internal(&error),
        }
    }
}

/// Parses a template id. Invalid ids are not found.
fn parse(id: &str) -> Result<TemplateId, AppError> {
    TemplateId::parse(id).ok_or(AppError::NotFound)
}

/// Parses the form that saves a template.
fn draft(form: &TemplateForm) -> Result<Submission<NewTemplate>, AppError> {
    let data = json::read_data(&form.data, MOST_PREVIEW_VALUES).ok();
    let Some(Ok(Value::Object(data))) = data.map(|data| serde_json::from_str(data.get())) else {
        return Err(invalid(vec![Field::TemplateData]));
    };
    // Browsers submit line breaks in forms as CRLF.
    let content = form.content.replace("\r\n", "\n");
    submission(&body(form.name.trim(), &content, &data))
}

/// Builds the body of the equivalent API request, so that the same rules apply.
fn body(name: &str, content: &str, data: &Map<String, Value>) -> Value {
    serde_json::json!({"template": {"name": name, "content": content, "preview_context": data}})
}

fn submission<T: platen_domain::template::Saved>(body: &Value) -> Result<Submission<T>, AppError> {
    Submission::read(body.to_string().as_bytes()).map_err(|problems| faulty(&problems))
}

fn faulty(problems: &[Problem]) -> AppError {
    let fields = [
        ("/template/name", Field::TemplateName),
        (CONTENT, Field::TemplateContent),
        ("/template/preview_context", Field::TemplateData),
    ];
    let named = fields.into_iter().filter(|(pointer, _)| {
        let mut pointers = problems.iter().map(|problem| problem.pointer.as_str());
        pointers.any(|found| found.starts_with(pointer))
    });
    invalid(named.map(|(_, field)| field).collect())
}
