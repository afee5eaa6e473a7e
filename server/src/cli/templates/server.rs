//! The API of a service, for its templates and assets.

pub(super) mod assets;
mod refusal;

use std::{collections::BTreeMap, path::Path};

use platen_domain::{
    ids::TemplateId,
    page_comparison::{ComparedPage, PageChange, PageComparison, Picture},
    template::{
        identity::{Handle, TemplateKind},
        sample_sets::SetName,
    },
};
use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{self, HeaderValue},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use self::refusal::Refusal;
use super::folder::{MOST_TEMPLATES, Settings, TemplateFiles};
use crate::cli::client::{Client, ClientError, Data};

/// The list of templates.
const TEMPLATES: &str = "/api/v1/templates";
/// Templates that are requested together.
const PAGE_SIZE: usize = 10;
/// A service, and a key of one of its accounts.
pub(super) struct Server(pub(super) Client);

/// Templates of the account.
#[derive(Default)]
pub(super) struct StoredTemplates {
    pub(super) by_handle: BTreeMap<Handle, StoredTemplate>,
    /// Names and ids of templates without a handle, for messages.
    pub(super) without_handle: Vec<String>,
}

/// A template of the account.
pub(super) struct StoredTemplate {
    pub(super) id: TemplateId,
    /// Partials that were published since the template was.
    pub(super) outdated_partials: Vec<Handle>,
    pub(super) files: TemplateFiles,
}

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerError {
    /// The service was not reached, or its response is not one of Platen.
    #[error(transparent)]
    Unusable(ClientError),
    /// The service refused the request.
    #[error("{0}")]
    Refused(Refusal),
    /// The template has changed since it was listed.
    #[error("the template has changed meanwhile: run the command again")]
    Changed,
}

impl From<ClientError> for ServerError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused {
                status: StatusCode::PRECONDITION_FAILED,
                ..
            } => Self::Changed,
            ClientError::Refused { status, body } => Self::Refused(Refusal::new(status, &body)),
            unusable @ ClientError::Unusable { .. } => Self::Unusable(unusable),
        }
    }
}

impl ServerError {
    /// If a template was refused, returns why, with its files' names. Other errors prevent all further requests.
    pub(super) fn of_template(self, handle: &Handle) -> Result<String, Self> {
        match self {
            Self::Changed => Ok(format!("{handle}: {self}")),
            Self::Refused(refusal) if refusal.is_of_template() => Ok(refusal.in_folder(handle)),
            other => Err(other),
        }
    }

    /// If an asset was refused, returns why, with its file's name. Other errors prevent all further requests.
    pub(super) fn of_asset(self, path: &Path) -> Result<String, Self> {
        match self {
            Self::Refused(refusal) if refusal.is_of_template() => Ok(format!("{}: {refusal}", path.display())),
            other => Err(other),
        }
    }
}

#[derive(Deserialize)]
struct Listed {
    id: TemplateId,
    name: String,
    handle: Option<Handle>,
    #[serde(default)]
    kind: TemplateKind,
    #[serde(default)]
    outdated_partials: Vec<Handle>,
    content: String,
    preview_context: Map<String, Value>,
    /// Absent from templates without translations.
    translations: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Strictness {
    strict: bool,
}

/// A preview of a template.
#[derive(Deserialize)]
pub(super) struct Preview {
    pub(super) page_count: usize,
    pub(super) warnings: Vec<PreviewWarning>,
    /// The first pages.
    pub(super) pages: Vec<Picture>,
}

#[derive(Deserialize)]
pub(super) struct PreviewWarning {
    pub(super) message: String,
}

impl Server {
    /// Returns the account's templates with these handles, or all if there are none, with the content of their published
    /// versions. The account may have at most [`MOST_TEMPLATES`].
    pub(super) async fn templates(&self, wanted: &[Handle]) -> Result<StoredTemplates, ServerError> {
        let mut path = format!("{TEMPLATES}?page_size={PAGE_SIZE}");
        let mut count = 0;
        let mut templates = StoredTemplates::default();
        loop {
            let response = self.send(Method::GET, &path, None).await?;
            let next = next_page(&response, TEMPLATES);
            let page: Data<Vec<Listed>> = self.read(response).await?;
            count += page.data.len();
            if count > MOST_TEMPLATES {
                return Err(self.unusable(&format!("the list has more than {MOST_TEMPLATES} templates")));
            }
            for listed in page.data {
                match listed.handle.clone() {
                    Some(handle) if wanted.is_empty() || wanted.contains(&handle) => {
                        templates.by_handle.insert(handle, self.with_settings(listed).await?);
                    }
                    Some(_) => {}
                    None => templates
                        .without_handle
                        .push(format!("“{}” ({})", listed.name, listed.id)),
                }
            }
            match next {
                Some(next) => path = next,
                None => return Ok(templates),
            }
        }
    }

