//! Templates.

use std::{num::NonZeroU16, time::Duration};

use async_trait::async_trait;
use platen_app::{
    backend::{PreviewEvents, templates::TemplateBackend},
    error::AppError,
    model::{
        live_preview::PreviewRequest,
        rejection::Field,
        template::{GeneratedData, NewTemplateForm, PublicationForm, TemplateForm},
        template_releases::Releases,
        template_settings::TemplateSettings,
        template_versions::{PageComparisons, Versions},
    },
};
use platen_core::service::{
    parsers::Busy,
    templates::{
        self, TemplateError, channels,
        comparison::{self, Compared},
        drafts, generation, partials, promotions, versions,
    },
};
use platen_domain::{
    caller::Access,
    editor::{SampleSet, SavedTemplate, UnpublishedChanges},
    ids::{PromotionId, TemplateId},
    page::{Page, PageRequest},
    page_comparison::Comparison,
    role::Permission::Produce,
    template::{
        EditedTemplate, ExpectedVersion, TemplateFilter, TemplateGlance, channels::Channels, identity::TemplateKind,
        labels, promotions::PromotionState,
    },
};

use crate::web::backend::{
    RequestBackend, comparisons,
    port::template_id,
    template_forms,
    visitor_errors::{invalid, too_many},
};

/// Number of templates on a page of their list.
const TEMPLATE_PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Maximum number of promotions listed. Older ones are available through the API.
const LISTED_PROMOTIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(49);
/// Maximum number of versions listed. Older ones are available through the API.
const LISTED_VERSIONS: NonZeroU16 = NonZeroU16::MIN.saturating_add(99);

