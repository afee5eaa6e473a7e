//! Templates as files: a folder for each handle, with `template.html`, `settings.json`, `translations.json` and sample data in
//! `samples`. JSON is compared by value, so that files keep the format that their author gave them.

pub(super) mod assets;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use percent_encoding::percent_decode_str;
use platen_domain::{
    editor::{LONGEST_SET_NAME, MOST_SETS},
    template::{
        LONGEST_CONTENT, LONGEST_PREVIEW_CONTEXT,
        identity::{Handle, TemplateKind},
        sample_sets::SetName,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The template's HTML.
pub(super) const CONTENT: &str = "template.html";
/// The template's settings.
pub(super) const SETTINGS: &str = "settings.json";
/// The preview context.
pub(super) const SAMPLE: &str = "samples/default.json";
/// The texts by language.
pub(super) const TRANSLATIONS: &str = "translations.json";
/// The folder of sample data.
const SAMPLES: &str = "samples";
/// Ending of the files of sample data.
const JSON: &str = ".json";
/// Characters of names of sets that are percent-encoded in names of files: file systems reserve them.
const RESERVED: [char; 10] = ['%', '/', '\\', ':', '*', '?', '"', '<', '>', '|'];
/// Maximum size of a JSON file in bytes: whitespace doesn't count for the service's limits.
const LARGEST_JSON: u64 = 8 * LONGEST_PREVIEW_CONTEXT as u64;
/// Maximum number of templates: more than any plan has.
pub(super) const MOST_TEMPLATES: usize = 10_000;

/// Maximum size of all templates' files in bytes.
const MOST_BYTES: usize = 1 << 30;

/// The files of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TemplateFiles {
    pub(super) content: String,
    pub(super) settings: Settings,
    /// The preview context. `None` without a file for it, which leaves the service's unchanged.
    pub(super) sample: Option<Map<String, Value>>,
    /// The texts by language, of which the first is the template's own. `None` without a file for them, which leaves the
    /// service's unchanged, and for a template of the service that has none.
    pub(super) translations: Option<Map<String, Value>>,
    /// Named sets of sample data. The service's others are left unchanged.
    pub(super) sets: BTreeMap<SetName, Map<String, Value>>,
}

/// The content of `settings.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// Label in the dashboard.
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: TemplateKind,
    /// Whether undefined values, and assets that do not exist, are errors.
    #[serde(default)]
    pub(super) strict: bool,
}

/// A file or folder can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{}: the name of a template's folder is its handle: {reason}", path.display())]
    Handle { path: PathBuf, reason: &'static str },
    #[error("{}: must be a file", .0.display())]
    NotAFile(PathBuf),
    #[error(
        "{}: the file has the name of a set of sample data: at most {LONGEST_SET_NAME} characters, percent-encoded, and \
         other than Default, whose file is {SAMPLE}",
        .0.display()
    )]
    SetName(PathBuf),
    #[error("{}: a template has at most {MOST_SETS} sets of sample data", .0.display())]
    TooManySets(PathBuf),
    #[error("{}: {reason}", path.display())]
    Asset { path: PathBuf, reason: String },
    #[error("{}: the templates must have at most {} assets together", .0.display(), assets::MOST_ASSETS)]
    TooManyAssets(PathBuf),
    #[error("{}: must not be a symbolic link", .0.display())]
    Link(PathBuf),
    #[error("{}: the folder has {SETTINGS}, but no {CONTENT}: create it, or delete the folder", .0.display())]
    NoContent(PathBuf),
    #[error("{} holds no template {handle}", folder.display())]
    Missing { folder: PathBuf, handle: Handle },
    #[error("{}: must have at most {limit} bytes; has {bytes}", path.display())]
    TooLarge { path: PathBuf, limit: u64, bytes: u64 },
    #[error("{}: must hold at most {MOST_TEMPLATES} folders", .0.display())]
    TooMany(PathBuf),
    #[error("{}: the templates must have at most {MOST_BYTES} bytes together; choose some of them with --template", .0.display())]
    TooMuch(PathBuf),
    #[error(
        "{} holds no templates: run `platen templates pull` first, or create a folder with {CONTENT} and {SETTINGS} for \
         each handle",
        .0.display()
    )]
    Empty(PathBuf),
}

