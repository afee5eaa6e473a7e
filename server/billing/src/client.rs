//! Client of Stripe's API.

use std::{fmt, time::Duration};

use miniserde::Deserialize;
use secrecy::{ExposeSecret, SecretString};
use stripe::{IdempotencyKey, RequestStrategy, StripeError as Cause};
use stripe_client_core::{RequestBuilder, StripeMethod};
use url::{Url, form_urlencoded};

use crate::wire::List;

/// Timeout of a request. Users wait for some of the responses.
const PATIENCE: Duration = Duration::from_secs(20);
/// Items in a page of a list, the most that Stripe returns.
const PAGE: &str = "100";

/// Client of Stripe's API with the operator's secret key. Cheap to clone.
#[derive(Clone)]
pub struct Stripe {
    client: stripe::Client,
}

impl fmt::Debug for Stripe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stripe")
    }
}

/// Why a request to Stripe failed.
#[derive(Debug, thiserror::Error)]
pub enum StripeError {
    /// The card or other payment method was declined. The message is Stripe's, for the customer.
    #[error("Stripe could not collect the payment: {0}")]
    Declined(String),
    /// The object does not exist.
    #[error("Stripe has no such object: {0}")]
    NotFound(String),
    /// Something is wrong with the request, the key or the account at Stripe.
    #[error("Stripe rejected the request ({status}): {message}")]
    Refused {
        /// HTTP status of the response.
        status: u16,
        /// Stripe's message, for the operator.
        message: String,
    },
    /// Stripe was not reached, failed, limited the rate of requests, or sent a response that can't be parsed.
    #[error("no usable response from Stripe: {0}")]
    Unreachable(String),
    /// The key or the address is invalid.
    #[error("Stripe client could not be created: {0}")]
    Settings(String),
}

impl From<Cause> for StripeError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Stripe(error, status) => {
                let message = error.message.unwrap_or_else(|| "no reason given".to_owned());
                match status {
                    402 => Self::Declined(message),
                    404 => Self::NotFound(message),
                    429 | 500.. => Self::Unreachable(format!("{status}: {message}")),
                    _ => Self::Refused { status, message },
                }
            }
            Cause::Timeout => Self::Unreachable(format!("timed out after {} seconds", PATIENCE.as_secs())),
            Cause::ConfigError(words) => Self::Settings(words),
            Cause::JSONDeserialize(words) | Cause::ClientError(words) => Self::Unreachable(words),
        }
    }
}

/// Parameters of a request, with names as Stripe writes them, such as `items[0][price]`.
pub(crate) type Form<'a> = Vec<(&'a str, String)>;

impl Stripe {
    /// Creates a client of the API at `api`, which must end with a slash, with the operator's secret key.
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

    /// Like [`Self::post`], but idempotent: for a day, the same request with the same key gets the same response.
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

    /// Returns all items of a list, requested page by page. `id` returns an item's id, the cursor of the next page.
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
