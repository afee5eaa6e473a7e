//! The cost of stored templates: rendering them and managing them.

use std::{sync::Arc, time::Instant};

use reqwest::Method;
use serde::Serialize;
use serde_json::json;

use crate::{
    document::Wanted,
    error::LoadError,
    pages::Load,
    platen::client::{Client, Order, answer},
    statistics::median,
};

/// Renders of each kind.
const RENDERS: usize = 100;
/// Templates that are created and deleted.
const KEPT: usize = 50;

const CONTENT: &str = "<!doctype html><title>{{ title }}</title><h1>{{ title }}</h1>\
    <ul>{% for line in lines %}<li>{{ line.name }}: {{ line.price|number }}</li>{% endfor %}</ul>";
const FILLED: &str = "<!doctype html><title>Order</title><h1>Order</h1>\
    <ul><li>Larch post: 12.5</li><li>Oak board: 8</li></ul>";

/// Medians, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct TemplateCost {
    /// A page sent as HTML.
    pub(crate) html: f64,
    /// The same page as a stored template, measured alternately.
    pub(crate) template: f64,
    pub(crate) create: f64,
    pub(crate) get: f64,
    pub(crate) change: f64,
    pub(crate) delete: f64,
}

impl TemplateCost {
    /// Returns the cost of filling the template.
    pub(crate) fn added_ms(&self) -> f64 {
        self.template - self.html
    }
}

pub(crate) async fn measure(client: &Client) -> Result<TemplateCost, LoadError> {
    let [html, template] = measure_renders(client).await?;
    let [create, get, change, delete] = measure_keeping(client).await?;
    Ok(TemplateCost {
        html,
        template,
        create,
        get,
        change,
        delete,
    })
}

async fn measure_renders(client: &Client) -> Result<[f64; 2], LoadError> {
    let load = Arc::new(Load {
        name: "order",
        html: FILLED.to_owned(),
        page_count: 1,
        font: None,
    });
    let context = json!({
        "title": "Order",
        "lines": [{ "name": "Larch post", "price": 12.5 }, { "name": "Oak board", "price": 8 }],
    });
    let id = create(client, "rendered").await?;
    let orders = [
        Order::new(&load, Wanted::PdfA),
        Order::of_template(&load, &id, &context),
    ];
    let mut took_ms = [Vec::new(), Vec::new()];
    // The first renders warm up the session.
    for turn in 0..=RENDERS {
        for (order, took_ms) in orders.iter().zip(&mut took_ms) {
            let sent = Instant::now();
            order.check(&client.render(order).await?)?;
            if turn > 0 {
                took_ms.push(sent.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    answer(client.request(Method::DELETE, &format!("templates/{id}"))).await?;
    Ok(took_ms.map(|took_ms| median(&took_ms).unwrap_or_default()))
}

/// Measures creating, getting, changing and deleting a template.
async fn measure_keeping(client: &Client) -> Result<[f64; 4], LoadError> {
    let mut took_ms: [Vec<f64>; 4] = Default::default();
    let mut note = |step: usize, since: Instant| took_ms[step].push(since.elapsed().as_secs_f64() * 1e3);
    for number in 0..KEPT {
        let since = Instant::now();
        let id = create(client, &format!("kept {number}")).await?;
        note(0, since);
        let path = format!("templates/{id}");
        let change = json!({ "template": { "content": format!("{CONTENT}<p>{number}</p>") } });
        let requests = [
            client.request(Method::GET, &path),
            client.request(Method::PATCH, &path).json(&change),
            client.request(Method::DELETE, &path),
        ];
        for (step, request) in (1..).zip(requests) {
            let since = Instant::now();
            answer(request).await?;
            note(step, since);
        }
    }
    Ok(took_ms.map(|took_ms| median(&took_ms).unwrap_or_default()))
}

async fn create(client: &Client, name: &str) -> Result<String, LoadError> {
    let new = json!({ "template": { "name": name, "content": CONTENT } });
    let created = answer(client.request(Method::POST, "templates").json(&new)).await?;
    let id = created["data"]["id"].as_str();
    id.map(ToOwned::to_owned)
        .ok_or_else(|| LoadError::Platen(format!("created a template without an id: {created}")))
}