impl FolderError {
    /// Returns the error for a folder that doesn't hold a template.
    pub(super) fn missing(folder: &Path, handle: &Handle) -> Self {
        Self::Missing {
            folder: folder.to_owned(),
            handle: handle.clone(),
        }
    }
}

impl TemplateFiles {
    /// Returns whether the template is rendered by itself.
    pub(super) fn is_document(&self) -> bool {
        self.settings.kind == TemplateKind::Document
    }

    /// Returns whether these files change a template that has the others.
    pub(super) fn differs_from(&self, others: &Self) -> bool {
        self.content != others.content
            || self.settings != others.settings
            || self.changed_sample(others).is_some()
            || self.changed_translations(others).is_some()
            || self.changed_sets(others).next().is_some()
    }

    /// Returns the preview context if it differs.
    pub(super) fn changed_sample(&self, others: &Self) -> Option<&Map<String, Value>> {
        self.sample.as_ref().filter(|_| self.sample != others.sample)
    }

    /// Returns the translations if they, or the order of languages, differ.
    pub(super) fn changed_translations(&self, others: &Self) -> Option<&Map<String, Value>> {
        let others = others.translations.iter().flatten();
        self.translations.as_ref().filter(|own| !own.iter().eq(others))
    }

    /// Returns the named sets that differ.
    pub(super) fn changed_sets(&self, others: &Self) -> impl Iterator<Item = (&SetName, &Map<String, Value>)> {
        self.sets
            .iter()
            .filter(|(name, data)| others.sets.get(*name) != Some(*data))
    }

    /// Returns the names of files that others have and these lack. `push` leaves their content as it is.
    pub(super) fn missing_from(&self, others: &Self) -> Vec<String> {
        let own = self.texts();
        let missing = others.texts().into_iter().filter(|(file, _)| !own.contains_key(file));
        // Each template of the account has sample data, if only an empty object.
        let is_empty = |(file, text): &(String, String)| file == SAMPLE && text.trim() == "{}";
        missing.filter(|file| !is_empty(file)).map(|(file, _)| file).collect()
    }

    /// Returns the files' names and texts, with JSON in the format in which it is written.
    pub(super) fn texts(&self) -> BTreeMap<String, String> {
        let sample = self.sample.iter().map(|data| (SAMPLE.to_owned(), indented(data)));
        let sets = self.sets.iter().map(|(name, data)| (file_of_set(name), indented(data)));
        let others = [
            (CONTENT.to_owned(), self.content.clone()),
            (SETTINGS.to_owned(), indented(&self.settings)),
        ];
        let translations = self.translations.iter();
        let translations = translations.map(|texts| (TRANSLATIONS.to_owned(), indented(texts)));
        others
            .into_iter()
            .chain(sample)
            .chain(translations)
            .chain(sets)
            .collect()
    }
}

/// Returns the file of a set of sample data.
pub(super) fn file_of_set(name: &SetName) -> String {
    let name = name.as_str();
    let last = name.chars().count() - 1;
    let encoded = name.chars().enumerate().map(|(index, character)| {
        // Files whose names begin with a point are hidden, and some systems drop spaces and points at the end.
        let is_reserved = RESERVED.contains(&character)
            || character == '.' && (index == 0 || index == last)
            || character == ' ' && index == last;
        if is_reserved {
            format!("%{:02X}", u32::from(character))
        } else {
            character.to_string()
        }
    });
    format!("{SAMPLES}/{}{JSON}", encoded.collect::<String>())
}

/// Returns the name of the set whose file has this name without its ending.
fn set_of_file(stem: &str) -> Option<SetName> {
    let name = percent_decode_str(stem).decode_utf8().ok()?;
    SetName::parse(&name)
}

