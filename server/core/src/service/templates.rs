//! Stored templates: creating, reading, changing and deleting them. Every save creates a version. Versions saved
//! through the API are published at once; those saved in the editor are drafts until they are published ([`drafts`]).

pub(in crate::service) mod catalogues;
pub mod channels;
pub mod comparison;
pub mod demos;
pub mod drafts;
pub mod generation;
pub mod live;
pub mod partials;
pub mod preview;
pub mod promotions;
pub mod retention;
pub mod settings;
pub mod versions;

use std::collections::HashSet;

use platen_domain::{
    account_log::{AccountEvent, Actor},
    allowed::NotAllowed,
    caller::Caller,
    editor::SampleSetProblem,
    ids::{AccountId, TemplateId, UserId},
    page::{Page, PageRequest},
    render::accessibility::unmet::ConformanceNotReached,
    template::{
        CONTENT, ExpectedVersion, LONGEST_NAME, NewTemplate, Saved, Submission, Template, TemplateChanges,
        TemplateCreation, TemplateFilter, TemplateGlance,
        channels::ChannelName,
        identity::{TemplateIdentity, TemplateKind},
        labels::labelled,
        note::VersionNote,
        used_by::PartialUsers,
    },
    validation::Problem,
};
use platen_engine::error::RenderError;
use platen_template::{
    diagnostic::{Diagnostic, Place},
    pool,
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    clock,
    drawing::DrawingError,
    memory::MemoryFull,
    service::{
        Services,
        assets::{AssetError, library::LibraryRenderError},
        parsers::Busy,
        renders::failure::EnterError,
        templates::partials::{PartialSet, resolve_to_publish},
    },
    store::{
        account_log, error::StoreError, template_assets, template_channels, template_promotions, template_sample_sets,
        template_versions, templates, tx,
    },
};

