//! Partials: templates that others include, extend or import by their handle. They are resolved when a template is
//! published, and stored with its version, so that a changed partial alters no published template until that is published
//! again. Previews of unpublished content use the published versions of partials.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    iter,
};

use platen_domain::{
    asset,
    caller::Caller,
    ids::{AccountId, TemplateId},
    template::{
        ExpectedVersion, LONGEST_CONTENT,
        identity::{HANDLE, Handle, KIND, TemplateIdentity, TemplateKind},
        note::VersionNote,
        translations::Translations,
        used_by::PartialUsers,
    },
    validation::{Problem, quote},
};
use platen_engine::asset_addresses;
use platen_template::{
    diagnostic::{Diagnostic, DiagnosticKind},
    partials::Missing,
    pool,
    sources::Sources,
};
use similar::get_close_matches;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use crate::{
    clock,
    service::{
        Services,
        assets::AssetError,
        templates::{
            TemplateError, catalogues::catalogues, drafts, faulty_template, get, lock, may_change_all, versions,
        },
    },
    store::{
        error::StoreError,
        template_assets, template_channels, template_promotions,
        template_version_partials::{self, PublishedPartial, UsedPartial},
        templates, tx,
    },
};

/// Maximum size of all partials that a template uses, with their translations, in bytes.
const MOST_BYTES: usize = LONGEST_CONTENT;
/// Maximum number of assets and folders that are stored as used by a template.
const MOST_ASSETS: usize = 100;
/// Similarity, from 0 to 1, from which a handle may be a misspelled other one.
const ALIKE: f32 = 0.6;
/// Maximum length in bytes of a misspelled handle: a little more than that of handles.
const LONGEST_MISSPELLED: usize = 80;
/// Maximum number of templates that are listed as users of a partial, and published together.
pub const MOST_USERS: usize = 100;

/// The partials that a template uses, directly and through others, and the assets that all of them name.
#[derive(Debug, Clone, Default)]
pub struct PartialSet {
    /// In fixed versions.
    saved: Vec<UsedPartial>,
    /// Contents by handle that are only previewed or compared.
    unsaved: BTreeMap<String, String>,
    /// The translations of the published versions that they replace, by handle.
    unsaved_translations: BTreeMap<String, Translations>,
    /// Size of the contents and translations of the saved ones, in bytes.
    saved_bytes: usize,
    /// Assets, and folders of assets with their slash, that a version to be published names, itself or by the partials.
    asset_names: Vec<String>,
}

impl PartialSet {
    /// Returns a template's content with the partials, and with the catalogues for a language or, without one, for the
    /// template's own.
    pub fn translated<'a>(
        &'a self,
        content: &'a str,
        translations: &'a Translations,
        language: Option<&str>,
    ) -> Sources<'a> {
        let saved = self
            .saved
            .iter()
            .map(|partial| (&partial.handle, &partial.translations));
        let partials: BTreeMap<_, _> = saved.chain(&self.unsaved_translations).collect();
        let all = iter::once(translations).chain(partials.into_values());
        self.with(content).with_catalogues(catalogues(all, language))
    }

    /// Returns a template's content with the partials.
    pub fn with<'a>(&'a self, content: &'a str) -> Sources<'a> {
        let saved = self.saved.iter().map(|partial| (&partial.handle, &partial.content));
        Sources::new(content, saved.chain(&self.unsaved))
    }

    fn bytes(&self) -> usize {
        self.saved_bytes + self.unsaved.values().map(String::len).sum::<usize>()
    }
}

/// Finds the partials that a content uses, in their published versions. `own` is the template that has the content, if it
/// exists: it can't use itself. A key for certain templates finds only these and the partials of the published version.
/// The inner error is what the author can resolve.
///
/// The content is read only by worker processes: they name what is missing until nothing is.
pub async fn resolve(
    app: &Services,
    caller: &Caller,
    own: Option<TemplateId>,
    content: &str,
) -> Result<Result<PartialSet, Diagnostic>, TemplateError> {
    resolve_with(app, caller, own, content, BTreeMap::new()).await
}