fn indented(value: &impl Serialize) -> String {
    // Neither settings nor values that were read as JSON can fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads the wanted templates of a folder, or all.
pub(super) fn read(folder: &Path, wanted: &[Handle]) -> Result<BTreeMap<Handle, TemplateFiles>, FolderError> {
    let handles = if wanted.is_empty() {
        handles(folder)?
    } else {
        wanted.to_vec()
    };
    let mut bytes = 0;
    let read = |handle: Handle| {
        let files = read_template(folder, &handle)?.ok_or_else(|| FolderError::missing(folder, &handle))?;
        bytes += files.texts().values().map(String::len).sum::<usize>();
        if bytes > MOST_BYTES {
            return Err(FolderError::TooMuch(folder.to_owned()));
        }
        Ok((handle, files))
    };
    handles.into_iter().map(read).collect()
}

/// Returns the names of a folder's templates. Folders without `template.html` and `settings.json`, and files beside the
/// folders, are no templates.
fn handles(folder: &Path) -> Result<Vec<Handle>, FolderError> {
    let failed = |source| FolderError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut handles = Vec::new();
    for (index, entry) in fs::read_dir(folder).map_err(failed)?.enumerate() {
        if index >= MOST_TEMPLATES {
            return Err(FolderError::TooMany(folder.to_owned()));
        }
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.join(CONTENT).symlink_metadata().is_err() {
            // Other programs have settings of this name, as in `.vscode`.
            if Handle::parse(&name).is_some() && path.join(SETTINGS).exists() {
                return Err(FolderError::NoContent(path));
            }
            continue;
        }
        handles.push(Handle::try_from(name).map_err(|reason| FolderError::Handle { path, reason })?);
    }
    if handles.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    Ok(handles)
}

/// Reads a template, or returns `None` if it has no folder with `template.html`.
pub(super) fn read_template(folder: &Path, handle: &Handle) -> Result<Option<TemplateFiles>, FolderError> {
    let content = path(folder, handle, CONTENT)?;
    if !content.exists() {
        return Ok(None);
    }
    let sample = path(folder, handle, SAMPLE)?;
    let translations = path(folder, handle, TRANSLATIONS)?;
    Ok(Some(TemplateFiles {
        content: read_text(&content, LONGEST_CONTENT as u64)?,
        settings: read_json(&path(folder, handle, SETTINGS)?)?,
        sample: sample.exists().then(|| read_json(&sample)).transpose()?,
        translations: translations.exists().then(|| read_json(&translations)).transpose()?,
        sets: read_sets(folder, handle)?,
    }))
}

/// Reads the named sets of sample data of a template.
fn read_sets(folder: &Path, handle: &Handle) -> Result<BTreeMap<SetName, Map<String, Value>>, FolderError> {
    let samples = path(folder, handle, SAMPLES)?;
    let files = files_of_sets(&samples).map_err(|source| FolderError::Io {
        path: samples.clone(),
        source,
    })?;
    if files.len() == MOST_SETS {
        return Err(FolderError::TooManySets(samples));
    }
    let set = |file: String| {
        let name = set_of_file(file.strip_suffix(JSON).unwrap_or_default());
        let name = name.ok_or_else(|| FolderError::SetName(samples.join(&file)))?;
        let data = read_json(&path(folder, handle, &format!("{SAMPLES}/{file}"))?)?;
        Ok((name, data))
    };
    files.into_iter().map(set).collect()
}

/// Returns the names of the files of named sets in a folder, at most [`MOST_SETS`], which is one too many; none if there is
/// no such folder. Hidden files, and those of other types, are no sets.
fn files_of_sets(samples: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(samples) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_set = name.ends_with(JSON) && !name.starts_with('.') && format!("{SAMPLES}/{name}") != SAMPLE;
        if is_set && files.len() < MOST_SETS {
            files.push(name);
        }
    }
    Ok(files)
}

/// Returns the path of a template's file. Symbolic links on the way are refused: in a repository of others, one could name
/// a secret of this machine, which would be published, or a file outside the repository, which would be overwritten.
fn path(folder: &Path, handle: &Handle, file: &str) -> Result<PathBuf, FolderError> {
    let mut path = folder.join(handle.as_str());
    let mut names = file.split('/');
    loop {
        if path.is_symlink() {
            return Err(FolderError::Link(path));
        }
        match names.next() {
            Some(name) => path.push(name),
            None => return Ok(path),
        }
    }
}

