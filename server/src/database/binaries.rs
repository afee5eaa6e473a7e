//! The installed Postgres.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The folder in which Debian installs several versions side by side.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

/// Why no installed Postgres can be used.
#[derive(Debug, thiserror::Error)]
pub enum BinariesError {
    #[error(
        "Postgres is not installed (searched {DEBIAN_FOLDER}/*/bin and PATH): run deploy/setup.sh or \
         `apt-get install postgresql`, or set DATABASE_URL"
    )]
    Missing,
    /// The cluster was created by another major version, which is not installed.
    #[error(
        "the database in the data folder was created by Postgres {wanted}, which is not installed: install \
         postgresql-{wanted}, or upgrade the data with pg_upgrade"
    )]
    WrongVersion {
        /// The major version in the cluster's file `PG_VERSION`.
        wanted: String,
    },
}

/// Returns the folder of `postgres`, `initdb` and `pg_ctl`: of the major version if one is given, or else of the
/// newest.
pub fn find(major: Option<&str>) -> Result<PathBuf, BinariesError> {
    let mut installed: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN_FOLDER)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin")))
        })
        .filter(|(_, folder)| is_complete(folder))
        .collect();
    installed.sort();
    match major {
        Some(major) => installed
            .into_iter()
            .find(|(version, _)| version.to_string() == major)
            .map(|(_, folder)| folder)
            .or_else(|| in_path().filter(|folder| version_of(folder).as_deref() == Some(major)))
            .ok_or_else(|| BinariesError::WrongVersion { wanted: major.into() }),
        None => installed
            .pop()
            .map(|(_, folder)| folder)
            .or_else(in_path)
            .ok_or(BinariesError::Missing),
    }
}

fn is_complete(folder: &Path) -> bool {
    ["postgres", "initdb", "pg_ctl"]
        .iter()
        .all(|program| folder.join(program).is_file())
}

fn in_path() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).find(|folder| is_complete(folder))
}

/// Returns the major version, for instance `15` for `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
pub fn version_of(folder: &Path) -> Option<String> {
    let output = std::process::Command::new(folder.join("postgres"))
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.split_whitespace().nth(2)?;
    Some(number.split('.').next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_another_version_are_not_opened_by_this_one() {
        let error = find(Some("8")).unwrap_err().to_string();
        assert!(
            error.contains("Postgres 8") && error.contains("postgresql-8"),
            "{error}"
        );
    }
}
