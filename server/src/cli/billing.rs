//! `platen billing …`

use clap::Subcommand;
use platen_core::{
    clock,
    config::Config,
    service::billing::{Billing, BillingError, catalogue, reconciliation},
};
use sqlx::PgPool;

use crate::cli::failure::Failure;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create missing products and prices at Stripe, and adopt existing ones. Prints all prices.
    ///
    /// Prices are found by their lookup keys. To change an amount, create a new price for the product at Stripe,
    /// transfer the lookup key to it, and run this again: new customers pay the new price, existing ones the previous
    /// price.
    Sync,
    /// Compare all customers and subscriptions with Stripe, update the database accordingly, and print the differences.
    Reconcile,
}

pub(super) async fn execute(command: Command, db: &PgPool, config: &Config) -> Result<(), Failure> {
    let billing = Billing::new(db.clone(), &config.billing)?;
    let done = match command {
        Command::Sync => sync(&billing).await,
        Command::Reconcile => reconcile(&billing).await,
    };
    done.map_err(|error| match error {
        BillingError::NotForSale => Failure::by_caller(&error),
        other => other.into(),
    })
}

async fn sync(billing: &Billing) -> Result<(), BillingError> {
    for price in catalogue::sync(billing).await? {
        let done = if price.created { "made" } else { "there" };
        println!(
            "{done:5}  {:26} {:>12} {}  {}",
            price.lookup_key,
            in_units(price.amount),
            price.currency.to_uppercase(),
            price.price
        );
    }
    Ok(())
}

async fn reconcile(billing: &Billing) -> Result<(), BillingError> {
    let differences = reconciliation::reconcile(billing, clock::now()).await?;
    for one in &differences {
        let account = one
            .account
            .map_or_else(|| "-".to_owned(), |account| account.to_string());
        println!("{}  {account}  {}", one.customer, one.words);
    }
    eprintln!("{} differences", differences.len());
    Ok(())
}

/// Formats an amount in the currency's smallest unit with two decimals.
fn in_units(amount: i64) -> String {
    format!("{}.{:02}", amount / 100, amount % 100)
}
