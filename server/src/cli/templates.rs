//! `platen templates …`: keeps templates in a folder, so that a repository and its continuous integration can be their
//! source. The commands use the API of a running service, with a key from the environment.

mod assets;
mod folder;
mod server;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
    path::{Path, PathBuf},
    slice,
    time::Duration,
};

use clap::{Args, Subcommand};
use folder::{FolderError, TemplateFiles};
use platen_domain::{number::counted, template::identity::Handle};
use platen_template::partials;
use server::{Server, ServerError, StoredTemplate};
use similar::{Algorithm, TextDiff};

use crate::cli::{client::ServerArgument, failure::Failure};

const SCOPES: &str = "templates:read and templates:write, and for assets assets:read and assets:write";
/// Time for comparing two texts. What isn't compared by then is shown as changed.
const LONGEST_COMPARISON: Duration = Duration::from_secs(5);

#[derive(Subcommand)]
pub(super) enum Command {
    /// Write the account's templates to a folder: HANDLE/template.html, settings.json, translations.json, samples/*.json and
    /// assets.
    ///
    /// The file HANDLE/assets/PATH is the asset HANDLE/PATH. Assets are left out if the key lacks the scope assets:read.
    ///
    /// Templates without a handle are left out, and listed on standard error. Nothing is deleted.
    Pull(Arguments),
    /// Create and publish the templates of a folder that differ from the account's.
    ///
    /// The folder's content replaces what is published; earlier versions remain in the template's history. Templates of
    /// the folder that use a partial that has been published since they were are published again. Templates that are
    /// refused don't prevent others, except those that use them.
    ///
    /// Assets are stored first; those that differ are replaced. This requires the scopes assets:read and assets:write.
    Push(Arguments),
    /// Show the preview of a template in a browser while its files, or those of partials in the folder, change.
    ///
    /// Nothing is saved. The settings and other partials are the account's.
    Watch {
        /// Handle of a template of the account.
        #[arg(value_parser = handle)]
        handle: Handle,
        #[command(flatten)]
        source: Source,
        /// Port of this machine for the page; 0 for any free one.
        #[arg(long, default_value_t = 3001)]
        port: u16,
    },
    /// Show what `push` would change.
    Diff {
        #[command(flatten)]
        arguments: Arguments,
        /// Render changed documents with each set of their sample data before and after, and show how many pages differ.
        /// Each comparison counts as a preview.
        #[arg(long)]
        pages: bool,
        /// Exit with 1 if there are differences.
        #[arg(long)]
        exit_code: bool,
    },
}

/// A folder and a service.
#[derive(Args)]
pub(super) struct Source {
    /// Folder that holds a folder for each template.
    #[arg(default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    server: ServerArgument,
}

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Handle of a template; may be repeated. By default, all.
    #[arg(long = "template", value_name = "HANDLE", value_parser = handle)]
    handles: Vec<Handle>,
}

/// What a folder and a service hold of the wanted templates.
struct Sides {
    local: BTreeMap<Handle, TemplateFiles>,
    stored: BTreeMap<Handle, StoredTemplate>,
}

pub(super) async fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Pull(arguments) => pull(&arguments).await,
        Command::Push(arguments) => push(&arguments).await,
        Command::Watch { handle, source, port } => watch(&handle, &source, port).await,
        Command::Diff {
            arguments,
            pages,
            exit_code,
        } => diff(&arguments, pages, exit_code).await,
    }
}

async fn pull(arguments: &Arguments) -> Result<(), Failure> {
    let (server, folder) = (arguments.source.server()?, &arguments.source.folder);
    let stored = stored(&server, arguments).await?;
    if let Some(handle) = arguments.handles.iter().find(|handle| !stored.contains_key(handle)) {
        return Err(Failure::by_caller(&format!("the account has no template {handle}")));
    }
    for (handle, template) in &stored {
        let written = folder::write(folder, handle, &template.files);
        for path in written.map_err(|error| Failure::by_caller(&error))? {
            println!("{}", path.display());
        }
    }
    assets::pull(&server, folder, &stored.keys().collect()).await
}