/// Like [`resolve`], with contents by handle that replace the published versions of partials.
pub(super) async fn resolve_with(
    app: &Services,
    caller: &Caller,
    own: Option<TemplateId>,
    content: &str,
    unsaved: BTreeMap<String, String>,
) -> Result<Result<PartialSet, Diagnostic>, TemplateError> {
    let mut set = PartialSet {
        unsaved,
        ..PartialSet::default()
    };
    // For templates without partials, no worker is asked.
    if !may_name_partials(content) {
        return Ok(Ok(set));
    }
    let account = caller.account;
    let published = match own {
        Some(own) if !caller.templates.everything() => {
            template_version_partials::list_ids_of_published(&app.db, account, own).await?
        }
        _ => Vec::new(),
    };
    let may_use = |id| caller.templates.contains(&id) || published.contains(&id);
    if !set.unsaved.is_empty() {
        let handles: Vec<_> = set.unsaved.keys().cloned().collect();
        let replaced = template_version_partials::list_published(&app.db, account, &handles, MOST_BYTES).await?;
        let replaced = replaced.into_iter();
        let replaced = replaced.filter(|partial| partial.kind == TemplateKind::Partial && may_use(partial.id));
        set.unsaved_translations = replaced.map(|partial| (partial.handle, partial.translations)).collect();
    }
    let mut own_handle = None;
    let mut ignored = HashSet::new();
    loop {
        let missing = app
            .templates
            .missing_partials(account.0, set.with(content), own_handle.as_deref());
        let mut missing = match missing.await {
            Ok(missing) => missing,
            Err(pool::Error::Template(diagnostic)) => return Ok(Err(diagnostic)),
            Err(error) => return Err(error.into()),
        };
        missing.retain(|missing| !(missing.optional && ignored.contains(&missing.handle)));
        if missing.is_empty() {
            return Ok(Ok(set));
        }
        let handles = missing.iter().filter_map(|missing| Handle::parse(&missing.handle));
        let handles: Vec<_> = handles.map(|handle| handle.as_str().to_owned()).collect();
        let most_bytes = MOST_BYTES.saturating_sub(set.bytes());
        let found = template_version_partials::list_published(&app.db, account, &handles, most_bytes);
        let mut found = found.await?;
        for missing in missing {
            let is_found = |partial: &PublishedPartial| partial.handle == missing.handle && may_use(partial.id);
            let position = found.iter().position(is_found);
            match position.map(|position| found.swap_remove(position)) {
                None if missing.optional => _ = ignored.insert(missing.handle),
                None => {
                    let reason = unknown(app, account, &missing.handle, may_use).await?;
                    return Ok(Err(refused(missing, &reason)));
                }
                // The next search finds the cycle.
                Some(partial) if Some(partial.id) == own => own_handle = Some(partial.handle),
                Some(partial) if partial.kind != TemplateKind::Partial => {
                    return Ok(Err(refused(
                        missing,
                        "the template with this handle is a document, not a partial",
                    )));
                }
                Some(partial) => {
                    let Some(content) = partial.content else {
                        let reason = format!(
                            "the partials of a template may have {MOST_BYTES} bytes together, with their translations"
                        );
                        return Ok(Err(refused(missing, &reason)));
                    };
                    set.saved_bytes += partial.bytes;
                    set.saved.push(UsedPartial {
                        id: partial.id,
                        handle: partial.handle,
                        version: partial.version,
                        content,
                        translations: partial.translations,
                    });
                }
            }
        }
    }
}

/// Returns whether a content may contain a tag that names a partial, so that a worker has to look.
fn may_name_partials(content: &str) -> bool {
    content.split("{%").skip(1).any(|tag| {
        let tag = tag.trim_start_matches(['-', '+']).trim_start();
        ["include", "extends", "import", "from"]
            .iter()
            .any(|name| tag.starts_with(name))
    })
}

/// Returns the JSON pointer of the member of a request that a diagnostic is about. `pointer` is that of the content;
/// `unsaved` are the handles of the partials that the request contains.
pub(super) fn pointer_of(diagnostic: &Diagnostic, pointer: &str, unsaved: &BTreeSet<String>) -> String {
    let partial = diagnostic.place.as_ref().and_then(|place| place.partial.as_ref());
    match partial.filter(|handle| unsaved.contains(*handle)) {
        Some(handle) => format!("/partials/{handle}"),
        None => pointer.to_owned(),
    }
}

/// Returns why a handle names no partial, with the handle of a partial that is meant perhaps.
async fn unknown(
    app: &Services,
    account: AccountId,
    handle: &str,
    may_use: impl Fn(TemplateId) -> bool,
) -> Result<String, StoreError> {
    let reason = "there is no partial with this handle";
    if handle.len() > LONGEST_MISSPELLED {
        return Ok(reason.to_owned());
    }
    let present = template_version_partials::list_handles(&app.db, account).await?;
    let present = present.iter().filter(|(id, _)| may_use(*id));
    let present: Vec<_> = present.map(|(_, handle)| handle.as_str()).collect();
    Ok(match get_close_matches(handle, &present, 1, ALIKE).first() {
        Some(similar) => format!("{reason}; did you mean {}?", quote(similar)),
        None => reason.to_owned(),
    })
}

