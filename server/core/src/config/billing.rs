//! Payment: the operator's account at Stripe.

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::config::reader::{Reader, Setting};

const SECRET_KEY: Setting = Setting::new("PLATEN_STRIPE_SECRET_KEY", "a key that begins with sk_ or rk_")
    .default("none")
    .purpose(
        "Secret or restricted key of your Stripe account. Without it nothing is for sale; plans are assigned by \
         `platen accounts set-plan`.",
    );
const WEBHOOK_SECRET: Setting = Setting::new("PLATEN_STRIPE_WEBHOOK_SECRET", "a secret that begins with whsec_")
    .default("none")
    .purpose("Secret that signs the events Stripe sends to /webhooks/stripe. Required with PLATEN_STRIPE_SECRET_KEY.");
const API: Setting = Setting::new("PLATEN_STRIPE_API", "a URL, http:// or https://")
    .default("https://api.stripe.com/")
    .purpose("Base URL of Stripe's API; changed only by tests.");
const TAX: Setting = Setting::new("PLATEN_STRIPE_TAX", "on, off").default("off").purpose(
    "Whether Stripe Tax calculates VAT and collects customers' address and tax id. Set it up at Stripe first.",
);

pub(super) const SETTINGS: &[&Setting] = &[&SECRET_KEY, &WEBHOOK_SECRET, &API, &TAX];

#[derive(Debug)]
pub struct BillingConfig {
    /// `None` if nothing is for sale.
    pub stripe: Option<StripeConfig>,
}

/// The operator's Stripe account.
#[derive(Debug)]
pub struct StripeConfig {
    /// Secret or restricted API key.
    pub key: SecretString,
    /// Verifies the signatures of events.
    pub webhook_secret: SecretString,
    /// The base URL of Stripe's API.
    pub api: Url,
    /// Whether Stripe Tax calculates taxes.
    pub tax: bool,
}

impl StripeConfig {
    /// Returns whether the key is of live mode, in which payments are real.
    pub fn is_live(&self) -> bool {
        self.key.expose_secret().contains("_live_")
    }

    /// Returns the origins of Stripe's hosted pages: Stripe's own, or the test server's.
    pub fn page_origins(&self) -> Vec<String> {
        if self.api.as_str() == API.default {
            vec![
                "https://checkout.stripe.com".to_owned(),
                "https://billing.stripe.com".to_owned(),
            ]
        } else {
            vec![self.api.origin().ascii_serialization()]
        }
    }
}

impl BillingConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let key = reader.secret(&SECRET_KEY, |text| secret(text, &["sk_", "rk_"]));
        let webhook_secret = reader.secret(&WEBHOOK_SECRET, |text| secret(text, &["whsec_"]));
        let api = reader.parsed(&API, |text| {
            let url = Url::parse(text).ok()?;
            let plain = url.path() == "/" && url.query().is_none() && url.has_host();
            (plain && matches!(url.scheme(), "http" | "https")).then_some(url)
        });
        let tax = reader.switch(&TAX);
        if key.is_some() && reader.text(&WEBHOOK_SECRET).is_none() {
            reader.contradiction(format!(
                "{} is set and {} is not: payments can't be confirmed without it",
                SECRET_KEY.name, WEBHOOK_SECRET.name
            ));
        }
        let stripe = key.zip(webhook_secret).map(|(key, webhook_secret)| StripeConfig {
            key,
            webhook_secret,
            api,
            tax,
        });
        Self { stripe }
    }
}

fn secret(text: &str, prefixes: &[&str]) -> Option<SecretString> {
    let has_prefix = prefixes.iter().any(|prefix| text.starts_with(prefix));
    (has_prefix && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| text.into())
}
