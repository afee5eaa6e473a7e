//! Rules for announcements that operators publish to all users.

use strum::{EnumString, IntoStaticStr};
use time::OffsetDateTime;
use url::Url;

use crate::{ids::AnnouncementId, line::line, utc_time};

/// Maximum lengths of text and link text, in characters.
const LONGEST_WORDS: usize = 500;
const LONGEST_LINK_WORDS: usize = 100;
/// Maximum length of a link's address, in bytes.
const LONGEST_LINK: usize = 2000;

/// Severity of an announcement. The names are used in the database and in forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Level {
    Information,
    /// A disruption or a change in behavior.
    Warning,
}

/// The form that creates an announcement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnouncementForm {
    pub words: String,
    /// Address of a linked page. Empty: no link.
    pub link: String,
    /// Text of the link.
    pub link_words: String,
    /// The form value of a [`Level`].
    pub level: String,
    /// Start, in UTC. Empty: now.
    pub starts_at: String,
    /// End, in UTC. Empty: shown until it is ended.
    pub ends_at: String,
}

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnouncementField {
    Words,
    LinkAddress,
    LinkWords,
    Level,
    StartsAt,
    EndsAt,
}

/// A valid announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAnnouncement {
    /// Plain text on one line.
    pub words: String,
    /// An `https` address with further information, and the text of the link.
    pub link: Option<(Url, String)>,
    pub level: Level,
    pub starts_at: OffsetDateTime,
    /// `None`: until it is ended.
    pub ends_at: Option<OffsetDateTime>,
}

impl NewAnnouncement {
    /// Validates an operator's form. Fails with all invalid fields.
    pub fn parse(form: &AnnouncementForm, now: OffsetDateTime) -> Result<Self, Vec<AnnouncementField>> {
        let mut problems = Vec::new();
        let words = line(&form.words, LONGEST_WORDS);
        if words.is_none() {
            problems.push(AnnouncementField::Words);
        }
        let link = link(form.link.trim(), &form.link_words).map_err(|field| problems.push(field));
        let level = form.level.parse().ok();
        if level.is_none() {
            problems.push(AnnouncementField::Level);
        }
        let starts_at = utc_time::parse(&form.starts_at).map_err(|_| problems.push(AnnouncementField::StartsAt));
        let starts_at = starts_at.ok().flatten().unwrap_or(now);
        let ends_at = utc_time::parse(&form.ends_at).unwrap_or_else(|_| {
            problems.push(AnnouncementField::EndsAt);
            None
        });
        if ends_at.is_some_and(|at| at <= starts_at.max(now)) {
            problems.push(AnnouncementField::EndsAt);
        }
        match (words, link, level) {
            (Some(words), Ok(link), Some(level)) if problems.is_empty() => Ok(Self {
                words,
                link,
                level,
                starts_at,
                ends_at,
            }),
            _ => Err(problems),
        }
    }
}

fn link(address: &str, words: &str) -> Result<Option<(Url, String)>, AnnouncementField> {
    match (address.is_empty(), words.trim().is_empty()) {
        (true, true) => return Ok(None),
        (true, false) => return Err(AnnouncementField::LinkAddress),
        (false, _) => {}
    }
    let url = Url::parse(address).ok();
    let url = url.filter(|url| url.scheme() == "https" && url.as_str().len() <= LONGEST_LINK);
    let url = url.ok_or(AnnouncementField::LinkAddress)?;
    let words = line(words, LONGEST_LINK_WORDS).ok_or(AnnouncementField::LinkWords)?;
    Ok(Some((url, words)))
}

/// A stored announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub id: AnnouncementId,
    /// Plain text.
    pub words: String,
    /// Address and text of a link to details.
    pub link: Option<(String, String)>,
    pub level: Level,
    /// Shown from this time.
    pub starts_at: OffsetDateTime,
    /// Shown until this time; `None` means indefinitely.
    pub ends_at: Option<OffsetDateTime>,
    /// Number of users who have dismissed it.
    pub hidden_by: i64,
}