fn refused(missing: Missing, reason: &str) -> Diagnostic {
    Diagnostic {
        kind: DiagnosticKind::Operation,
        message: format!("partial {} can't be used: {reason}", quote(&missing.handle)),
        place: Some(missing.place),
    }
}

/// Resolves the partials of a content that is to be published. `pointer` is the JSON pointer of the content.
pub(super) async fn resolve_to_publish(
    app: &Services,
    caller: &Caller,
    own: Option<TemplateId>,
    content: &str,
    pointer: &str,
) -> Result<PartialSet, TemplateError> {
    let resolved = resolve(app, caller, own, content).await?;
    let mut partials =
        resolved.map_err(|diagnostic| TemplateError::Invalid(vec![faulty_template(pointer, &diagnostic)]))?;
    let saved = partials.saved.iter().map(|partial| partial.content.as_str());
    let contents = iter::once(content).chain(saved);
    let contents = contents.filter(|content| asset_addresses::may_be_in(content));
    let contents: Vec<_> = contents.map(ToOwned::to_owned).collect();
    if !contents.is_empty() {
        let named = spawn_blocking(move || asset_names(&contents)).await;
        partials.asset_names = named.map_err(|error| TemplateError::Asset(AssetError::from(error)))?;
    }
    Ok(partials)
}

/// Returns the first names of assets, and of folders of assets with their slash, in templates; none that is in a folder
/// which is named too.
fn asset_names(contents: &[String]) -> Vec<String> {
    let written = contents
        .iter()
        .flat_map(|content| asset_addresses::names_in_html(content));
    let valid: BTreeSet<_> = written.filter_map(|name| asset::named_by(&name)).collect();
    let mut names: Vec<String> = Vec::new();
    for name in valid {
        // Sorted, they follow the folder that contains them.
        let is_in_folder = names
            .iter()
            .rev()
            .any(|folder| folder.ends_with('/') && name.starts_with(folder));
        if !is_in_folder {
            names.push(name);
        }
        if names.len() == MOST_ASSETS {
            break;
        }
    }
    names
}

/// Returns the partials with which a version was published; for one that never was, resolves them.
pub async fn of_version(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    (version, content): (i32, &str),
) -> Result<Result<PartialSet, Diagnostic>, TemplateError> {
    if may_name_partials(content) && !template_version_partials::are_fixed(&app.db, caller.account, id, version).await?
    {
        return resolve(app, caller, Some(id), content).await;
    }
    Ok(Ok(of_published(app, caller.account, id, (version, content)).await?))
}

/// Returns the partials with which a version was published.
pub async fn of_published(
    app: &Services,
    account: AccountId,
    id: TemplateId,
    (version, content): (i32, &str),
) -> Result<PartialSet, StoreError> {
    if !may_name_partials(content) {
        return Ok(PartialSet::default());
    }
    Ok(PartialSet {
        saved: template_version_partials::list(&app.db, account, id, version).await?,
        ..PartialSet::default()
    })
}

/// Stores the partials of a version that is being published, and the names of its assets. Fails with
/// [`TemplateError::PartialsChanged`] if a partial was published, deleted or renamed since they were resolved.
pub(super) async fn store(
    transaction: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    version: i32,
    partials: &PartialSet,
) -> Result<(), TemplateError> {
    if !template_version_partials::insert(transaction, account, id, version, &partials.saved).await? {
        return Err(TemplateError::PartialsChanged);
    }
    Ok(template_assets::replace(transaction, account, id, &partials.asset_names).await?)
}

/// Returns the templates whose published versions use a partial.
pub async fn users(db: &PgPool, account: AccountId, id: TemplateId) -> Result<PartialUsers, StoreError> {
    users_in(&mut *db.acquire().await?, account, id).await
}

/// Like [`users`], in a transaction.
pub(super) async fn users_in(
    db: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
) -> Result<PartialUsers, StoreError> {
    Ok(PartialUsers {
        listed: template_version_partials::list_users(&mut *db, account, id, MOST_USERS).await?,
        count: template_version_partials::count_users(db, account, id).await?,
    })
}