async fn push(arguments: &Arguments) -> Result<(), Failure> {
    let server = arguments.source.server()?;
    let sides = sides(&server, arguments).await?;
    let changes = changes(&sides);
    let assets = assets::changes(&server, &arguments.source.folder, &sides.local).await?;
    if changes.is_empty() && assets.is_empty() {
        eprintln!("platen: nothing to change");
    }
    // Before the templates that name them.
    let without_assets = assets::push(&server, &assets).await?;
    let mut refused = BTreeSet::new();
    for change in &changes {
        let handle = change.handle;
        if without_assets.contains(handle.as_str()) {
            eprintln!("{handle}: not published, because its assets were refused");
            refused.insert(handle.clone());
            continue;
        }
        if let Some(partial) = change.partials.intersection(&refused).next() {
            eprintln!("{handle}: not published, because {partial} was refused");
            refused.insert(handle.clone());
            continue;
        }
        let done = match change.stored {
            None => server.create(handle, change.files).await.map(|id| ("created", id)),
            Some(stored) => {
                let published = server.update(stored, change.files, change.publishes_again()).await;
                published.map(|published| (if published { "published" } else { "changed" }, stored.id))
            }
        };
        match done.map_err(|error| error.of_template(handle)) {
            Ok((verb, id)) => println!("{verb} {handle} ({id})"),
            Err(Ok(reason)) => {
                eprintln!("{reason}");
                refused.insert(handle.clone());
            }
            Err(Err(error)) => return Err(failure(&error)),
        }
    }
    if refused.is_empty() {
        return match without_assets.len() {
            0 => Ok(()),
            count => {
                let templates = counted(count, "template", "templates");
                Err(Failure::by_caller(&format!("assets of {templates} were refused")))
            }
        };
    }
    let (refused, all) = (refused.len(), changes.len());
    Err(Failure::by_caller(&format!(
        "{refused} of {all} templates were not published"
    )))
}

/// A template that `push` creates, changes or publishes again.
struct Change<'a> {
    handle: &'a Handle,
    files: &'a TemplateFiles,
    /// The account's template. `None` if there is none.
    stored: Option<&'a StoredTemplate>,
    /// Whether the files differ from the account's template.
    differs: bool,
    /// Changed partials of the folder that it uses, itself or through others.
    partials: BTreeSet<Handle>,
}

impl Change<'_> {
    /// Returns whether the template is published even if its files are the same.
    fn publishes_again(&self) -> bool {
        self.files.is_document() && self.newer_partials().next().is_some()
    }

    /// Returns the partials with which the template would be published again.
    fn newer_partials(&self) -> impl Iterator<Item = &Handle> {
        let outdated = self.stored.map_or(&[][..], |stored| &stored.outdated_partials);
        let others = outdated.iter().filter(|handle| !self.partials.contains(handle));
        self.partials.iter().chain(others)
    }
}

/// Returns what `push` changes, partials first.
fn changes(sides: &Sides) -> Vec<Change<'_>> {
    let mut changes = Vec::new();
    // The changed partials that each template uses; of a changed template, also itself.
    let mut below: BTreeMap<&Handle, BTreeSet<Handle>> = BTreeMap::new();
    for (handle, named) in partials_first(&sides.local) {
        let (files, stored) = (&sides.local[handle], sides.stored.get(handle));
        let partials: BTreeSet<_> = named
            .iter()
            .filter_map(|name| below.get(name))
            .flatten()
            .cloned()
            .collect();
        let differs = stored.is_none_or(|stored| files.differs_from(&stored.files));
        let mut own = partials.clone();
        own.extend(differs.then(|| handle.clone()));
        below.insert(handle, own);
        let change = Change {
            handle,
            files,
            stored,
            differs,
            partials,
        };
        if change.differs || change.publishes_again() {
            changes.push(change);
        }
    }
    changes
}