    async fn with_settings(&self, listed: Listed) -> Result<StoredTemplate, ServerError> {
        let response = self.send(Method::GET, &settings_path(listed.id), None).await?;
        let settings: Data<Strictness> = self.read(response).await?;
        let sets = self.sets(listed.id).await?;
        Ok(StoredTemplate {
            id: listed.id,
            outdated_partials: listed.outdated_partials,
            files: TemplateFiles {
                content: listed.content,
                settings: Settings {
                    name: listed.name,
                    kind: listed.kind,
                    strict: settings.data.strict,
                },
                sample: Some(listed.preview_context),
                translations: listed.translations,
                sets: sets.into_iter().collect(),
            },
        })
    }

    /// Creates a template, and publishes its first version. Returns its id.
    pub(super) async fn create(&self, handle: &Handle, files: &TemplateFiles) -> Result<TemplateId, ServerError> {
        #[derive(Deserialize)]
        struct Created {
            id: TemplateId,
        }
        let body = json!({ "template": {
            "handle": handle,
            "kind": files.settings.kind,
            "name": files.settings.name,
            "content": files.content,
            "preview_context": files.sample.clone().unwrap_or_default(),
            "translations": files.translations.clone().unwrap_or_default(),
        } });
        let response = self.send(Method::POST, TEMPLATES, Some(&body)).await?;
        let created: Data<Created> = self.read(response).await?;
        if files.settings.strict {
            self.set_strict(created.data.id, true).await?;
        }
        let sets: Vec<_> = files.sets.clone().into_iter().collect();
        if !sets.is_empty() {
            self.replace_sets(created.data.id, &sets).await?;
        }
        Ok(created.data.id)
    }

    /// Changes what differs. If anything but `strict` and named sets of sample data does, or if it is to be published again,
    /// publishes the template as a new version with the partials that are published now. Returns whether it has.
    pub(super) async fn update(
        &self,
        stored: &StoredTemplate,
        files: &TemplateFiles,
        publish_again: bool,
    ) -> Result<bool, ServerError> {
        let (old, new) = (&stored.files, files);
        let mut changes = Map::new();
        if old.content != new.content {
            changes.insert("content".to_owned(), json!(new.content));
        }
        if let Some(sample) = new.changed_sample(old) {
            changes.insert("preview_context".to_owned(), json!(sample));
        }
        if let Some(translations) = new.changed_translations(old) {
            changes.insert("translations".to_owned(), json!(translations));
        }
        if old.settings.name != new.settings.name {
            changes.insert("name".to_owned(), json!(new.settings.name));
        }
        if old.settings.kind != new.settings.kind {
            changes.insert("kind".to_owned(), json!(new.settings.kind));
        }
        let publishes = publish_again || !changes.is_empty();
        let tag = if publishes {
            Some(self.tag_if_unchanged(stored).await?)
        } else {
            None
        };
        let changed_sets: Vec<_> = new.changed_sets(old).collect();
        if !changed_sets.is_empty() {
            // Before the version is published, so that no draft remains that is newer.
            let mut sets = self.sets(stored.id).await?;
            for (name, data) in changed_sets {
                match sets.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => known.clone_from(data),
                    None => sets.push((name.clone(), data.clone())),
                }
            }
            self.replace_sets(stored.id, &sets).await?;
        }
        if tag.is_some() {
            let body = json!({ "template": changes });
            self.send_if(Method::PATCH, &path(stored.id), Some(&body), tag).await?;
        }
        if old.settings.strict != new.settings.strict {
            self.set_strict(stored.id, new.settings.strict).await?;
        }
        Ok(publishes)
    }

