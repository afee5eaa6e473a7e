//! Unprivileged users of the machine. Postgres and Chromium's sandbox refuse root, so a service that runs as root starts
//! each of them as a user of its own; never the same, so that an escaped browser owns nothing.

use std::{fs, io};

/// Runs Postgres when the service runs as root.
pub const DATABASE_USER: &str = "platen-db";
/// Runs Chromium when the service runs as root.
pub const BROWSER_USER: &str = "platen-browser";

const PASSWD: &str = "/etc/passwd";

/// An entry of `/etc/passwd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemUser {
    /// Log-in name.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
}

/// Why a user can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SystemUserError {
    /// The set-up script has not run.
    #[error(
        "user {0} does not exist; as root, Platen needs it: run deploy/setup.sh, or \
         `useradd --system --no-create-home --shell /usr/sbin/nologin {0}`"
    )]
    Missing(&'static str),
    /// The process runs under a number without a name, as some containers do.
    #[error(
        "user id {0} has no entry in /etc/passwd; Postgres refuses to run without one: give it one, or set DATABASE_URL"
    )]
    Unnamed(u32),
    /// The file is not there.
    #[error("/etc/passwd can't be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// The user to start a program as: `None` unless this process is root.
pub fn unprivileged(name: &'static str) -> Result<Option<SystemUser>, SystemUserError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    find(&fs::read_to_string(PASSWD)?, |user| user.name == name)
        .map(Some)
        .ok_or(SystemUserError::Missing(name))
}

/// The user that this process runs as.
pub fn current() -> Result<SystemUser, SystemUserError> {
    let uid = rustix::process::geteuid().as_raw();
    find(&fs::read_to_string(PASSWD)?, |user| user.uid == uid).ok_or(SystemUserError::Unnamed(uid))
}

/// The first fitting entry of a text in the form of passwd(5).
fn find(passwd: &str, fits: impl Fn(&SystemUser) -> bool) -> Option<SystemUser> {
    passwd.lines().filter_map(read_entry).find(fits)
}

fn read_entry(line: &str) -> Option<SystemUser> {
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let _password = fields.next()?;
    Some(SystemUser {
        name,
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_among_damaged_ones() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n\n+nis\nplaten-db:x:998:997::/:/usr/sbin/nologin\n";
        let user = find(passwd, |user| user.name == "platen-db").expect("is there");
        assert_eq!((user.uid, user.gid), (998, 997));
        assert_eq!(find(passwd, |user| user.name == "platen-browser"), None);
    }
}
