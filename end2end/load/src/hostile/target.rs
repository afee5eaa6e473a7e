//! The target of an attack: an account, its templates, and the service's address.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    error::LoadError,
    hostile::Subscription,
    platen::{Service, client::Client},
};

/// An attacker's account on a running service.
pub(crate) struct Target {
    pub(crate) client: Client,
    pub(crate) subscription: Subscription,
    /// Host and port.
    pub(crate) authority: String,
    /// A template that uses only `name` of its context.
    pub(crate) small_template: String,
    /// A template that repeats `chunk` 1,500 times.
    pub(crate) growing_template: String,
}

impl Target {
    pub(crate) async fn prepare(
        service: &Service,
        client: Client,
        subscription: Subscription,
    ) -> Result<Self, LoadError> {
        let small_template = template(&client, "<p>{{ name }}").await?;
        let growing_template = template(&client, "{% for _ in range(1500) %}{{ chunk }}{% endfor %}").await?;
        Ok(Self {
            client,
            subscription,
            authority: service.authority().to_owned(),
            small_template,
            growing_template,
        })
    }
}

/// Creates a template and returns its id.
async fn template(client: &Client, content: &str) -> Result<String, LoadError> {
    let body = json!({"template": {"name": content, "content": content}});
    let response = client.request(Method::POST, "templates").json(&body).send().await?;
    let location = response
        .headers()
        .get("location")
        .and_then(|location| location.to_str().ok());
    let id = location
        .and_then(|location| location.rsplit('/').next())
        .map(ToOwned::to_owned);
    match id {
        Some(id) => Ok(id),
        None => Err(LoadError::Platen(format!(
            "created no template: {}",
            response.json::<Value>().await?
        ))),
    }
}
