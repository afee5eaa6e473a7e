//! The sides of the comparison, measured by way and number of callers.

use std::{sync::Arc, time::Duration};

use crate::{
    assets::{self, AssetCost},
    crowd::{self, CrowdCost},
    document::Wanted,
    error::LoadError,
    measure::{Caller, Limit, Round},
    mixes::{ManyAccounts, NEWCOMER_INTERVAL, Newcomers},
    numbering::{self, NumberingCost},
    pages::Load,
    plan::Plan,
    platen::{
        Service,
        client::{Client, Order, Renderer},
    },
    queue::{self, QueueThroughput},
    raw::{After, RawPeer},
    results::Way,
    templates::{self, TemplateCost},
};

/// Accounts in the rotation.
const ACCOUNTS: usize = 20;

/// Chromium alone, and Platen if it is measured.
pub(crate) struct Sides<'a> {
    pub(crate) raw: &'a mut RawPeer,
    /// Chromium without frames.
    pub(crate) still: &'a mut RawPeer,
    pub(crate) platen: Option<Platen<'a>>,
}

/// A running service with its accounts.
pub(crate) struct Platen<'a> {
    pub(crate) service: &'a Service,
    /// The first account is used for everything that needs only one.
    accounts: Vec<Client>,
    /// Accounts that have not rendered yet.
    newcomers: Vec<Client>,
    /// Number of newcomers that one round consumes.
    newcomers_a_round: usize,
    /// Latencies of the newcomers' first renders.
    pub(crate) first_renders_ms: Vec<f64>,
}

/// Returns the numbers of callers that a way is measured with. Beyond four, the raw client and the new tabs would not
/// get more of the cores; the workload mixes vary accounts, not callers.
pub(crate) fn numbers_of_callers(way: Way) -> &'static [usize] {
    match way {
        Way::Raw | Way::RawStill | Way::RawReset | Way::FreshTab => &[1, 2, 4],
        Way::Pdf | Way::PdfA => &[1, 2, 4, 8],
        Way::ManyAccounts => &[4],
        // One caller can have a newcomer's first render while the other keeps the service busy.
        Way::Newcomers => &[2],
    }
}

impl Sides<'_> {
    /// Measures one round of one way; `None` if it requires Platen, which isn't measured.
    pub(crate) async fn measure(
        &mut self,
        load: &Arc<Load>,
        way: Way,
        callers: usize,
        limit: Limit,
    ) -> Result<Option<Round>, LoadError> {
        let platen = self.platen.as_mut();
        let round = match (way, platen) {
            (Way::Raw, _) => self.raw.measure_warm(load, After::Nothing, callers, limit).await?.0,
            (Way::RawStill, _) => self.still.measure_warm(load, After::Nothing, callers, limit).await?.0,
            (Way::RawReset, _) => self.raw.measure_warm(load, After::Reset, callers, limit).await?.0,
            (Way::FreshTab, _) => self.raw.measure_fresh_tabs(load, callers, limit).await?,
            (_, None) => return Ok(None),
            (Way::Pdf, Some(platen)) => platen.measure(load, Wanted::Pdf, callers, limit).await?,
            (Way::PdfA, Some(platen)) => platen.measure(load, Wanted::PdfA, callers, limit).await?,
            (Way::ManyAccounts, Some(platen)) => platen.measure_many_accounts(load, callers, limit).await?,
            (Way::Newcomers, Some(platen)) => platen.measure_newcomers(load, callers, limit).await?,
        };
        Ok(Some(round))
    }
}

impl<'a> Platen<'a> {
    /// Creates the accounts and keys that the plan needs.
    pub(crate) async fn prepare(service: &'a Service, plan: Plan) -> Result<Self, LoadError> {
        let mut accounts = Vec::new();
        for number in 0..ACCOUNTS {
            accounts.push(service.new_client(&format!("account-{number}")).await?);
        }
        let mut newcomers = Vec::new();
        for number in 0..plan.newcomers * plan.rounds {
            newcomers.push(service.new_client(&format!("newcomer-{number}")).await?);
        }
        Ok(Self {
            service,
            accounts,
            newcomers,
            newcomers_a_round: plan.newcomers,
            first_renders_ms: Vec::new(),
        })
    }

