//! Checks payment: access to Stripe, and prices.

use platen_billing::client::StripeError;
use platen_core::{
    config::{Config, billing::StripeConfig},
    service::billing::{Billing, BillingError, catalogue},
};

use crate::{cli::doctor::Finding, database};

const SUBJECT: &str = "Payment";

pub(super) async fn look(config: &Config) -> Finding {
    match &config.billing.stripe {
        Some(stripe) => ask(config, stripe).await,
        None => Finding::fine(
            SUBJECT,
            "nothing is for sale; assign plans with `platen accounts set-plan` (PLATEN_STRIPE_SECRET_KEY is not set)",
        ),
    }
}

async fn ask(config: &Config, stripe: &StripeConfig) -> Finding {
    if config.database.url.is_none() && !config.data.folder.join("postgres").is_dir() {
        return Finding::warning(
            SUBJECT,
            "nothing is for sale yet",
            "run `platen billing sync` after the first start",
        );
    }
    let mode = if stripe.is_live() { "live" } else { "test" };
    // The check of the database reports its problems.
    let Ok(database) = database::open_for_command(config).await else {
        return Finding::warning(
            SUBJECT,
            "prices can't be compared without a database",
            "repair the database first",
        );
    };
    let missing = match Billing::new(database.pool.clone(), &config.billing) {
        Ok(billing) => catalogue::missing(&billing).await,
        Err(error) => Err(error.into()),
    };
    let closed = database.close().await;
    match missing {
        Err(BillingError::Stripe(error @ StripeError::Refused { .. })) => {
            let remedy = "check PLATEN_STRIPE_SECRET_KEY; a restricted key needs the rights in docs/billing.md";
            Finding::warning(SUBJECT, error, remedy)
        }
        Err(error) => Finding::warning(SUBJECT, error, "check that this machine may reach Stripe"),
        Ok(missing) if !missing.is_empty() => {
            let fact = format!("not for sale: {}", missing.join(", "));
            Finding::warning(SUBJECT, fact, "run `platen billing sync`")
        }
        Ok(_) if closed.is_err() => Finding::warning(SUBJECT, "the database could not be closed", "see its log"),
        Ok(_) if stripe.is_live() && !config.http.base_url.scheme().eq("https") => Finding::warning(
            SUBJECT,
            "the Stripe key is a live key, and PLATEN_BASE_URL is not https://",
            "set PLATEN_BASE_URL: Stripe sends its events there, to /webhooks/stripe",
        ),
        Ok(_) => Finding::fine(
            SUBJECT,
            format!("Stripe responds ({mode} key), and all plans and packs have prices"),
        ),
    }
}
