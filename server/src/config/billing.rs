//! Payment: how the operator is known to Stripe.

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::config::reader::{Fault, Reader, Setting};

const SECRET_KEY: Setting = Setting {
    name: "PLATEN_STRIPE_SECRET_KEY",
    purpose: "Secret or restricted key of your account at Stripe. Without it nothing is for sale: plans are given by \
              `platen accounts set-plan`.",
    allowed: "a key that begins with sk_ or rk_",
    default: "none",
};
const WEBHOOK_SECRET: Setting = Setting {
    name: "PLATEN_STRIPE_WEBHOOK_SECRET",
    purpose: "What Stripe signs its events with that it sends to /webhooks/stripe. Needed with PLATEN_STRIPE_SECRET_KEY.",
    allowed: "a secret that begins with whsec_",
    default: "none",
};
const API: Setting = Setting {
    name: "PLATEN_STRIPE_API",
    purpose: "Where Stripe is asked; only tests have another one.",
    allowed: "a URL, http:// or https://",
    default: "https://api.stripe.com/",
};
const TAX: Setting = Setting {
    name: "PLATEN_STRIPE_TAX",
    purpose: "Whether Stripe Tax works out VAT and asks customers for address and tax id. Set it up at Stripe first.",
    allowed: "on, off",
    default: "off",
};

pub(super) const SETTINGS: &[&Setting] = &[&SECRET_KEY, &WEBHOOK_SECRET, &API, &TAX];

/// See the module.
#[derive(Debug)]
pub struct BillingConfig {
    /// `None`: nothing is for sale.
    pub stripe: Option<StripeConfig>,
}

/// An account at Stripe.
#[derive(Debug)]
pub struct StripeConfig {
    /// Proves to Stripe who asks.
    pub key: SecretString,
    /// Proves to us that Stripe tells.
    pub webhook_secret: SecretString,
    /// Where Stripe is asked.
    pub api: Url,
    /// Whether Stripe works out taxes.
    pub tax: bool,
}

impl StripeConfig {
    /// Whether money is moved.
    pub fn is_live(&self) -> bool {
        self.key.expose_secret().contains("_live_")
    }

    /// Where its pages are to which people are sent: Stripe's own, or those of a test.
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
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let key = secret(reader, &SECRET_KEY, &["sk_", "rk_"]);
        let webhook_secret = secret(reader, &WEBHOOK_SECRET, &["whsec_"]);
        let api = reader.parsed(&API, |text| {
            let url = Url::parse(text).ok()?;
            let plain = url.path() == "/" && url.query().is_none() && url.has_host();
            (plain && matches!(url.scheme(), "http" | "https")).then_some(url)
        });
        let tax = reader.switch(&TAX);
        if key.is_some() && reader.text(&WEBHOOK_SECRET).is_none() {
            reader.contradiction(format!(
                "{} is set and {} is not: without it nobody would learn who has paid",
                SECRET_KEY.name, WEBHOOK_SECRET.name
            ));
        }
        let (api, tax) = (api?, tax?);
        let stripe = key.zip(webhook_secret).map(|(key, webhook_secret)| StripeConfig {
            key,
            webhook_secret,
            api,
            tax,
        });
        Some(Self { stripe })
    }
}

/// What begins otherwise is a fault that does not show it.
fn secret(reader: &mut Reader, setting: &Setting, prefixes: &[&str]) -> Option<SecretString> {
    let text = reader.text(setting)?;
    let sound =
        prefixes.iter().any(|prefix| text.starts_with(prefix)) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !sound {
        reader.faults.push(Fault::Secret {
            name: setting.name,
            allowed: setting.allowed,
        });
    }
    sound.then(|| text.into())
}
