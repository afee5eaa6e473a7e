//! The way to Stripe.

use std::{fmt, time::Duration};

use miniserde::Deserialize;
use secrecy::{ExposeSecret, SecretString};
use stripe::{IdempotencyKey, RequestStrategy, StripeError as Cause};
use stripe_client_core::{RequestBuilder, StripeMethod};
use url::{Url, form_urlencoded};

use crate::wire::List;

/// People wait for some of the answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// As many as Stripe gives at once.
const PAGE: &str = "100";

/// Asks Stripe on behalf of the operator; cheap to clone.
#[derive(Clone)]
pub struct Stripe {
    client: stripe::Client,
}

impl fmt::Debug for Stripe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stripe")
    }
}

/// Why Stripe did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StripeError {
    /// The card, or whatever else was to pay, was declined. The words are Stripe's, for the person who pays.
    #[error("Stripe could not collect the payment: {0}")]
    Declined(String),
    /// There is no such thing.
    #[error("Stripe knows no such thing: {0}")]
    NotFound(String),
    /// Something is wrong with the request, the key or the account at Stripe.
    #[error("Stripe refuses this ({status}): {message}")]
    Refused {
        /// Of the answer.
        status: u16,
        /// Stripe's words, for the operator.
        message: String,
    },
    /// Stripe was not reached, or answered what can't be read.
    #[error("Stripe did not answer: {0}")]
    Unreachable(String),
    /// The key or the address can't be used at all.
    #[error("no client for Stripe can be made: {0}")]
    Settings(String),
}

impl From<Cause> for StripeError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Stripe(error, status) => {
                let message = error.message.unwrap_or_else(|| "it does not say why".to_owned());
                match status {
                    402 => Self::Declined(message),
                    404 => Self::NotFound(message),
                    429 | 500.. => Self::Unreachable(format!("{status}: {message}")),
                    _ => Self::Refused { status, message },
                }
            }
            Cause::Timeout => Self::Unreachable(format!("not within {} seconds", PATIENCE.as_secs())),
            Cause::ConfigError(words) => Self::Settings(words),
            Cause::JSONDeserialize(words) | Cause::ClientError(words) => Self::Unreachable(words),
        }
    }
}

/// What a request says: names as Stripe writes them, such as `items[0][price]`.
pub(crate) type Form<'a> = Vec<(&'a str, String)>;

impl Stripe {
    /// Asks at `api`, which ends with a slash, with the operator's secret key.
    pub fn new(key: &SecretString, api: &Url) -> Result<Self, StripeError> {
        let builder = stripe::ClientBuilder::new(key.expose_secret()).url(api.as_str());
        let client = builder.timeout(PATIENCE).build()?;
        Ok(Self { client })
    }

    pub(crate) async fn get<T: Deserialize>(&self, path: String, query: Form<'_>) -> Result<T, StripeError> {
        let mut request = RequestBuilder::new(StripeMethod::Get, path);
        request.query = Some(encode(&query));
        Ok(request.customize().send(&self.client).await?)
    }

    pub(crate) async fn post<T: Deserialize>(&self, path: String, form: Form<'_>) -> Result<T, StripeError> {
        let mut request = RequestBuilder::new(StripeMethod::Post, path);
        request.body = Some(encode(&form));
        Ok(request.customize().send(&self.client).await?)
    }

    /// As [`Self::post`]; whoever says the same under the same key gets the same answer, for a day.
    pub(crate) async fn post_once<T: Deserialize>(
        &self,
        path: String,
        form: Form<'_>,
        key: &str,
    ) -> Result<T, StripeError> {
        let key = IdempotencyKey::new(key).map_err(|error| StripeError::Settings(error.to_string()))?;
        let mut request = RequestBuilder::new(StripeMethod::Post, path);
        request.body = Some(encode(&form));
        let request = request.customize().request_strategy(RequestStrategy::Idempotent(key));
        Ok(request.send(&self.client).await?)
    }

    pub(crate) async fn delete<T: Deserialize>(&self, path: String, form: Form<'_>) -> Result<T, StripeError> {
        let mut request = RequestBuilder::new(StripeMethod::Delete, path);
        request.body = Some(encode(&form));
        Ok(request.customize().send(&self.client).await?)
    }

    /// Everything on a list, page by page. `id`: by which the next page is asked for.
    pub(crate) async fn list<T: Deserialize>(
        &self,
        path: &str,
        query: &Form<'_>,
        id: impl Fn(&T) -> &str,
    ) -> Result<Vec<T>, StripeError> {
        let mut all = Vec::new();
        loop {
            let mut query = query.clone();
            query.push(("limit", PAGE.to_owned()));
            if let Some(last) = all.last() {
                query.push(("starting_after", id(last).to_owned()));
            }
            let page: List<T> = self.get(path.to_owned(), query).await?;
            let more = page.has_more.unwrap_or(false) && !page.data.is_empty();
            all.extend(page.data);
            if !more {
                return Ok(all);
            }
        }
    }
}

fn encode(form: &Form<'_>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish()
}