    /// Renders the published version of a document, and the files, both with the same sample data, and compares the pages.
    /// `partials` replace published partials; without `sample`, that of the template is used.
    pub(super) async fn compare(
        &self,
        template: TemplateId,
        files: &TemplateFiles,
        sample: Option<&Map<String, Value>>,
        partials: &BTreeMap<Handle, String>,
    ) -> Result<PageComparison, ServerError> {
        #[derive(Deserialize)]
        struct Compared {
            older_pages: usize,
            newer_pages: usize,
            pages: Vec<Page>,
        }
        #[derive(Deserialize)]
        struct Page {
            number: usize,
            change: String,
            changed_pixels: Option<usize>,
        }
        let tried = self.try_out(template, "compare", files, sample, partials);
        let compared: Compared = tried.await?;
        let pages = compared.pages.into_iter().map(|page| ComparedPage {
            number: page.number,
            change: match (&*page.change, page.changed_pixels) {
                ("added", _) => PageChange::Added,
                ("removed", _) => PageChange::Removed,
                (_, Some(pixels)) => PageChange::Changed { pixels },
                (_, None) => PageChange::Unchanged,
            },
            pictures: None,
        });
        Ok(PageComparison {
            older_pages: compared.older_pages,
            newer_pages: compared.newer_pages,
            pages: pages.collect(),
        })
    }

    /// Renders the files instead of a template's published version, with its settings. `partials` replace published partials.
    pub(super) async fn preview(
        &self,
        template: TemplateId,
        files: &TemplateFiles,
        partials: &BTreeMap<Handle, String>,
    ) -> Result<Preview, ServerError> {
        self.try_out(template, "preview", files, files.sample.as_ref(), partials)
            .await
    }

    /// Requests an operation on a template with files that aren't saved.
    async fn try_out<T: DeserializeOwned>(
        &self,
        template: TemplateId,
        operation: &str,
        files: &TemplateFiles,
        sample: Option<&Map<String, Value>>,
        partials: &BTreeMap<Handle, String>,
    ) -> Result<T, ServerError> {
        let mut body = json!({ "content": files.content, "partials": partials });
        if let Some(sample) = sample {
            body["context"] = json!(sample);
        }
        if let Some(translations) = &files.translations {
            body["translations"] = json!(translations);
        }
        let address = format!("{}/{operation}", path(template));
        let response = self.send(Method::POST, &address, Some(&body)).await?;
        let answer: Data<T> = self.read(response).await?;
        Ok(answer.data)
    }

    /// Returns the entity tag of a template, unless it has changed since it was listed.
    async fn tag_if_unchanged(&self, stored: &StoredTemplate) -> Result<HeaderValue, ServerError> {
        let response = self.send(Method::GET, &path(stored.id), None).await?;
        let tag = response.headers().get(header::ETAG).cloned();
        let tag = tag.ok_or_else(|| self.unusable(&"the template has no entity tag"))?;
        let now: Data<Listed> = self.read(response).await?;
        let files = &stored.files;
        let is_same = now.data.content == files.content
            && Some(&now.data.preview_context) == files.sample.as_ref()
            && now.data.translations == files.translations
            && (&now.data.name, now.data.kind) == (&files.settings.name, files.settings.kind);
        is_same.then_some(tag).ok_or(ServerError::Changed)
    }

    /// Returns the named sets of sample data of a template.
    async fn sets(&self, id: TemplateId) -> Result<Vec<(SetName, Map<String, Value>)>, ServerError> {
        #[derive(Deserialize)]
        struct Set {
            name: String,
            context: Map<String, Value>,
        }
        let response = self.send(Method::GET, &samples_path(id), None).await?;
        let sets: Data<Vec<Set>> = self.read(response).await?;
        let sets = sets.data.into_iter().map(|set| {
            let name = SetName::parse(&set.name);
            let name = name.ok_or_else(|| self.unusable(&"a set of sample data has an invalid name"))?;
            Ok((name, set.context))
        });
        sets.collect()
    }

