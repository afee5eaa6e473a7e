//! The cost of assets: rendering an invoice that names them, and lists of many assets and templates.

use std::{sync::Arc, time::Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde::Serialize;
use serde_json::json;

use crate::{
    document::Wanted,
    error::LoadError,
    pages::{FONTS, invoice, invoice_logo, invoice_with_assets, invoice_without_files},
    platen::client::{Client, Order, answer},
    statistics::median,
};

/// Renders of each kind.
const RENDERS: usize = 100;
/// Assets of the account when they are listed.
const MANY_ASSETS: usize = 1_000;
/// Templates of the account when they are listed.
const MANY_TEMPLATES: usize = 500;
/// Requests for each list.
const LISTS: usize = 20;

/// Medians, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct AssetCost {
    /// An invoice without a logo and web fonts.
    pub(crate) without: f64,
    /// The same with a logo and two fonts in its HTML, measured alternately.
    pub(crate) embedded: f64,
    /// The same with three assets of the account, measured alternately.
    pub(crate) with_assets: f64,
    /// A list of 1,000 assets.
    pub(crate) list_assets: f64,
    /// A list of 500 templates.
    pub(crate) list_templates: f64,
}

pub(crate) async fn measure(client: &Client) -> Result<AssetCost, LoadError> {
    let logo = invoice_logo();
    create_asset(client, "logo.svg", logo.as_bytes()).await?;
    for (name, content) in FONTS {
        create_asset(client, name, content).await?;
    }
    let [without, embedded, with_assets] = measure_renders(client).await?;
    for number in FONTS.len() + 1..MANY_ASSETS {
        create_asset(client, &format!("many/{number}.css"), b"p {}").await?;
    }
    let list_assets = measure_list(client, "assets").await?;
    for number in 0..MANY_TEMPLATES {
        let new = json!({ "template": { "name": format!("Letter {number}"), "content": "<p>{{ name }}" } });
        answer(client.request(Method::POST, "templates").json(&new)).await?;
    }
    let list_templates = measure_list(client, "templates").await?;
    Ok(AssetCost {
        without,
        embedded,
        with_assets,
        list_assets,
        list_templates,
    })
}

async fn create_asset(client: &Client, name: &str, content: &[u8]) -> Result<(), LoadError> {
    let new = json!({ "asset": { "name": name, "content": BASE64_STANDARD.encode(content) } });
    answer(client.request(Method::POST, "assets").json(&new)).await?;
    Ok(())
}

async fn measure_renders(client: &Client) -> Result<[f64; 3], LoadError> {
    let loads = [invoice_without_files(), invoice(), invoice_with_assets()];
    let orders = loads.map(|load| Order::new(&Arc::new(load), Wanted::PdfA));
    let mut took_ms: [Vec<f64>; 3] = Default::default();
    // The first renders warm up the session.
    for turn in 0..=RENDERS {
        for (order, took_ms) in orders.iter().zip(&mut took_ms) {
            let sent = Instant::now();
            order.check(&client.render(order).await?)?;
            if turn > 0 {
                took_ms.push(milliseconds(sent));
            }
        }
    }
    Ok(took_ms.map(|took_ms| median(&took_ms).unwrap_or_default()))
}

async fn measure_list(client: &Client, path: &str) -> Result<f64, LoadError> {
    let mut took_ms = Vec::new();
    for _ in 0..LISTS {
        let request = client.request(Method::GET, path);
        let sent = Instant::now();
        request.send().await?.error_for_status()?.bytes().await?;
        took_ms.push(milliseconds(sent));
    }
    Ok(median(&took_ms).unwrap_or_default())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