/// Error of an operation on a template.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The account has no such template.
    #[error("there is no such template")]
    NotFound,
    /// The template's current version is not the one that the client expects.
    #[error("the template has changed since it was read")]
    Changed,
    /// The request is invalid, or the template can't be filled.
    #[error("the request body is invalid")]
    Invalid(Vec<Problem>),
    /// The template, or a partial that it uses, was published, deleted or renamed at the same time. The same request may
    /// succeed.
    #[error("the template or one of its partials has changed meanwhile")]
    PartialsChanged,
    /// Published templates use the partial that is to be deleted.
    #[error("templates use the partial: {}", .0.names())]
    InUse(PartialUsers),
    /// The template has no such promotion.
    #[error("there is no such promotion")]
    NoSuchPromotion,
    /// The promotion is done, was cancelled or has failed, or it doesn't wait for approval.
    #[error("the promotion has ended")]
    PromotionEnded,
    /// The author of a release, or the user who requested its promotion, can't approve it.
    #[error("members can't approve their own releases")]
    OwnRelease,
    /// The user has not compared the pages of a release with all sets of sample data before approving it.
    #[error("{missing} sets of sample data are not compared")]
    NotCompared {
        /// Number of sets to compare.
        missing: usize,
    },
    /// The caller's key is for certain channels only.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// The sets of sample data are invalid.
    #[error(transparent)]
    SampleSets(#[from] SampleSetProblem),
    /// A worker process failed.
    #[error(transparent)]
    Process(#[from] pool::Error),
    /// The template could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The preview doesn't reach the levels of conformance that its options demand.
    #[error(transparent)]
    Conformance(#[from] Box<ConformanceNotReached>),
    /// An asset could not be loaded.
    #[error(transparent)]
    Asset(AssetError),
    /// Earlier operations of the account are still running, or other requests are being parsed.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// A page could not be rasterized.
    #[error(transparent)]
    Picture(#[from] DrawingError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<EnterError> for TemplateError {
    fn from(error: EnterError) -> Self {
        match error {
            EnterError::Engine(error) => Self::Render(error),
            EnterError::Memory(full) => Self::Memory(full),
        }
    }
}

impl From<LibraryRenderError> for TemplateError {
    fn from(error: LibraryRenderError) -> Self {
        match error {
            LibraryRenderError::Engine(error) => Self::Render(error),
            LibraryRenderError::Asset(AssetError::Memory(full)) => Self::Memory(full),
            LibraryRenderError::Asset(error) => Self::Asset(error),
            LibraryRenderError::Remote(problem) => Self::Invalid(vec![Problem {
                pointer: format!("/options{}", problem.pointer),
                ..problem
            }]),
        }
    }
}

/// Creates a template, and publishes its first version.
pub async fn create(
    app: &Services,
    caller: &Caller,
    submission: Submission<TemplateCreation>,
) -> Result<Template, TemplateError> {
    let TemplateCreation { identity, version: new } = checked(app, caller.account, submission).await?;
    let partials = resolve_to_publish(app, caller, None, &new.content, CONTENT).await?;
    let (id, actor, now) = (TemplateId::generate(), Actor::of_caller(caller), clock::now());
    let first = FirstVersion {
        id,
        identity: &identity,
        version: &new,
        partials: &partials,
    };
    let mut transaction = tx::begin(&app.db).await?;
    may_publish(&mut transaction, caller).await?;
    let version = insert(&mut transaction, caller.account, caller.user.id, &actor, first, now).await?;
    tx::commit(transaction).await?;
    Ok(template(id, identity, new, version, (now, now)))
}

/// Creates a copy of a template's newest version, which may be a draft, and of its sets of sample data. Returns the copy's
/// id.
pub async fn duplicate(app: &Services, caller: &Caller, id: TemplateId) -> Result<TemplateId, TemplateError> {
    let (account, actor) = (caller.account, Actor::of_caller(caller));
    let original = drafts::open(&app.db, account, id).await?;
    let newest = original.newest;
    let partials = resolve_to_publish(app, caller, None, &newest.content, CONTENT).await?;
    let copy = NewTemplate {
        name: name_of_copy(&newest.summary.name),
        ..newest.into()
    };
    let copy_id = TemplateId::generate();
    let identity = identity_of_copy(&original.identity, copy_id);
    let first = FirstVersion {
        id: copy_id,
        identity: &identity,
        version: &copy,
        partials: &partials,
    };
    let mut transaction = tx::begin(&app.db).await?;
    may_publish(&mut transaction, caller).await?;
    let sets = template_sample_sets::list(&mut *transaction, account, id).await?;
    insert(&mut transaction, account, caller.user.id, &actor, first, clock::now()).await?;
    template_sample_sets::replace(&mut transaction, account, copy_id, &sets).await?;
    tx::commit(transaction).await?;
    Ok(copy_id)
}

/// Returns a page of ids of the account's templates, the latest first, with the sizes of their published versions in bytes.
pub async fn list_ids(
    db: &PgPool,
    account: AccountId,
    page: PageRequest<TemplateId>,
) -> Result<Page<(TemplateId, u64), TemplateId>, TemplateError> {
    let found = templates::list_ids(db, account, page).await?;
    Ok(page.page(found, |(id, _)| *id))
}

/// Returns those of the templates that still exist, the latest first.
pub async fn list(db: &PgPool, account: AccountId, ids: &[TemplateId]) -> Result<Vec<Template>, TemplateError> {
    Ok(templates::list(db, account, ids).await?)
}

/// Returns up to `most` templates of an account with their names, which are distinct, in alphabetical order.
pub async fn names(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<(TemplateId, String)>, StoreError> {
    Ok(labelled(templates::list_names(db, account, most).await?))
}

/// As [`names`], without those that have no release in `production`.
pub async fn names_in_production(
    db: &PgPool,
    account: AccountId,
    most: i64,
) -> Result<Vec<(TemplateId, String)>, StoreError> {
    let mut templates = names(db, account, most).await?;
    let production = ChannelName::production();
    let wanted: Vec<_> = templates.iter().map(|(id, _)| (*id, production.clone())).collect();
    let found = template_channels::list_named(db, account, &wanted).await?.into_iter();
    let in_production: HashSet<_> = found
        .filter(|release| release.version.is_some())
        .map(|release| release.template)
        .collect();
    templates.retain(|(id, _)| in_production.contains(id));
    Ok(templates)
}

/// Returns a page of the account's templates that match the filter, the latest first.
pub async fn glances(
    db: &PgPool,
    account: AccountId,
    filter: &TemplateFilter,
    page: PageRequest<TemplateId>,
) -> Result<Page<TemplateGlance, TemplateId>, TemplateError> {
    let found = templates::list_glances(db, account, filter, page).await?;
    Ok(page.page(found, |template| template.id))
}

/// Returns a template with its published version, or [`TemplateError::NotFound`].
pub async fn get(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Template, TemplateError> {
    templates::find(db, account, id).await?.ok_or(TemplateError::NotFound)
}

/// Changes the given fields of a template, and publishes the result as a new version. Fails with
/// [`TemplateError::Changed`] if its version is not as expected.
pub async fn update(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    expected: &ExpectedVersion,
    submission: Submission<TemplateChanges>,
) -> Result<Template, TemplateError> {
    let changes = checked(app, caller.account, submission).await?;
    let (account, now) = (caller.account, clock::now());
    let unchanged = match changes.content() {
        Some(_) => None,
        None => Some(get(&app.db, account, id).await?.content),
    };
    let content = changes.content().or(unchanged.as_deref()).unwrap_or_default();
    let partials = resolve_to_publish(app, caller, Some(id), content, CONTENT).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let old = lock(&mut transaction, account, id, expected).await?;
    if unchanged.is_some_and(|content| content != old.content) {
        return Err(TemplateError::PartialsChanged);
    }
    let (inserted_at, old_identity) = (old.inserted_at, old.identity.clone());
    let (identity, new) = changes.applied_to(old);
    partials::change_identity(&mut transaction, caller, id, (&old_identity, &identity), now).await?;
    let version = save(&mut transaction, caller, id, (&new, &partials), None, now).await?;
    tx::commit(transaction).await?;
    Ok(template(id, identity, new, version, (inserted_at, now)))
}

/// Deletes a template and its sets of sample data. Versions that renders or other templates have used are retained. Fails
/// with [`TemplateError::InUse`] while published templates use it as a partial.
pub async fn delete(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    expected: &ExpectedVersion,
) -> Result<(), TemplateError> {
    let (account, now) = (caller.account, clock::now());
    let mut transaction = tx::begin(db).await?;
    may_change_all(&mut transaction, caller).await?;
    let name = lock(&mut transaction, account, id, expected).await?.name;
    let users = partials::users_in(&mut transaction, account, id).await?;
    if users.count > 0 {
        return Err(TemplateError::InUse(users));
    }
    template_sample_sets::replace(&mut transaction, account, id, &[]).await?;
    template_channels::delete(&mut transaction, account, id).await?;
    template_promotions::cancel_open(&mut transaction, account, Some(id), now).await?;
    template_assets::replace(&mut transaction, account, id, &[]).await?;
    templates::delete(&mut transaction, account, id, now).await?;
    let event = AccountEvent::TemplateDeleted { name };
    account_log::insert(&mut transaction, account, &Actor::of_caller(caller), &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// A template to be inserted.
struct FirstVersion<'a> {
    id: TemplateId,
    identity: &'a TemplateIdentity,
    version: &'a NewTemplate,
    partials: &'a PartialSet,
}

/// Fails if the caller's key is not for the first channel, which gets what is published. Prevents changes of the channels
/// until the transaction ends, so that they take what is published into account.
async fn may_publish(transaction: &mut PgConnection, caller: &Caller) -> Result<(), TemplateError> {
    let channels = template_channels::share_channels(transaction, caller.account).await?;
    Ok(caller.channels.check(channels.first())?)
}

/// Fails if the caller's key is not for all channels, which the change of a template affects. Prevents changes of the
/// channels until the transaction ends.
async fn may_change_all(transaction: &mut PgConnection, caller: &Caller) -> Result<(), TemplateError> {
    let channels = template_channels::share_channels(transaction, caller.account).await?;
    Ok(caller.channels.check_all(&channels)?)
}

/// Inserts a template and publishes its first version, whose number it returns.
async fn insert(
    transaction: &mut PgConnection,
    account: AccountId,
    author: UserId,
    actor: &Actor,
    first: FirstVersion<'_>,
    now: OffsetDateTime,
) -> Result<i32, TemplateError> {
    let FirstVersion {
        id,
        identity,
        version: new,
        partials,
    } = first;
    if let Some(problem) = identity.problem() {
        return Err(TemplateError::Invalid(vec![problem]));
    }
    let inserted = templates::insert(transaction, account, id, identity, &new.name, now).await;
    inserted.map_err(|error| partials::identity_error(error, identity))?;
    let version = template_versions::insert(transaction, account, id, author, new, now).await?;
    partials::store(transaction, account, id, version, partials).await?;
    let event = AccountEvent::TemplateCreated { name: new.name.clone() };
    account_log::insert(transaction, account, actor, &event, now).await?;
    Ok(version)
}

/// Completes the validation of a request body by checking the template syntax of its content.
async fn checked<T: Saved>(
    app: &Services,
    account: AccountId,
    mut submission: Submission<T>,
) -> Result<T, TemplateError> {
    if let Some(content) = submission.content() {
        match app.templates.check(account.0, content).await {
            Ok(()) => {}
            Err(pool::Error::Template(problem)) => submission.refuse(faulty_template(CONTENT, &problem)),
            Err(error @ pool::Error::Process(_)) => return Err(error.into()),
        }
    }
    submission.finish().map_err(TemplateError::Invalid)
}

/// Locks a template until the transaction ends, if its version is as expected.
async fn lock(
    transaction: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    expected: &ExpectedVersion,
) -> Result<Template, TemplateError> {
    let template = templates::lock(transaction, account, id).await?;
    let template = template.ok_or(TemplateError::NotFound)?;
    if expected.includes(template.version) {
        Ok(template)
    } else {
        Err(TemplateError::Changed)
    }
}

/// Inserts and publishes a new version of a locked template, with the partials that it uses. Returns the version's number.
async fn save(
    transaction: &mut PgConnection,
    caller: &Caller,
    id: TemplateId,
    (new, partials): (&NewTemplate, &PartialSet),
    note: Option<&VersionNote>,
    now: OffsetDateTime,
) -> Result<i32, TemplateError> {
    let version = template_versions::insert(transaction, caller.account, id, caller.user.id, new, now).await?;
    let published = Published {
        version,
        name: &new.name,
        partials,
    };
    publish(transaction, caller, id, published, note, now).await?;
    Ok(version)
}

/// A version to be published.
struct Published<'a> {
    version: i32,
    name: &'a str,
    /// The partials that it uses.
    partials: &'a PartialSet,
}

/// Publishes a version of a locked template. A note replaces the version's.
async fn publish(
    transaction: &mut PgConnection,
    caller: &Caller,
    id: TemplateId,
    published: Published<'_>,
    note: Option<&VersionNote>,
    now: OffsetDateTime,
) -> Result<(), TemplateError> {
    let Published {
        version,
        name,
        partials,
    } = published;
    may_publish(transaction, caller).await?;
    partials::store(transaction, caller.account, id, version, partials).await?;
    templates::publish(transaction, caller.account, id, version, now).await?;
    if let Some(note) = note {
        template_versions::update_note(transaction, caller.account, id, version, note).await?;
    }
    let event = AccountEvent::TemplatePublished {
        name: name.to_owned(),
        version,
    };
    Ok(account_log::insert(transaction, caller.account, &Actor::of_caller(caller), &event, now).await?)
}

/// Converts an error of a worker process. `pointer` is the JSON pointer of the template in the request.
fn unusable(pointer: &str, error: pool::Error) -> TemplateError {
    match error {
        pool::Error::Template(problem) => TemplateError::Invalid(vec![faulty_template(pointer, &problem)]),
        pool::Error::Process(_) => error.into(),
    }
}

/// Returns the validation error for an invalid template, at the member that contains or names it.
pub(in crate::service) fn faulty_template(pointer: impl Into<String>, diagnostic: &Diagnostic) -> Problem {
    let detail = match &diagnostic.place {
        Some(place) => format!(
            "{}: {}; the line is: {}",
            named_place(place),
            diagnostic.message,
            place.excerpt
        ),
        None => diagnostic.message.clone(),
    };
    Problem {
        pointer: pointer.into(),
        title: "Faulty template".into(),
        detail,
    }
}

/// Returns a place as it begins a sentence, such as `Partial footer, line 3, column 5`.
pub(in crate::service) fn named_place(place: &Place) -> String {
    let (line, column) = (place.line, place.column);
    match &place.partial {
        Some(handle) => format!("Partial {handle}, line {line}, column {column}"),
        None => format!("Line {line}, column {column}"),
    }
}

/// `times` are those of creation and of the last update.
fn template(
    id: TemplateId,
    identity: TemplateIdentity,
    new: NewTemplate,
    version: i32,
    times: (OffsetDateTime, OffsetDateTime),
) -> Template {
    let (inserted_at, updated_at) = times;
    Template {
        id,
        identity,
        name: new.name,
        content: new.content,
        preview_context: new.preview_context,
        translations: new.translations,
        outdated_partials: Vec::new(),
        version,
        inserted_at,
        updated_at,
    }
}

/// Returns a name such as `Invoice copy`. The original's name is shortened if the result would be too long.
fn name_of_copy(original: &str) -> String {
    const ENDING: &str = " copy";
    let kept = LONGEST_NAME - ENDING.len();
    original.chars().take(kept).collect::<String>() + ENDING
}

/// Returns the identity of a copy: of the same kind, and with a handle only if it needs one.
fn identity_of_copy(original: &TemplateIdentity, copy: TemplateId) -> TemplateIdentity {
    let id = copy.to_string();
    let ending = &id[id.len() - 8..];
    TemplateIdentity {
        kind: original.kind,
        handle: match original.kind {
            TemplateKind::Partial => original.handle.as_ref().and_then(|handle| handle.of_copy(ending)),
            TemplateKind::Document => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copies_are_never_called_too_long() {
        assert_eq!(name_of_copy("Invoice"), "Invoice copy");
        let long = name_of_copy(&"ä".repeat(200));
        assert_eq!(long.chars().count(), 200);
        assert!(long.ends_with("ä copy"), "{long}");
    }

    #[test]
    fn a_fault_of_the_language_is_listed_with_the_others() {
        let body = json!({"template": {"name": "", "content": "{{"}});
        let mut submission = Submission::<NewTemplate>::read(body.to_string().as_bytes()).unwrap_or_else(|_| panic!());
        assert_eq!(submission.content(), Some("{{"));
        let diagnostic = platen_template::language::check("{{").expect_err("no template");
        submission.refuse(faulty_template(CONTENT, &diagnostic));
        let problems = submission.finish().expect_err("faults");
        assert_eq!(problems.len(), 2);
        assert!(problems[1].detail.starts_with("Line 1, column "), "{problems:?}");
        assert!(problems[1].detail.ends_with("the line is: {{"), "{problems:?}");
    }
}