    /// Replaces the named sets of sample data of a template.
    async fn replace_sets(&self, id: TemplateId, sets: &[(SetName, Map<String, Value>)]) -> Result<(), ServerError> {
        let samples = sets.iter().map(|(name, data)| json!({"name": name, "context": data}));
        let body = json!({ "samples": samples.collect::<Vec<_>>() });
        let replaced = self.send(Method::PUT, &samples_path(id), Some(&body)).await;
        replaced.map_err(|error| match error {
            ServerError::Refused(refusal) => {
                let names: Vec<_> = sets.iter().map(|(name, _)| name).collect();
                ServerError::Refused(refusal.of_sets(&names))
            }
            error => error,
        })?;
        Ok(())
    }

    async fn set_strict(&self, id: TemplateId, strict: bool) -> Result<(), ServerError> {
        let body = json!({ "settings": { "strict": strict } });
        self.send(Method::PATCH, &settings_path(id), Some(&body)).await?;
        Ok(())
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response, ServerError> {
        self.send_if(method, path, body, None).await
    }

    /// Sends a request. With an entity tag, it is for this version of the template only.
    async fn send_if(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        tag: Option<HeaderValue>,
    ) -> Result<Response, ServerError> {
        let prepare = |request: RequestBuilder| {
            let request = body.into_iter().fold(request, RequestBuilder::json);
            tag.iter()
                .fold(request, |request, tag| request.header(header::IF_MATCH, tag))
        };
        Ok(self.0.send(method, path, prepare).await?)
    }

    async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, ServerError> {
        Ok(self.0.read(response).await?)
    }

    fn unusable(&self, cause: &impl ToString) -> ServerError {
        self.0.unusable(cause).into()
    }
}

fn path(id: TemplateId) -> String {
    format!("{TEMPLATES}/{id}")
}

fn settings_path(id: TemplateId) -> String {
    path(id) + "/settings"
}

fn samples_path(id: TemplateId) -> String {
    format!("{}/samples", path(id))
}

/// Returns the path of the next page of a list: `Link: </api/v1/templates?…>; rel="next"` (RFC 8288, 3). Addresses of other
/// paths than `list` are ignored: the key must not be sent to them.
fn next_page(response: &Response, list: &str) -> Option<String> {
    let link = response.headers().get(header::LINK)?.to_str().ok()?;
    let (path, _) = link.strip_prefix('<')?.split_once(">; rel=\"next\"")?;
    let is_same_list = path.strip_prefix(list)?.starts_with('?');
    is_same_list.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use axum::{Json, routing::get};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn the_next_page_is_one_of_the_same_list() {
        let page = |link: &str| {
            let response = axum::http::Response::builder().header(header::LINK, link);
            next_page(&Response::from(response.body("").expect("a response")), TEMPLATES)
        };
        assert_eq!(
            page("</api/v1/templates?page=2>; rel=\"next\"").as_deref(),
            Some("/api/v1/templates?page=2")
        );
        for other in [
            "<https://example.org/api/v1/templates?page=2>; rel=\"next\"",
            "<//example.org/api/v1/templates?>; rel=\"next\"",
            "</api/v1/renders?page=2>; rel=\"next\"",
            "</api/v1/templates?page=2>; rel=\"prev\"",
        ] {
            assert_eq!(page(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn a_template_that_has_changed_meanwhile_is_not_replaced() {
        let id = TemplateId::generate();
        let template = |content: &str| json!({ "id": id, "name": "Invoice", "handle": "invoice", "content": content, "preview_context": {} });
        let (listed, now) = (json!({ "data": [template("a")] }), json!({ "data": template("b") }));
        let router = axum::Router::new()
            .route("/api/v1/templates", get(async || Json(listed)))
            .route(&path(id), get(async || ([(header::ETAG, "\"2\"")], Json(now))))
            .route(
                &settings_path(id),
                get(async || Json(json!({ "data": { "strict": false } }))),
            )
            .route(&samples_path(id), get(async || Json(json!({ "data": [] }))));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://user:secret@{}", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, router).into_future());
        let client = Client::new(address.parse().expect("an address"), "key".into());
        let server = Server(client.expect("a client"));
        let templates = server.templates(&[]).await.expect("a template");
        let (_, stored) = templates.by_handle.into_iter().next().expect("a template");
        let files = TemplateFiles {
            content: "c".to_owned(),
            ..stored.files.clone()
        };
        let refused = server.update(&stored, &files, false).await.expect_err("a change");
        assert!(matches!(refused, ServerError::Changed), "{refused}");
        assert!(!server.unusable(&"").to_string().contains("secret"));
    }
}