    /// Measures renders of one account.
    pub(crate) async fn measure(
        &self,
        load: &Arc<Load>,
        wanted: Wanted,
        callers: usize,
        limit: Limit,
    ) -> Result<Round, LoadError> {
        let order = Order::new(load, wanted);
        let callers = (0..callers).map(|_| Renderer::new(&self.accounts[0], &order)).collect();
        Ok(self.run(&order, callers, limit).await?.1)
    }

    /// Measures the cost of header and footer in a document of several parts.
    pub(crate) async fn measure_numbering(&self, case: &numbering::Case) -> Result<NumberingCost, LoadError> {
        let measured = numbering::measure(&self.accounts[0], case).await;
        measured.map_err(|error| self.service.failure(&error.to_string()))
    }

    /// Measures the cost of rendering a stored template, and of managing one.
    pub(crate) async fn measure_templates(&self) -> Result<TemplateCost, LoadError> {
        let measured = templates::measure(&self.accounts[0]).await;
        measured.map_err(|error| self.service.failure(&error.to_string()))
    }

    /// Measures the cost of assets in an account of its own.
    pub(crate) async fn measure_assets(&self) -> Result<AssetCost, LoadError> {
        let account = self.service.new_client("assets").await?;
        let measured = assets::measure(&account).await;
        measured.map_err(|error| self.service.failure(&error.to_string()))
    }

    /// Measures the effect of one account's many renders on another account.
    pub(crate) async fn measure_crowd(&self, hello: &Arc<Load>, load: &Arc<Load>) -> Result<CrowdCost, LoadError> {
        let measured = crowd::measure(&self.accounts[1], &self.accounts[0], hello, load).await;
        measured.map_err(|error| self.service.failure(&error.to_string()))
    }

    /// Measures a full queue, compared with synchronous callers.
    pub(crate) async fn measure_queue(&self, load: &Arc<Load>, count: usize) -> Result<QueueThroughput, LoadError> {
        let limit = Limit {
            time: Duration::from_secs(10),
            renders: 400,
            warm_up: true,
        };
        let synchronous = self.measure(load, Wanted::PdfA, 4, limit).await?;
        let account = &self.accounts[0];
        let measured = queue::measure_throughput(self.service, account, load, count, &synchronous).await;
        measured.map_err(|error| self.service.failure(&error.to_string()))
    }

    async fn measure_many_accounts(&self, load: &Arc<Load>, callers: usize, limit: Limit) -> Result<Round, LoadError> {
        let order = Order::new(load, Wanted::PdfA);
        let callers = vec![ManyAccounts::new(self.accounts.clone(), &order); callers];
        Ok(self.run(&order, callers, limit).await?.1)
    }

    async fn measure_newcomers(&mut self, load: &Arc<Load>, callers: usize, limit: Limit) -> Result<Round, LoadError> {
        let order = Order::new(load, Wanted::PdfA);
        let newcomers = self.newcomers.split_off(self.newcomers.len() - self.newcomers_a_round);
        let limit = Limit {
            // Bounded by count, so that the share of newcomers is exact; time is only a safety net.
            time: limit.time * 20,
            renders: (newcomers.len() * NEWCOMER_INTERVAL) as u64,
            // A warm-up would consume newcomers.
            warm_up: false,
        };
        let callers = vec![Newcomers::new(&self.accounts[0], newcomers, &order); callers];
        let (callers, round) = self.run(&order, callers, limit).await?;
        if let Some(caller) = callers.first() {
            self.first_renders_ms.extend(caller.first_renders_ms());
        }
        Ok(round)
    }

    async fn run<C: Caller>(&self, order: &Order, callers: Vec<C>, limit: Limit) -> Result<(Vec<C>, Round), LoadError> {
        let outcome = self.service.measure(callers, limit).await?;
        outcome
            .documents
            .iter()
            .try_for_each(|document| order.check(document))?;
        Ok((outcome.callers, outcome.round))
    }
}