/// Returns the handles, each with those that its template names, in an order in which partials come before the templates
/// that use them: a template is published with the partials that are published then.
fn partials_first(local: &BTreeMap<Handle, TemplateFiles>) -> Vec<(&Handle, Vec<Handle>)> {
    let mut ordered = Vec::new();
    let mut seen = BTreeSet::new();
    for handle in local.keys() {
        // Each handle, with those that it names once they are waiting before it.
        let mut waiting = vec![(handle, None)];
        while let Some((handle, named)) = waiting.pop() {
            if let Some(named) = named {
                ordered.push((handle, named));
            } else if seen.insert(handle) {
                let named: Vec<_> = names_of_partials(&local[handle]).collect();
                let present = named.iter().filter_map(|name| local.get_key_value(name));
                let present: Vec<_> = present.map(|(handle, _)| (handle, None)).collect();
                waiting.push((handle, Some(named)));
                waiting.extend(present);
            }
        }
    }
    ordered
}

/// Returns the handles that a template names. Nothing for a template with errors, which the service reports.
fn names_of_partials(files: &TemplateFiles) -> impl Iterator<Item = Handle> {
    let named = partials::missing(&files.content.as_str().into(), None).unwrap_or_default();
    named.into_iter().filter_map(|partial| Handle::parse(&partial.handle))
}

async fn diff(arguments: &Arguments, with_pages: bool, exit_code: bool) -> Result<(), Failure> {
    let server = arguments.source.server()?;
    let sides = sides(&server, arguments).await?;
    let changes = changes(&sides);
    for change in &changes {
        let handle = change.handle;
        if change.differs {
            let stored = change.stored.map(|stored| &stored.files);
            print!("{}", differences(handle, stored, change.files));
        } else {
            let partials: Vec<_> = change.newer_partials().map(Handle::as_str).collect();
            println!("{handle} is published again, with {}", partials.join(", "));
        }
    }
    let assets = assets::changes(&server, &arguments.source.folder, &sides.local).await?;
    for asset in &assets {
        println!("{asset}");
    }
    let failed = if with_pages {
        compare_pages(&server, &sides, &changes).await?
    } else {
        0
    };
    if failed > 0 {
        let comparisons = counted(failed, "page comparison", "page comparisons");
        return Err(Failure::by_caller(&format!("{comparisons} failed")));
    }
    if exit_code && (!changes.is_empty() || !assets.is_empty()) {
        let (some, all) = (changes.len(), sides.local.len());
        let assets = counted(assets.len(), "asset", "assets");
        return Err(Failure::by_machine(format!(
            "push changes {some} of {all} templates, and {assets}"
        )));
    }
    Ok(())
}