/// Returns the paths of templates' files with the time of the last change and the size, as far as they can be read.
pub(super) fn modified<'a>(
    folder: &Path,
    handles: impl IntoIterator<Item = &'a Handle>,
) -> Vec<(PathBuf, Option<SystemTime>, u64)> {
    let handles = handles.into_iter();
    let paths = handles.flat_map(|handle| {
        let template = folder.join(handle.as_str());
        let mut sets = files_of_sets(&template.join(SAMPLES)).unwrap_or_default();
        sets.sort_unstable();
        let sets = sets.into_iter().map(|file| format!("{SAMPLES}/{file}"));
        let files = [CONTENT, SETTINGS, TRANSLATIONS, SAMPLE]
            .map(ToOwned::to_owned)
            .into_iter()
            .chain(sets);
        files.map(|file| template.join(file)).collect::<Vec<_>>()
    });
    let files = paths.filter_map(|path| {
        let metadata = path.metadata().ok()?;
        Some((path, metadata.modified().ok(), metadata.len()))
    });
    files.collect()
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    serde_json::from_str(&read_text(path, LARGEST_JSON)?).map_err(|source| FolderError::Json {
        path: path.to_owned(),
        source,
    })
}

fn read_text(path: &Path, limit: u64) -> Result<String, FolderError> {
    read_within(path, limit, |path| fs::read_to_string(path))
}

/// Reads a file of up to `limit` bytes.
fn read_within<T>(path: &Path, limit: u64, read: impl Fn(&Path) -> io::Result<T>) -> Result<T, FolderError> {
    let failed = |source| FolderError::Io {
        path: path.to_owned(),
        source,
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(FolderError::NotAFile(path.to_owned()));
    }
    if metadata.len() > limit {
        return Err(FolderError::TooLarge {
            path: path.to_owned(),
            limit,
            bytes: metadata.len(),
        });
    }
    read(path).map_err(failed)
}

/// Writes those files of a template whose values differ from the present ones. Returns their paths.
pub(super) fn write(folder: &Path, handle: &Handle, files: &TemplateFiles) -> Result<Vec<PathBuf>, FolderError> {
    let present = read_template(folder, handle)?.map(|present| present.texts());
    let mut texts = files.texts();
    if present
        .as_ref()
        .is_some_and(|present| present.contains_key(TRANSLATIONS))
    {
        // Files aren't deleted. An empty one says that the template has no translations.
        let empty = || indented(&Map::<String, Value>::new());
        texts.entry(TRANSLATIONS.to_owned()).or_insert_with(empty);
    }
    let mut written = Vec::new();
    for (name, text) in texts {
        if present
            .as_ref()
            .is_some_and(|present| present.get(&name) == Some(&text))
        {
            continue;
        }
        written.push(write_file(path(folder, handle, &name)?, text.as_bytes())?);
    }
    Ok(written)
}

/// Writes a file and the folders that contain it. Returns its path.
pub(super) fn write_file(path: PathBuf, content: &[u8]) -> Result<PathBuf, FolderError> {
    let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
    match parent.and_then(|()| fs::write(&path, content)) {
        Ok(()) => Ok(path),
        Err(source) => Err(FolderError::Io { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_sets_have_their_names() {
        for (name, file) in [
            ("Long invoice", "samples/Long invoice.json"),
            ("Größe 100 %", "samples/Größe 100 %25.json"),
            ("../a/b\\c", "samples/%2E.%2Fa%2Fb%5Cc.json"),
            ("What? \"This\": <*|", "samples/What%3F %22This%22%3A %3C%2A%7C.json"),
            ("Ltd.", "samples/Ltd%2E.json"),
            (".", "samples/%2E.json"),
        ] {
            let set = SetName::parse(name).expect("a name");
            assert_eq!(file_of_set(&set), file);
            let stem = file.strip_prefix("samples/").and_then(|file| file.strip_suffix(JSON));
            assert_eq!(set_of_file(stem.expect("a stem")), Some(set));
        }
        for refused in ["Default", "%00", "%FF", "", &"x".repeat(65)] {
            assert_eq!(set_of_file(refused), None, "{refused}");
        }
    }
}