impl Announcement {
    /// Returns whether the announcement is current at `now`.
    pub fn turn(&self, now: OffsetDateTime) -> Turn {
        match self.ends_at {
            Some(end) if end <= now => Turn::Past,
            _ if self.starts_at > now => Turn::Coming,
            _ => Turn::Current,
        }
    }
}

/// Whether an announcement is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Current,
    /// Scheduled.
    Coming,
    /// Ended.
    Past,
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-22 17:00 UTC);

    fn form(change: impl Fn(&mut AnnouncementForm)) -> Result<NewAnnouncement, Vec<AnnouncementField>> {
        let mut form = AnnouncementForm {
            words: "We are away".to_owned(),
            level: "warning".to_owned(),
            ..AnnouncementForm::default()
        };
        change(&mut form);
        NewAnnouncement::parse(&form, NOW)
    }

    #[test]
    fn without_times_it_is_told_from_now_on() {
        let made = form(|form| form.words = " On Sunday,\r\n  from 10 ".to_owned()).expect("sound");
        assert_eq!(made.words, "On Sunday, from 10");
        assert_eq!((made.starts_at, made.ends_at, made.link), (NOW, None, None));
    }

    #[test]
    fn times_are_utc_and_in_order() {
        let made = form(|form| {
            form.starts_at = "2026-11-23T10:00".to_owned();
            form.ends_at = "2026-11-23T10:01".to_owned();
        });
        assert_eq!(made.expect("sound").ends_at, Some(datetime!(2026-11-23 10:01 UTC)));
        for (starts_at, ends_at, field) in [
            ("2026-11-23T10:00", "2026-11-23T10:00", AnnouncementField::EndsAt),
            ("", "2026-11-22T16:59", AnnouncementField::EndsAt),
            ("2026-11-01T10:00", "2026-11-02T10:00", AnnouncementField::EndsAt),
            ("tomorrow", "", AnnouncementField::StartsAt),
            ("", "2026-11-31T10:00", AnnouncementField::EndsAt),
        ] {
            let refused = form(|form| {
                form.starts_at = starts_at.to_owned();
                form.ends_at = ends_at.to_owned();
            });
            assert_eq!(refused, Err(vec![field]), "{starts_at} {ends_at}");
        }
    }

    #[test]
    fn a_link_has_an_address_of_the_web_and_words() {
        let made = form(|form| {
            form.link = "https://status.example.org/".to_owned();
            form.link_words = "Status".to_owned();
        });
        let (address, words) = made.expect("sound").link.expect("a link");
        assert_eq!(
            (address.as_str(), words.as_str()),
            ("https://status.example.org/", "Status")
        );
        for (link, link_words, field) in [
            ("http://example.org", "Status", AnnouncementField::LinkAddress),
            ("javascript:alert(1)", "Status", AnnouncementField::LinkAddress),
            ("/dashboard", "Status", AnnouncementField::LinkAddress),
            ("", "Status", AnnouncementField::LinkAddress),
            ("https://example.org", " ", AnnouncementField::LinkWords),
        ] {
            let refused = form(|form| {
                form.link = link.to_owned();
                form.link_words = link_words.to_owned();
            });
            assert_eq!(refused, Err(vec![field]), "{link} {link_words}");
        }
    }

    #[test]
    fn words_are_bounded() {
        assert!(form(|form| form.words = "ä".repeat(500)).is_ok());
        for words in ["", " \n", "a\0b", &"x".repeat(501)] {
            let refused = form(|form| form.words = words.to_owned());
            assert_eq!(refused, Err(vec![AnnouncementField::Words]), "{words:?}");
        }
        assert_eq!(
            form(|form| form.level = "loud".to_owned()),
            Err(vec![AnnouncementField::Level])
        );
    }
}
