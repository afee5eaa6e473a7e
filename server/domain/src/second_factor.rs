//! The second factor: codes of an authenticator app (RFC 6238 with the parameters that all apps support: SHA-1, six
//! digits, 30 seconds), and recovery codes for users without access to the app.

pub mod picture;

use aws_lc_rs::hmac;
use data_encoding::BASE32_NOPAD;
use secrecy::{ExposeSecret, SecretBox, SecretString};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::ids::PasskeyId;

/// The length of the digest (RFC 4226, 4, R6).
const SECRET_BYTES: usize = 20;
const STEP_SECONDS: i64 = 30;
/// Tolerated steps of clock drift and transmission delay (RFC 6238, 5.2).
const DRIFT: i64 = 1;
const DIGITS: u32 = 6;
/// The number of recovery codes of a user.
pub const RECOVERY_CODES: usize = 10;
/// 80 bits, too many to be found from a digest.
const RECOVERY_BYTES: usize = 10;
const RECOVERY_CHARACTERS: usize = RECOVERY_BYTES * 8 / 5;
/// The service's name in apps.
const ISSUER: &str = "Platen";

/// How long a log-in waits for the second factor.
pub const PATIENCE: Duration = Duration::minutes(10);
/// How long users may take to set up the second factor.
pub const SET_UP_WITHIN: Duration = Duration::hours(1);
/// How long a remembered browser is not asked for the second factor.
pub const REMEMBERED: Duration = Duration::days(30);

/// The secret shared with an authenticator app. Does not print.
#[derive(Debug)]
pub struct AppSecret(SecretBox<[u8; SECRET_BYTES]>);

impl AppSecret {
    /// Creates a secret from random bytes.
    pub fn from_random(random: [u8; SECRET_BYTES]) -> Self {
        Self(SecretBox::new(Box::new(random)))
    }

    /// Returns the bytes, to be encrypted.
    pub fn expose(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// Restores a secret from its decrypted bytes. Returns `None` if they have the wrong length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_random)
    }

    /// Returns the secret for manual entry in an app: base32 in groups of four.
    pub fn to_text(&self) -> SecretString {
        in_groups(&BASE32_NOPAD.encode(self.expose()), " ").into()
    }

    /// Returns the URL for a QR code. `name` identifies the user among the entries of the app.
    pub fn to_url(&self, name: &str) -> SecretString {
        let mut url = Url::parse("otpauth://totp").expect("the URL is valid");
        url.path_segments_mut()
            .expect("the URL has a path")
            .push(&format!("{ISSUER}:{name}"));
        url.query_pairs_mut()
            .append_pair("secret", &BASE32_NOPAD.encode(self.expose()))
            .append_pair("issuer", ISSUER);
        String::from(url).into()
    }

    /// Returns the latest time step with this code, among the current one and its neighbours. Takes constant time.
    pub fn step_of(&self, code: &AppCode, now: OffsetDateTime) -> Option<i64> {
        let current = now.unix_timestamp().div_euclid(STEP_SECONDS);
        let mut found = -1;
        for step in current - DRIFT..=current + DRIFT {
            let same = self.code(step).ct_eq(&code.0);
            found.conditional_assign(&step, same);
        }
        (found >= 0).then_some(found)
    }

    /// Returns the code that an app shows at a given time.
    pub fn code_at(&self, now: OffsetDateTime) -> String {
        let code = self.code(now.unix_timestamp().div_euclid(STEP_SECONDS));
        format!("{code:0width$}", width = DIGITS as usize)
    }

    /// See RFC 4226, 5.3.
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

/// A code entered from an authenticator app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppCode(u32);

/// A recovery code in plain text. Does not print.
#[derive(Debug)]
pub struct RecoveryCode(SecretString);

/// The SHA-256 of a recovery code. Codes are random, so a slow hash would add no security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryDigest(pub [u8; 32]);

impl RecoveryCode {
    /// Creates a code from random bytes.
    pub fn from_random(random: [u8; RECOVERY_BYTES]) -> Self {
        let text = BASE32_NOPAD.encode(&random).to_lowercase();
        Self(in_groups(&text, "-").into())
    }

    /// Returns the code as it is shown: four groups of four characters.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the digest, which is stored instead of the code.
    pub fn digest(&self) -> RecoveryDigest {
        digest(&self.expose().replace('-', ""))
    }
}

fn digest(letters: &str) -> RecoveryDigest {
    RecoveryDigest(Sha256::digest(letters).into())
}

/// A second factor entered by a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// Six digits.
    App(AppCode),
    Recovery(RecoveryDigest),
}

impl Typed {
    /// Parses user input, ignoring whitespace, hyphens and case. Returns `None` if it is neither kind of code.
    pub fn parse(text: &str) -> Option<Self> {
        let mut characters = String::new();
        for character in text
            .chars()
            .filter(|character| !character.is_whitespace() && *character != '-')
        {
            // Longer input is no code.
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

/// `text` must be ASCII.
fn in_groups(text: &str, between: &str) -> String {
    let groups: Vec<_> = text.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
    groups.join(between)
}

/// Second factors of a user.
#[derive(Debug)]
pub struct SecondFactor {
    pub app: App,
    /// Passkeys, the earliest first.
    pub passkeys: Vec<ListedPasskey>,
    /// Number of unused recovery codes.
    pub codes_left: i64,
    /// Whether a passkey can be added: the limit isn't reached, and passkeys work here.
    pub more_passkeys: bool,
    /// Whether the base URL has a host name, which passkeys are bound to.
    pub passkeys_work: bool,
}

/// Status of a user's authenticator app.
#[derive(Debug)]
pub enum App {
    /// The user has no app.
    Off,
    /// The setup has begun.
    Begun {
        /// Secret to enter into the app.
        secret: AppSecret,
        /// Label in the app.
        email: String,
    },
    /// Logins require a code of the app.
    On {
        /// Time at which the app was turned on.
        since: OffsetDateTime,
    },
}

impl SecondFactor {
    /// Returns whether logins require a second factor.
    pub fn is_on(&self) -> bool {
        matches!(self.app, App::On { .. }) || !self.passkeys.is_empty()
    }
}

/// Ways in which a user can show their second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// Whether a code of an app is accepted.
    pub app: bool,
    /// Options for the browser's passkey request, as JSON; `None` if no passkey can be used.
    pub passkey: Option<String>,
    /// Whether the user has passkeys that don't work here, because the base URL has no host name.
    pub unusable_passkeys: bool,
}

/// A passkey as shown in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPasskey {
    pub id: PasskeyId,
    /// Display name, chosen by the user.
    pub name: String,
    pub used_at: Option<OffsetDateTime>,
    pub inserted_at: OffsetDateTime,
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
        // RFC 6238, appendix B, has codes of eight digits; these are the last six.
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
