//! Unprivileged system users. Postgres and Chromium's sandbox refuse to run as root, so a service that runs as root
//! starts each of them as a separate user. They never share one, so that a browser that escapes its sandbox owns
//! nothing.

use std::{fs, io};

/// Runs Postgres if the service runs as root.
pub const DATABASE_USER: &str = "platen-db";
/// Runs Chromium if the service runs as root.
pub const BROWSER_USER: &str = "platen-browser";

const PASSWD: &str = "/etc/passwd";

/// An entry of `/etc/passwd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemUser {
    pub name: String,
    pub uid: u32,
    /// The user's primary group.
    pub gid: u32,
}

/// Why a user can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SystemUserError {
    /// `deploy/setup.sh` has not run.
    #[error(
        "user {0} does not exist, but Platen needs it when run as root: run deploy/setup.sh, or \
         `useradd --system --no-create-home --shell /usr/sbin/nologin {0}`"
    )]
    Missing(&'static str),
    /// The process runs under a user id without an entry, as some containers do.
    #[error(
        "user id {0} has no entry in /etc/passwd; Postgres refuses to run without one: give it one, or set DATABASE_URL"
    )]
    Unnamed(u32),
    #[error("/etc/passwd can't be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Returns the user as which to start a program, or `None` if this process is not root.
pub fn unprivileged(name: &'static str) -> Result<Option<SystemUser>, SystemUserError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    find(&fs::read_to_string(PASSWD)?, |user| user.name == name)
        .map(Some)
        .ok_or(SystemUserError::Missing(name))
}

/// Returns the user that this process runs as.
pub fn current() -> Result<SystemUser, SystemUserError> {
    let uid = rustix::process::geteuid().as_raw();
    find(&fs::read_to_string(PASSWD)?, |user| user.uid == uid).ok_or(SystemUserError::Unnamed(uid))
}

/// Returns the first matching entry of a text in the format of passwd(5).
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
