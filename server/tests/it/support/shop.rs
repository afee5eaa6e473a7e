//! A service that sells through a fake Stripe, with its own database and without a server process.

use futures::future::join_all;
use platen_core::{
    clock,
    config::{Config, limits::LimitsConfig},
    service::{
        accounts::{self, NewOwner, PlanChoice},
        billing::{
            Billing, catalogue,
            events::{self, ReceiveError},
            mirror,
            purchases::{self, Buyer},
        },
        credits,
        people::callers,
    },
    store::{jobs::ClaimedJob, usage::PeriodUsage},
};
use platen_domain::{caller::Caller, client::Client, job::JobKind};
use platen_fake_stripe::FakeStripe;
use sqlx::{AssertSqlSafe, PgPool};
use url::Url;

use crate::support::{postgres, queue::claim_due};

/// The secret with which the fake signs events.
pub(crate) const WEBHOOK_SECRET: &str = "whsec_tests";

pub(crate) struct Shop {
    pub(crate) stripe: FakeStripe,
    pub(crate) billing: Billing,
    limits: LimitsConfig,
}

/// Returns the settings of a service that uses the Stripe API at this address.
pub(crate) fn settings(api: &str) -> [(&'static str, String); 3] {
    [
        ("PLATEN_STRIPE_SECRET_KEY", "sk_test_123".to_owned()),
        ("PLATEN_STRIPE_WEBHOOK_SECRET", WEBHOOK_SECRET.to_owned()),
        ("PLATEN_STRIPE_API", api.to_owned()),
    ]
}

impl Shop {
    /// Creates a service with all plans and packs for sale.
    pub(crate) async fn open() -> Self {
        let stripe = FakeStripe::start(WEBHOOK_SECRET).await;
        let config = config(stripe.url());
        let db = PgPool::connect(&postgres::fresh_database().await).await;
        let billing = Billing::new(db.expect("Postgres answers"), &config.billing);
        let shop = Self {
            billing: billing.expect("a client"),
            limits: config.limits,
            stripe,
        };
        catalogue::sync(&shop.billing).await.expect("prices");
        shop
    }

    /// Creates an account on the Free plan.
    pub(crate) async fn account(&self, email: &str) -> Caller {
        let owner = NewOwner {
            email: &email.parse().expect("an address"),
            name: "Ann",
            account_name: "Example & Sons",
            password_hash: "",
        };
        let choice = PlanChoice {
            plan: "Free".to_owned(),
            credits: None,
        };
        let created = accounts::create(&self.billing.db, &owner, &choice, clock::now()).await;
        let owner = created.expect("an account").owner;
        let client = Client::new(std::net::Ipv4Addr::LOCALHOST.into(), "tests");
        let caller = callers::of_person(&self.billing.db, &self.limits, owner, &client, None, clock::now());
        caller.await.expect("their owner")
    }

    /// Subscribes to a plan and pays. Returns Stripe's id of the subscription.
    pub(crate) async fn subscribe(&self, caller: &Caller, plan: &str) -> String {
        let page = purchases::subscribe(&self.billing, &buyer(caller), plan).await;
        self.stripe.pay(&page.expect("a page"));
        self.stripe.last_subscription()["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// Buys a thousand credits.
    pub(crate) async fn buy(&self, caller: &Caller) {
        let page = purchases::buy_credits(&self.billing, &buyer(caller), "platen_credits_1000").await;
        self.stripe.pay(&page.expect("a page"));
    }

    /// Refunds `percent` of the unrefunded part of the first payment for credits, if there is one.
    pub(crate) async fn refund(&self, caller: &Caller, percent: i64) {
        let customer = format!(
            "select id from stripe_customers where account_id = '{}'",
            caller.account
        );
        self.stripe.refund(&self.text(&customer).await, percent);
    }

    /// Delivers an event.
    pub(crate) async fn hear(&self, body: &str) -> Result<(), ReceiveError> {
        let signature = self.stripe.signature(body);
        events::receive(&self.billing, body, Some(&signature), clock::now()).await
    }

    /// Delivers all pending events in order, and synchronizes.
    pub(crate) async fn hear_all(&self) {
        for body in self.stripe.events() {
            self.hear(&body).await.expect("taken");
        }
        self.look().await;
    }

    /// Synchronizes all customers that are due.
    pub(crate) async fn look(&self) {
        loop {
            let claimed = claim_due(&self.billing.db, JobKind::Customer).await;
            if claimed.is_empty() {
                return;
            }
            join_all(claimed.iter().map(async |job| match job {
                ClaimedJob::Customer(claim, id) => mirror::mirror(&self.billing, claim, id).await.expect("mirrored"),
                job => panic!("no customer: {job:?}"),
            }))
            .await;
        }
    }

    pub(crate) async fn usage(&self, caller: &Caller) -> PeriodUsage {
        let usage = credits::usage(&self.billing.db, caller.account, clock::now()).await;
        usage.expect("usage")
    }

    /// Returns the plan, and the credits of the current period.
    pub(crate) async fn plan(&self, caller: &Caller) -> (String, i64) {
        let usage = self.usage(caller).await;
        (usage.plan, usage.balance.total())
    }

    /// Executes a statement directly on the database.
    pub(crate) async fn execute(&self, statement: &str) {
        let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&self.billing.db);
        done.await.expect("sound SQL");
    }

    /// Returns the text result of a query.
    pub(crate) async fn text(&self, query: &str) -> String {
        let text = sqlx::query_scalar(AssertSqlSafe(query.to_owned()));
        text.fetch_one(&self.billing.db).await.expect("a text")
    }
}

fn config(api: &str) -> Config {
    let settings = settings(api);
    let config = Config::read(&|name| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    });
    config.expect("sound settings")
}

pub(crate) fn buyer(caller: &Caller) -> Buyer {
    static BACK_TO: std::sync::LazyLock<Url> =
        std::sync::LazyLock::new(|| Url::parse("https://platen.example/dashboard/billing").expect("a URL"));
    Buyer {
        caller: caller.clone(),
        name: "Example & Sons".to_owned(),
        back_to: BACK_TO.clone(),
    }
}
