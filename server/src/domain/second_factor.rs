//! The second factor: codes of an app (RFC 6238, as all apps know it: SHA-1, six digits, 30 seconds) and, for want of the
//! app, recovery codes.

pub mod picture;

use std::fmt::Write as _;

use aws_lc_rs::hmac;
use data_encoding::BASE32_NOPAD;
use secrecy::{ExposeSecret, SecretBox, SecretString};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use time::{Duration, OffsetDateTime};
use url::Url;

/// As long as the digest (RFC 4226, 4, R6).
const SECRET_BYTES: usize = 20;
const STEP_SECONDS: i64 = 30;
/// A clock may be so many steps off (RFC 6238, 5.2), and a code as late.
const DRIFT: i64 = 1;
const DIGITS: u32 = 6;
/// Recovery codes that a person is given.
pub const RECOVERY_CODES: usize = 10;
/// 80 bits: too many to be found from a digest.
const RECOVERY_BYTES: usize = 10;
const RECOVERY_CHARACTERS: usize = RECOVERY_BYTES * 8 / 5;
/// What apps show beside the code.
const ISSUER: &str = "Platen";

/// For so long a log-in waits for the second factor.
pub const PATIENCE: Duration = Duration::minutes(10);
/// So long somebody has to set it up, once they have begun.
pub const SET_UP_WITHIN: Duration = Duration::hours(1);
/// So long a browser is not asked for it that somebody has chosen to be remembered.
pub const REMEMBERED: Duration = Duration::days(30);

/// What an app shares with us. Does not print.
#[derive(Debug)]
pub struct AppSecret(SecretBox<[u8; SECRET_BYTES]>);

impl AppSecret {
    /// The secret of random bytes.
    pub fn from_random(random: [u8; SECRET_BYTES]) -> Self {
        Self(SecretBox::new(Box::new(random)))
    }

    /// The bytes, to be sealed.
    pub fn expose(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// The secret that was sealed; `None`: this never was one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_random)
    }

    /// For those who type it into their app: base32 in groups of four.
    pub fn to_text(&self) -> SecretString {
        in_groups(&BASE32_NOPAD.encode(self.expose()), ' ').into()
    }

    /// For apps that read it from a picture. `name`: the person's, among the codes of the app.
    pub fn to_url(&self, name: &str) -> SecretString {
        let mut url = Url::parse("otpauth://totp").expect("a URL of ours");
        url.path_segments_mut()
            .expect("it has a path")
            .push(&format!("{ISSUER}:{name}"));
        url.query_pairs_mut()
            .append_pair("secret", &BASE32_NOPAD.encode(self.expose()))
            .append_pair("issuer", ISSUER);
        String::from(url).into()
    }

    /// The step whose code this is, if it is one of those around now; the latest of them. All are looked at, whichever it is.
    pub fn step_of(&self, code: &AppCode, now: OffsetDateTime) -> Option<i64> {
        let current = now.unix_timestamp().div_euclid(STEP_SECONDS);
        let mut found = -1;
        for step in current - DRIFT..=current + DRIFT {
            let same = self.code(step).ct_eq(&code.0);
            found.conditional_assign(&step, same);
        }
        (found >= 0).then_some(found)
    }

    /// The code that an app shows at a moment.
    pub fn code_at(&self, now: OffsetDateTime) -> String {
        let code = self.code(now.unix_timestamp().div_euclid(STEP_SECONDS));
        format!("{code:0width$}", width = DIGITS as usize)
    }

    /// RFC 4226, 5.3.
    fn code(&self, step: i64) -> u32 {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, self.expose());
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let bytes = tag.as_ref();
        let offset = usize::from(bytes[bytes.len() - 1] & 0xf);
        let word = bytes[offset..offset + 4]
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
        (word & 0x7fff_ffff) % 10_u32.pow(DIGITS)
    }
}

/// A code that somebody typed off their app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppCode(u32);

/// A recovery code as the person keeps it. Does not print.
#[derive(Debug)]
pub struct RecoveryCode(SecretString);

/// SHA-256 of a recovery code. Codes are random enough that nothing slower is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryDigest(pub [u8; 32]);