/// Shows how many pages of changed documents differ, with each set of sample data. Returns the number of comparisons that
/// failed because of the files.
async fn compare_pages(server: &Server, sides: &Sides, changes: &[Change<'_>]) -> Result<usize, Failure> {
    let mut failed = 0;
    let documents = changes.iter().filter(|change| change.files.is_document());
    for (change, stored) in documents.filter_map(|change| Some((change, change.stored?))) {
        let handle = change.handle;
        let partials = used_partials(change.files, |partial| Ok(sides.local.get(partial).cloned()));
        let partials = partials.map_err(|error| Failure::by_caller(&error))?;
        let mut sets = stored.files.sets.clone();
        sets.extend(change.files.sets.clone());
        let named = sets.iter().map(|(name, data)| (Some(name), Some(data)));
        for (name, sample) in iter::once((None, change.files.sample.as_ref())).chain(named) {
            let title = name.map_or_else(|| handle.to_string(), |name| format!("{handle}, {}", name.as_str()));
            match server.compare(stored.id, change.files, sample, &partials).await {
                Ok(compared) if compared.is_partial() => {
                    let (summary, pages) = (compared.summary(), compared.pages.len());
                    println!("{title}: {summary} (only the first {pages} pages are compared)");
                }
                Ok(compared) => println!("{title}: {}", compared.summary()),
                Err(ServerError::Refused(refusal)) if refusal.is_of_template() => {
                    println!("{title}: the pages can't be compared:\n{}", refusal.in_folder(handle));
                    failed += 1;
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }
    Ok(failed)
}

/// Returns the contents of the partials that a template uses, itself or through others, as far as `find` finds them, and at
/// most as many as a template can use.
fn used_partials(
    files: &TemplateFiles,
    mut find: impl FnMut(&Handle) -> Result<Option<TemplateFiles>, FolderError>,
) -> Result<BTreeMap<Handle, String>, FolderError> {
    let mut used = BTreeMap::new();
    let mut waiting: Vec<_> = names_of_partials(files).collect();
    while let Some(handle) = waiting.pop() {
        if used.contains_key(&handle) || used.len() == partials::MOST_PARTIALS {
            continue;
        }
        if let Some(files) = find(&handle)?.filter(|files| !files.is_document()) {
            waiting.extend(names_of_partials(&files));
            used.insert(handle, files.content);
        }
    }
    Ok(used)
}

async fn watch(handle: &Handle, source: &Source, port: u16) -> Result<(), Failure> {
    let server = source.server()?;
    let templates = server.templates(slice::from_ref(handle)).await;
    let templates = templates.map_err(|error| failure(&error))?;
    let Some(template) = templates.by_handle.get(handle) else {
        let advice = format!("`platen templates push --template {handle}` creates it");
        return Err(Failure::by_caller(&format!(
            "the account has no template {handle}: {advice}"
        )));
    };
    watch::watch(&server, &source.folder, (handle, template.id), port).await
}

/// Returns the differences of a template's files in the unified format.
fn differences(handle: &Handle, stored: Option<&TemplateFiles>, files: &TemplateFiles) -> String {
    let stored = stored.map(TemplateFiles::texts);
    let mut shown = String::new();
    for (name, newer) in files.texts() {
        let older = stored.as_ref().and_then(|stored| stored.get(&name));
        let path = Path::new(handle.as_str()).join(name);
        let before = match older {
            Some(_) => format!("a/{}", path.display()),
            None => "/dev/null".to_owned(),
        };
        let older = older.map_or("", String::as_str);
        let compared = TextDiff::configure()
            .algorithm(Algorithm::Patience)
            .timeout(LONGEST_COMPARISON)
            .diff_lines(older, &newer);
        let mut unified = compared.unified_diff();
        shown += &unified.header(&before, &format!("b/{}", path.display())).to_string();
    }
    shown
}

fn failure(error: &ServerError) -> Failure {
    match error {
        ServerError::Refused(refusal) if refusal.status.is_client_error() => Failure::by_caller(error),
        _ => Failure::by_machine(error.to_string()),
    }
}

impl Source {
    fn server(&self) -> Result<Server, Failure> {
        Ok(Server(self.server.client(SCOPES)?))
    }
}

fn handle(text: &str) -> Result<Handle, &'static str> {
    Handle::try_from(text.to_owned())
}

/// Returns the wanted templates of both sides.
async fn sides(server: &Server, arguments: &Arguments) -> Result<Sides, Failure> {
    let local =
        folder::read(&arguments.source.folder, &arguments.handles).map_err(|error| Failure::by_caller(&error))?;
    let stored = stored(server, arguments).await?;
    for (handle, stored) in &stored {
        match local.get(handle) {
            Some(files) => {
                for file in files.missing_from(&stored.files) {
                    only_in_account(&format!("{handle}/{file}"));
                }
            }
            None => only_in_account(handle.as_str()),
        }
    }
    Ok(Sides { local, stored })
}

/// Reports an item that only the account has.
fn only_in_account(name: &str) {
    eprintln!("platen: only the account has {name}, which push leaves as it is");
}

/// Returns the wanted templates of the account that have a handle. If all are wanted, lists the others on standard error.
async fn stored(server: &Server, arguments: &Arguments) -> Result<BTreeMap<Handle, StoredTemplate>, Failure> {
    let templates = server.templates(&arguments.handles).await;
    let templates = templates.map_err(|error| failure(&error))?;
    if arguments.handles.is_empty() && !templates.without_handle.is_empty() {
        let labels = templates.without_handle.join(", ");
        eprintln!(
            "platen: templates without a handle are left out: {labels}. Give them handles in their settings in \
                 the dashboard, or with PATCH /api/v1/templates/ID"
        );
    }
    Ok(templates.by_handle)
}