/// Sets kind and handle of a locked template, unless they are the same. A partial that is used keeps both, and a template
/// with releases in channels stays a document.
pub(super) async fn change_identity(
    transaction: &mut PgConnection,
    caller: &Caller,
    id: TemplateId,
    (old, new): (&TemplateIdentity, &TemplateIdentity),
    now: OffsetDateTime,
) -> Result<(), TemplateError> {
    if old == new {
        return Ok(());
    }
    let account = caller.account;
    may_change_all(transaction, caller).await?;
    if new.kind == TemplateKind::Partial {
        let releases = template_channels::list(&mut *transaction, account, id).await?;
        if releases.iter().skip(1).any(|release| release.version.is_some()) {
            let detail = "Can't be changed while channels have releases of the template: partials have none";
            return Err(TemplateError::Invalid(vec![Problem::invalid(KIND, detail)]));
        }
        template_promotions::cancel_open(transaction, account, Some(id), now).await?;
    }
    if let Some(problem) = new.problem() {
        return Err(TemplateError::Invalid(vec![problem]));
    }
    let users = users_in(transaction, account, id).await?;
    if users.count > 0 {
        let pointer = if old.kind == new.kind { HANDLE } else { KIND };
        let detail = format!(
            "Can't be changed while published templates use the partial: {}",
            users.names()
        );
        return Err(TemplateError::Invalid(vec![Problem::invalid(pointer, detail)]));
    }
    let updated = templates::update_identity(transaction, account, id, new).await;
    updated.map_err(|error| identity_error(error, new))
}

/// Converts an error of a statement that sets kind and handle.
pub(super) fn identity_error(error: StoreError, identity: &TemplateIdentity) -> TemplateError {
    if templates::is_handle_taken(&error) {
        TemplateError::Invalid(vec![identity.taken()])
    } else {
        error.into()
    }
}

/// Changes kind and handle of a template.
pub async fn update_identity(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    identity: &TemplateIdentity,
) -> Result<(), TemplateError> {
    let mut transaction = tx::begin(db).await?;
    let old = lock(&mut transaction, caller.account, id, &ExpectedVersion::Any)
        .await?
        .identity;
    change_identity(&mut transaction, caller, id, (&old, identity), clock::now()).await?;
    Ok(tx::commit(transaction).await?)
}

/// Publishes templates that use a partial again, given with the versions that are published, so that they use the published
/// versions of their partials. Takes up to [`MOST_USERS`]. Templates that can't be published don't prevent the others; the
/// first of their errors is returned: [`TemplateError::Changed`] if the given version isn't the published and newest one.
pub async fn publish_users(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    users: &[(TemplateId, i32)],
) -> Result<(), TemplateError> {
    let partial = get(&app.db, caller.account, id).await?;
    let handle = partial.identity.handle.as_ref().map(Handle::as_str).unwrap_or_default();
    let note = format!("Version {} of the partial {handle}", partial.version);
    let note = VersionNote::parse(&note).ok().flatten();
    let mut first_error = None;
    for (user, version) in users.iter().take(MOST_USERS) {
        match publish_again(app, caller, *user, *version, note.as_ref()).await {
            Ok(()) => {}
            Err(
                error @ (TemplateError::Changed
                | TemplateError::PartialsChanged
                | TemplateError::NotFound
                | TemplateError::Invalid(_)),
            ) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// Publishes the content of the published version again, unless there is a draft, which the new version would hide.
async fn publish_again(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    version: i32,
    note: Option<&VersionNote>,
) -> Result<(), TemplateError> {
    if drafts::open(&app.db, caller.account, id).await?.newest.summary.number != version {
        return Err(TemplateError::Changed);
    }
    let expected = ExpectedVersion::OneOf(vec![version]);
    versions::publish(app, caller, id, version, &expected, note)
        .await
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_named_once_and_not_beside_their_folder() {
        let contents = [
            "<base href='asset:b/'><img src='asset:c%20d.png'><img src='asset:c d.png?2'>".to_owned(),
            "<img src=asset:b/x.png><img src=asset:b.png><img src='asset:{{ x }}'>".to_owned(),
        ];
        assert_eq!(asset_names(&contents), ["b.png", "b/", "c d.png"]);
        let many: Vec<_> = (0..300).map(|number| format!("<img src=asset:{number}.png>")).collect();
        assert_eq!(asset_names(&many).len(), MOST_ASSETS);
    }

    #[test]
    fn only_tags_that_name_partials_are_looked_for() {
        for named in [
            "{% include 'a' %}",
            "{%extends 'a'%}",
            "<p>{%-\n import 'a' as a %}",
            "{%+ from 'a' import b %}",
        ] {
            assert!(may_name_partials(named), "{named}");
        }
        for none in [
            "",
            "p { color: red !important }",
            "{{ include }}",
            "{% if import %}{% endif %}",
            "include {%",
        ] {
            assert!(!may_name_partials(none), "{none}");
        }
    }
}