impl RecoveryCode {
    /// The code of random bytes.
    pub fn from_random(random: [u8; RECOVERY_BYTES]) -> Self {
        let text = BASE32_NOPAD.encode(&random).to_lowercase();
        Self(in_groups(&text, '-').into())
    }

    /// As it is shown: four groups of four.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is stored of it.
    pub fn digest(&self) -> RecoveryDigest {
        digest(&self.expose().replace('-', ""))
    }
}

fn digest(letters: &str) -> RecoveryDigest {
    RecoveryDigest(Sha256::digest(letters).into())
}

/// What somebody typed as their second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// Six digits.
    App(AppCode),
    /// A recovery code.
    Recovery(RecoveryDigest),
}

impl Typed {
    /// Reads it as people write it: with blanks or hyphens, in capitals or not. `None`: it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let mut characters = String::new();
        for character in text
            .chars()
            .filter(|character| !character.is_whitespace() && *character != '-')
        {
            // What is longer than either is no code.
            if !character.is_ascii_alphanumeric() || characters.len() == RECOVERY_CHARACTERS {
                return None;
            }
            characters.push(character.to_ascii_lowercase());
        }
        if characters.len() == RECOVERY_CHARACTERS {
            return Some(Self::Recovery(digest(&characters)));
        }
        let digits = characters.len() == DIGITS as usize && characters.bytes().all(|byte| byte.is_ascii_digit());
        let code = digits.then(|| characters.parse().ok()).flatten()?;
        Some(Self::App(AppCode(code)))
    }
}

fn in_groups(text: &str, between: char) -> String {
    let mut grouped = String::new();
    for (index, character) in text.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            grouped.push(between);
        }
        let _ = grouped.write_char(character);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> AppSecret {
        AppSecret::from_random(*b"12345678901234567890")
    }

    fn at(seconds: i64) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(seconds).expect("a moment")
    }

    fn app(text: &str) -> AppCode {
        match Typed::parse(text) {
            Some(Typed::App(code)) => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, whose codes have eight digits: ours are the last six.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret().code_at(at(seconds)), code);
            assert_eq!(secret().step_of(&app(code), at(seconds)), Some(seconds / 30));
        }
        // RFC 4226, appendix D.
        let counted: Vec<_> = (0..10).map(|step| secret().code(step)).collect();
        let expected = [
            755_224, 287_082, 359_152, 969_429, 338_314, 254_676, 287_922, 162_583, 399_871, 520_489,
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn a_clock_may_be_half_a_minute_off_and_no_more() {
        let code = app(&secret().code_at(at(3000)));
        for (seconds, found) in [(2969, None), (2970, Some(100)), (3059, Some(100)), (3060, None)] {
            assert_eq!(secret().step_of(&code, at(seconds)), found, "{seconds}");
        }
    }

    #[test]
    fn codes_are_read_as_people_write_them() {
        assert_eq!(Typed::parse(" 081 804\n"), Some(Typed::App(AppCode(81_804))));
        let code = RecoveryCode::from_random([0xa7; RECOVERY_BYTES]);
        assert_eq!(code.expose(), "u6t2-pj5h-u6t2-pj5h");
        let typed = Some(Typed::Recovery(code.digest()));
        for text in [code.expose(), "U6T2PJ5HU6T2PJ5H", " u6t2 pj5h u6t2 pj5h "] {
            assert_eq!(Typed::parse(text), typed, "{text}");
        }
        let long = "7".repeat(100_000);
        for text in ["", "12345", "1234567", "abcdef", "12345é", "u6t2-pj5h-u6t2-pj5", &long] {
            assert_eq!(Typed::parse(text), None);
        }
    }

    #[test]
    fn an_app_reads_the_secret_from_a_picture_or_is_told_it() {
        assert_eq!(
            secret().to_text().expose_secret(),
            "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"
        );
        assert_eq!(
            secret().to_url("a&b/c?@example.org").expose_secret(),
            "otpauth://totp/Platen:a&b%2Fc%3F@example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Platen"
        );
    }

    #[test]
    fn no_secret_prints() {
        let code = RecoveryCode::from_random([1; RECOVERY_BYTES]);
        let text = format!("{:?} {code:?} {:?}", secret(), secret().to_url("ann"));
        assert!(
            !text.contains("49, 50") && !text.contains(code.expose()) && !text.contains("GEZD"),
            "{text}"
        );
    }
}