#[async_trait]
impl TemplateBackend for RequestBackend {
    async fn templates(
        &self,
        filter: TemplateFilter,
        after: Option<TemplateId>,
    ) -> Result<Page<(TemplateGlance, Option<String>), TemplateId>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let page = PageRequest::after(after, TEMPLATE_PAGE);
        let found = self.answer(templates::glances(&self.app.db, account, &filter, page).await)?;
        let mut hints = labels::hints(found.items.iter().map(|template| (template.id, template.name.as_str())));
        let glances = found.items.into_iter().map(|template| {
            let hint = hints.remove(&template.id);
            (template, hint)
        });
        Ok(Page {
            items: glances.collect(),
            next: found.next,
        })
    }

    async fn template(&self, id: TemplateId) -> Result<EditedTemplate, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(drafts::open(&self.app.db, account, id).await)
    }

    async fn channels(&self) -> Result<Channels, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(channels::find(&self.app.db, account).await)
    }

    async fn sample_sets(&self, id: TemplateId) -> Result<Vec<SampleSet>, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        self.answer(drafts::sample_sets(&self.app.db, account, id).await)
    }

    async fn generate_sample(&self, content: String, data: String) -> Result<GeneratedData, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let generated = self.answer(generation::generate(&self.app, &caller, content, data).await)?;
        Ok(generated.map_or_else(GeneratedData::Problem, GeneratedData::Data))
    }

    async fn unpublished_changes(
        &self,
        id: String,
        content: String,
        translations: String,
    ) -> Result<UnpublishedChanges, AppError> {
        let account = self.caller_who_may(Produce).await?.account;
        let published = self.answer(templates::get(&self.app.db, account, template_id(&id)?).await)?;
        comparisons::of_editor(&self.app, account, published, content, translations).await
    }

    async fn template_versions(
        &self,
        id: TemplateId,
        from: Option<i32>,
        to: Option<i32>,
    ) -> Result<Versions, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let page = PageRequest::after(None, LISTED_VERSIONS);
        let edited = self.answer(drafts::open(db, account, id).await)?;
        let compared = match from {
            Some(from) => {
                let to = to.unwrap_or(edited.newest.summary.number);
                let older = self.answer(versions::get(db, account, id, from.min(to)).await)?;
                let newer = self.answer(versions::get(db, account, id, from.max(to)).await)?;
                Some(comparisons::of_versions(&self.app, account, older, newer).await?)
            }
            None => None,
        };
        Ok(Versions {
            edited,
            listed: self.answer(versions::list(db, account, id, page).await)?.items,
            compared,
            sets: self.set_names(account, id).await?,
            releases: self.answer(channels::releases(db, account, id).await)?,
            channels: self.answer(channels::find(db, account).await)?,
        })
    }

    async fn page_comparisons(
        &self,
        id: TemplateId,
        older: Option<i32>,
        newer: Option<i32>,
        set: Option<String>,
    ) -> Result<PageComparisons, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let edited = self.answer(drafts::open(&self.app.db, caller.account, id).await)?;
        let newest = edited.newest.summary.number;
        let (older, newer) = (older.unwrap_or(edited.published), newer.unwrap_or(newest));
        for number in [older, newer] {
            self.answer(versions::get(&self.app.db, caller.account, id, number).await)?;
        }
        let sets = self.set_names(caller.account, id).await?;
        let compared = match set {
            Some(set) => {
                // A request for a page, though it takes a slot like a preview.
                match caller.access {
                    Access::Full => {}
                    Access::Suspended => return Err(AppError::Suspended),
                    Access::Looking => return Err(AppError::OnlyLooking),
                }
                let versions = Compared { older, newer };
                let compared = comparison::compare(&self.app, &caller, id, versions, &set).await;
                // Errors that pass, such as deadlines, name no version.
                let is_seen = |comparison: &Comparison| !matches!(comparison, Comparison::Failed { version: None, .. });
                if compared.as_ref().is_ok_and(is_seen) {
                    let noted = promotions::note_comparison(&self.app.db, &caller, id, versions, newest, &set).await;
                    self.answer(noted)?;
                }
                Some((set, self.answer(compared)))
            }
            None => None,
        };
        Ok(PageComparisons {
            name: edited.newest.summary.name,
            older,
            newer,
            sets,
            compared,
        })
    }

    async fn template_settings(&self, id: TemplateId) -> Result<TemplateSettings, AppError> {
        let (account, db) = (self.caller_who_may(Produce).await?.account, &self.app.db);
        let template = self.answer(templates::get(db, account, id).await)?;
        Ok(TemplateSettings {
            name: template.name,
            identity: template.identity,
            published: template.version,
            users: self.answer(partials::users(db, account, id).await)?,
        })
    }

    async fn change_template_kind(&self, id: TemplateId, kind: TemplateKind, handle: String) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let identity = template_forms::identity(kind, &handle)?;
        self.answer(partials::update_identity(&self.app.db, &caller, id, &identity).await)
    }

    async fn publish_users_of_partial(&self, id: TemplateId, users: Vec<(TemplateId, i32)>) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        if users.is_empty() {
            return Err(invalid(vec![Field::Chosen]));
        }
        match partials::publish_users(&self.app, &caller, id, &users).await {
            Err(TemplateError::Changed) => Err(template_forms::published_meanwhile()),
            published => self.answer(published),
        }
    }

    async fn template_releases(&self, id: TemplateId) -> Result<Releases, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let (account, db) = (caller.account, &self.app.db);
        let template = self.answer(templates::get(db, account, id).await)?;
        let page = PageRequest::after(None, LISTED_PROMOTIONS);
        Ok(Releases {
            name: template.name,
            kind: template.identity.kind,
            channels: self.answer(channels::find(db, account).await)?,
            releases: self.answer(channels::releases(db, account, id).await)?,
            waiting: self.answer(promotions::waiting(db, account, id).await)?,
            latest: self.answer(promotions::list(db, account, id, page).await)?.items,
            sets: self.set_names(account, id).await?,
            visitor: caller.user.id,
        })
    }

    async fn promote_template(
        &self,
        id: TemplateId,
        channel: String,
        version: i32,
        due_at: String,
    ) -> Result<PromotionState, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let request = template_forms::promotion(&channel, version, &due_at)?;
        match promotions::request(&self.app.db, &caller, id, request).await {
            Err(TemplateError::Invalid(problems)) => Err(template_forms::not_promoted(&problems)),
            requested => Ok(self.answer(requested)?.state),
        }
    }

    async fn approve_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<PromotionState, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(promotions::approve(&self.app.db, &caller, id, promotion).await)
    }

    async fn cancel_promotion(&self, id: TemplateId, promotion: PromotionId) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(promotions::cancel(&self.app.db, &caller, id, promotion).await)
    }

    async fn create_template(&self, form: NewTemplateForm) -> Result<TemplateId, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let new = template_forms::new_template(&form)?;
        Ok(self.answer(templates::create(&self.app, &caller, new).await)?.id)
    }

    async fn duplicate_template(&self, id: TemplateId) -> Result<TemplateId, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(templates::duplicate(&self.app, &caller, id).await)
    }

    async fn delete_template(&self, id: TemplateId, typed_name: String) -> Result<bool, AppError> {
        let (caller, db) = (self.caller_who_may(Produce).await?, &self.app.db);
        let template = self.answer(templates::get(db, caller.account, id).await)?;
        if template.name != typed_name.trim() {
            return Err(invalid(vec![Field::Confirmation]));
        }
        match templates::delete(db, &caller, id, &ExpectedVersion::Any).await {
            Err(TemplateError::InUse(_)) => Ok(false),
            deleted => self.answer(deleted).map(|()| true),
        }
    }

    async fn save_template(&self, form: TemplateForm) -> Result<SavedTemplate, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let id = template_id(&form.id)?;
        let seen = form
            .seen
            .map_or(ExpectedVersion::Any, |seen| ExpectedVersion::OneOf(vec![seen]));
        let note = if form.publish {
            template_forms::note(&form.note)?
        } else {
            None
        };
        let (publish, bytes) = (form.publish, form.content.len() + form.data.bytes());
        let parse = move || template_forms::draft(&form);
        let parsing = self
            .app
            .parsers
            .run(caller.account, self.app.parsing_deadline(), bytes, parse);
        let (draft, sets) = parsing.await.map_err(|Busy| too_many(Duration::ZERO))??;
        let mut saved = self.answer(drafts::save(&self.app, &caller, id, &seen, draft, sets).await)?;
        if publish {
            let published = drafts::publish(&self.app, &caller, id, saved.version, note.as_ref()).await;
            self.answer(published)?;
            saved.published = saved.version;
        }
        Ok(saved)
    }

    async fn restore_template(&self, id: TemplateId, number: i32) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.answer(drafts::restore(&self.app.db, &caller, id, number).await)
            .map(drop)
    }

    async fn publish_version(&self, id: TemplateId, form: PublicationForm) -> Result<(), AppError> {
        let caller = self.caller_who_may(Produce).await?;
        let PublicationForm { number, seen, note } = form;
        let (note, expected) = (template_forms::note(&note)?, ExpectedVersion::OneOf(vec![seen]));
        match versions::publish(&self.app, &caller, id, number, &expected, note.as_ref()).await {
            Err(TemplateError::Changed) => Err(template_forms::published_meanwhile()),
            published => self.answer(published).map(drop),
        }
    }

    async fn preview_template(&self, wanted: PreviewRequest) -> Result<PreviewEvents, AppError> {
        let caller = self.caller_who_may(Produce).await?;
        self.live_preview(&caller, template_id(&wanted.id)?, wanted).await
    }
}
